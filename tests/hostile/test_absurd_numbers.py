"""Numbers that no program means: too many digits, other scripts' digits, sizes beyond 64 bits."""

from pathlib import Path

import pytest

from xlareport.records.report import ReportRecord
from xlareport.report import BuildOptions, build

LONG = "9" * 5_000
"""Digits: more than Python turns into a number."""
HEAD = "HloModule x, is_scheduled=true, num_partitions={}\n\n"
ENTRY = "ENTRY %e (p: f32[8]) -> f32[8] {{\n{}\n}}\n"
PARAMETER = "  %p = f32[8]{0} parameter(0)"


def in_entry(*lines: str, partitions: str = "1") -> str:
    return HEAD.format(partitions) + ENTRY.format("\n".join(lines))


def with_root(shape: str) -> str:
    return in_entry(PARAMETER, f"  ROOT %r = {shape} custom-call(%p), custom_call_target='x'")


CASES = {
    "a parameter": in_entry(f"  ROOT %p = f32[8]{{0}} parameter({LONG})"),
    "a parameter in superscript": in_entry("  ROOT %p = f32[8]{0} parameter(²)"),
    "partitions": in_entry(PARAMETER.replace("%p", "ROOT %p"), partitions=LONG),
    "a layout": with_root(f"f32[8,8]{{1,{LONG}}}"),
    "a layout in superscript": with_root("f32[8,8]{1,²}"),
    "a layout that repeats": with_root(f"f32[{'9' * 18}]{{{','.join('0' * 2_000)}}}"),
    "tiles": with_root(f"f32[8,8]{{1,0:T({','.join(['999999999'] * 400)})}}"),
    "many dimensions": with_root(f"f32[{','.join(['9' * 18] * 300)}]"),
    "a contraction of many": in_entry(
        PARAMETER,
        "  ROOT %d = f32[] dot(%p, %p), lhs_contracting_dims={" + "0," * 200_000 + "0}",
    ),
    "a window of many": in_entry(
        PARAMETER,
        "  ROOT %w = f32[8]{0} convolution(%p, %p), window={size=" + "9x" * 200_000 + "9}, "
        "dim_labels=0fb_0io->0fb",
    ),
    "an element": in_entry(
        "  %p = (f32[8]{0}) parameter(0)",
        f"  ROOT %r = f32[8]{{0}} get-tuple-element(%p), index={LONG}",
    ),
    "an element of a drawing": in_entry(
        "  %p = (f32[8]{0}) parameter(0)", f"  ROOT %r = f32[8]{{0}} negate(%p#{LONG})"
    ),
    "nothing that runs": HEAD.format(1) + "ENTRY %e () -> f32[] {\n}\n",
    "a trip count": in_entry(
        PARAMETER,
        "  ROOT %w = f32[8]{0} while(%p), condition=%e, body=%e, "
        f'backend_config={{"known_trip_count":{{"n":"{LONG}"}}}}',
    ),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportRecord:
    """Return the report of a dump with a module for each case, of its name."""
    root = tmp_path_factory.mktemp("absurd")
    (root / "dump").mkdir()
    for number, (case, text) in enumerate(CASES.items()):
        for stage in ("before_optimizations", "cpu_after_optimizations"):
            (root / "dump" / f"module_{number:04d}.{case}.{stage}.txt").write_text(text)
    return build(root / "dump", BuildOptions(root / "out", html=False)).report


@pytest.mark.parametrize("case", CASES)
def test_an_absurd_number_is_no_fault(report: ReportRecord, case: str) -> None:
    assert not [
        problem
        for problem in report.problems
        if "fault of xlareport" in problem.message and case in problem.path
    ]
    assert len([file for file in report.files if f".{case}." in file.path]) == 2


def test_no_absurd_number_is_a_fault_of_the_whole_report(report: ReportRecord) -> None:
    assert not [problem for problem in report.problems if "fault of xlareport" in problem.message]
    assert len(report.modules) == len(CASES)


def test_more_dimensions_than_any_array_has_are_a_problem(tmp_path: Path) -> None:
    """Multiplied one by one, they would take hours."""
    (tmp_path / "dump").mkdir()
    text = with_root(f"f32[{'9,' * 1_000_000}9]")
    (tmp_path / "dump/module_0001.x.before_optimizations.txt").write_text(text)

    report = build(tmp_path / "dump", BuildOptions(tmp_path / "out", html=False)).report

    assert ["more than 1,000 dimensions" in problem.message for problem in report.problems] == [
        True
    ]
