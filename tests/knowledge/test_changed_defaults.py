"""Options whose default differs between releases."""

from xlareport.knowledge.changed_defaults import changed_defaults, defaults_of
from xlareport.knowledge.releases import releases


def test_each_has_two_defaults_of_known_releases() -> None:
    known = [version for version, _ in releases()["jax"].months]
    for changed in changed_defaults().values():
        assert changed.older != changed.newer
        assert known.index(changed.since[0]) < known.index(changed.since[1])
        assert all(release in changed.source for release in changed.since)


def test_those_of_a_backend() -> None:
    assert all("gpu" not in changed.name for changed in defaults_of("cpu"))
    assert "xla_gpu_strict_conv_algorithm_picker" in [each.name for each in defaults_of("gpu")]
