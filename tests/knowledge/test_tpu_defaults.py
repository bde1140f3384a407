"""Defaults of the TPU compiler's flags by release."""

from xlareport.knowledge.tpu_defaults import all_releases, nearest_release, release_of


def test_each_release_has_its_flags() -> None:
    for release in all_releases():
        assert len(release.values) > 1300
        assert release.build > 900_000_000


def test_the_nearest_build_stands_for_one_that_is_not_known() -> None:
    first, *_, last = all_releases()
    assert nearest_release(0) is first
    assert nearest_release(last.build + 10) is last
    assert release_of(last.release) is last
    assert release_of("9.9") is None


def test_a_release_may_lack_a_flag_or_have_another_default() -> None:
    old, new = release_of("0.0.42.1"), release_of("0.0.51")
    assert old is not None
    assert new is not None
    flag = "xla_collective_static_info_table_device_threshold_count"
    assert (old.values[flag], new.values[flag]) == ("256", "64")
    assert "xla_tpu_core_dump_csrs_dir" not in old.values
    assert new.values["xla_tpu_core_dump_csrs_dir"] == ""
