"""Differences of other files than snapshots: their kind, their first line, and what is the same."""

from pathlib import Path

import pytest

from xlareport.analysis.ranks.differing_side_files import (
    compare_decisions,
    compare_side_files,
    compare_tuning,
)
from xlareport.analysis.ranks.verdicts import RankDifference
from xlareport.dump.grouping import group_source
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source

KEY = "module_0001.jit_f"
DECISION = """fusion_steps {{
  fusion {{
    fusion_name: "f"
    producer_name: "{}"
    consumer_name: "c"
  }}
}}
"""
RESULT = """version: 3
results {{
  device: "sm_90"
  hlo: "(f32[8]) custom-call(f32[8])"
  result {{
    gemm {{
      algorithm: {}
    }}
  }}
}}
"""


def module(folder: Path, **files: str) -> ModuleFiles:
    """Return the module of a folder with these files besides its final snapshot."""
    folder.mkdir()
    (folder / f"{KEY}.sm_9.0_gpu_after_optimizations.txt").write_text("HloModule jit_f\n")
    for ending, text in files.items():
        (folder / f"{KEY}.{ending.replace('__', '.')}").write_bytes(text.encode("latin-1"))
    with open_source(folder) as source:
        (read,) = group_source(source).grouped.modules
    return read


def differences(
    tmp_path: Path, base: dict[str, str], other: dict[str, str], **renamed: str
) -> list[RankDifference]:
    ours, theirs = module(tmp_path / "a", **base), module(tmp_path / "b", **other)
    return list(compare_side_files(ours, theirs, renamed))


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("ptx", "code"),
        ("debug_options", "flags"),
        ("thunk_sequence__txt", "files"),
        ("priority_fusion_dump__textproto", "fusion"),
        ("autotune_logs__txt", "times"),
    ],
)
def test_a_file_that_differs_has_a_kind_and_its_first_line(
    ending: str, kind: str, tmp_path: Path
) -> None:
    (difference,) = differences(tmp_path, {ending: "same\none\n"}, {ending: "same\ntwo\n"})
    assert difference.kind == kind
    assert (difference.attribute, difference.reference_value, difference.value) == (
        "line 2",
        "one",
        "two",
    )
    assert (difference.module, difference.reference) == (KEY, KEY)
    assert difference.reason


def test_equal_files_are_no_difference(tmp_path: Path) -> None:
    assert differences(tmp_path, {"ptx": "a"}, {"ptx": "a"}) == []


def test_a_file_of_one_rank_is_written_or_not(tmp_path: Path) -> None:
    (difference,) = differences(tmp_path, {"ptx": "a"}, {})
    assert (difference.attribute, difference.reference_value, difference.value) == (
        "file",
        "written",
        "not written",
    )


def test_only_the_first_file_of_a_kind_is_named(tmp_path: Path) -> None:
    base = {"ptx": "a", "ir-no-opt__ll": "a", "debug_options": "a"}
    other = dict.fromkeys(base, "b")
    kinds = [difference.kind for difference in differences(tmp_path, base, other)]
    assert sorted(kinds) == ["code", "flags"]


def test_a_binary_file_has_no_line(tmp_path: Path) -> None:
    (difference,) = differences(tmp_path, {"ptx": "\0a"}, {"ptx": "\0b"})
    assert (difference.attribute, difference.value) == ("file", "")


def test_names_that_are_other_in_the_other_module_are_no_difference(tmp_path: Path) -> None:
    ours, theirs = {"ptx": "call fusion_1;"}, {"ptx": "call fusion_2;"}
    assert len(differences(tmp_path, ours, theirs)) == 1
    (tmp_path / "renamed").mkdir()
    same = differences(tmp_path / "renamed", ours, theirs, **{"fusion.1": "fusion.2"})
    assert same == []


def test_the_first_decision_that_differs_is_named(tmp_path: Path) -> None:
    ours, theirs = (
        module(
            tmp_path / side,
            priority_fusion_dump__textproto=DECISION.format("p") + DECISION.format(second),
        )
        for side, second in (("a", "q"), ("b", "r"))
    )
    assert compare_decisions(ours, theirs, {}) == (
        "decision 2: fusion of r into c; most ranks: fusion of q into c",
        "r",
    )
    assert compare_decisions(ours, theirs, {"q": "r"}) == ("", "")
    assert compare_decisions(ours, ours, {}) == ("", "")


def tuned(tmp_path: Path, side: str, ending: str, text: str) -> ModuleFiles:
    return module(tmp_path / side, **{ending: text})


def test_a_choice_of_the_autotuner_that_differs_is_named(tmp_path: Path) -> None:
    first, second = (
        tuned(tmp_path, side, "autotune_results__pbtxt", RESULT.format(number))
        for side, number in (("a", 1), ("b", 2))
    )
    ours, theirs = (
        next(file for file in read.artifacts if file.name.kind == "autotune")
        for read in (first, second)
    )
    words = compare_tuning(ours, theirs)
    assert "for (f32[8]) custom-call(f32[8]); most ranks: " in words
    assert compare_tuning(ours, ours) == ""


def test_results_that_cannot_be_read_decide_nothing(tmp_path: Path) -> None:
    texts = ("a", RESULT.format(1)), ("b", "results {")
    ours, theirs = (
        next(
            file
            for file in tuned(tmp_path, side, "autotune_results__pbtxt", text).artifacts
            if file.name.kind == "autotune"
        )
        for side, text in texts
    )
    assert compare_tuning(ours, theirs).startswith("not known")
