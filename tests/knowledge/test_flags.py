import re
from pathlib import Path

import pytest

from xlareport.knowledge import flags, kinds
from xlareport.readers.debug_options import read_debug_options

EVERYTHING = list(flags.all_entries().values())


@pytest.mark.parametrize(
    "written",
    ["xla_dump_to", "--xla_dump_to", "--xla_dump_to=/tmp/a=b", " --xla_dump_to=/tmp/dump "],
)
def test_a_flag_is_found_as_people_write_it(written: str) -> None:
    flag = flags.find(written)
    assert flag is not None
    assert flag.name == "xla_dump_to"


def test_variables_are_found_by_their_exact_name() -> None:
    assert flags.find("TF_XLA_FLAGS") is not None
    assert flags.find("tf_xla_flags") is None
    assert flags.find("") is None


def test_an_entry_is_complete() -> None:
    for flag in EVERYTHING:
        assert flag.words.endswith(".")
        assert set(flag.makes) <= set(kinds.all_entries())
        assert (flag.set_in is None) == flag.name.isupper()
        assert flag.set_in in (None, "compile options") or flag.set_in in flags.all_entries()
        assert flag.example is None or flag.name in flag.example
        for month in (flag.since, flag.until):
            assert month is None or re.fullmatch(r"20\d\d(-\d\d)?", month)
        assert not (flag.since and flag.until) or flag.since <= flag.until


def test_kinds_name_only_flags_that_are_known() -> None:
    named = {flag for kind in kinds.all_entries().values() for flag in kind.flags}
    assert named <= set(flags.all_entries())


def test_a_flag_makes_the_kinds_of_which_it_is_decisive_and_those_of_its_row() -> None:
    assert flags.all_entries()["xla_dump_hlo_as_dot"].makes == ("hlo-dot",)
    assert flags.all_entries()["xla_hlo_graph_path"].makes == ("hlo-dot",)
    assert "hlo-text" in flags.all_entries()["xla_dump_to"].makes
    assert "log" not in flags.all_entries()["xla_dump_to"].makes


NOT_PUBLISHED = {
    "xla_deduplicate_backend_configs_min_size",
    "xla_gpu_device_execution_terminate_timeout",
    "xla_gpu_experimental_deterministic_ops_triton",
}
"""Options of newer compilers that the published source does not have."""


def test_options_that_dumps_list_have_words(dumps: Path) -> None:
    listed: set[str] = set()
    for path in dumps.glob("*/*/*debug_options"):
        settings, _ = read_debug_options(path.read_bytes(), path.name)
        listed |= {setting.name for setting in settings}

    assert len(listed) > 40
    assert {name for name in listed if flags.find(name) is None} <= NOT_PUBLISHED


def test_tpu_flags_have_sources() -> None:
    tpu = [flag for flag in EVERYTHING if flag.set_in == "LIBTPU_INIT_ARGS" and flag.source]

    assert len(tpu) >= 200
    assert flags.find("xla_vf_vmem_max_repacks") != flags.find("xla_msa_max_repacks")
    assert len({flag.name for flag in tpu}) == len(tpu)


@pytest.mark.parametrize("kind", ["all_gather", "all_reduce", "reduce_scatter"])
def test_the_combine_thresholds_that_findings_recommend_are_explained(kind: str) -> None:
    flag = flags.find(f"--xla_gpu_{kind}_combine_threshold_bytes")
    assert flag is not None
    assert kind.replace("_", "-") in flag.words.lower()
