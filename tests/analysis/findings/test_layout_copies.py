"""Small copies that change layouts are told together where they take much together."""

from collections.abc import Callable

import pytest

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.layout_copies import layout_copies
from xlareport.analysis.findings.rules import find_findings

COPIES = 90


def program(layout: str, count: int = COPIES) -> str:
    copies = "".join(f"  c{number} = f32[256,1024]{layout} copy(a)\n" for number in range(count))
    return (
        "HloModule m, is_scheduled=true\n\nENTRY e {\n  a = f32[256,1024]{1,0} parameter(0)\n"
        f"{copies}  ROOT r = f32[256,1024]{{1,0}} negate(a)\n}}\n"
    )


def test_small_copies_are_a_finding_together(case_of: Callable[..., Case]) -> None:
    (together,) = layout_copies(case_of(program("{0,1}")))
    assert together.title == "Layout-only copies, small ones together"
    assert together.count == COPIES
    assert together.evidence.startswith(f"{COPIES} copies and transposes access 180 MiB")
    assert together.seconds
    assert "all-gather" not in together.suggestion
    assert not list(layout_copies(case_of(program("{1,0}"))))


def sliced(count: int, copies: int) -> str:
    """Return a program with copies, and fusions that cut a part out in another layout."""
    cut = (
        "cut {\n  p = f32[512,1024]{1,0} parameter(0)\n"
        "  s = f32[256,1024]{1,0} slice(p), slice={[0:256], [0:1024]}\n"
        "  ROOT c = f32[256,1024]{0,1} copy(s)\n}\n\n"
    )
    slices = "".join(
        f"  s{number} = f32[256,1024]{{0,1}} fusion(whole), kind=kLoop, calls=cut\n"
        for number in range(count)
    )
    text = program("{0,1}", copies).replace("ENTRY", f"{cut}ENTRY")
    return text.replace(
        "  ROOT r", f"  whole = f32[512,1024]{{1,0}} parameter(1)\n{slices}  ROOT r"
    )


def test_copies_that_slice_as_well_are_counted_apart(case_of: Callable[..., Case]) -> None:
    (together,) = layout_copies(case_of(sliced(30, 60)))
    assert together.title == "Layout copies and slices, small ones together"
    assert together.evidence.startswith(
        "60 copies and transposes access 120 MiB to change layouts, and 30 slices that change "
        "layouts too access 60.0 MiB ("
    )
    (slices,) = layout_copies(case_of(sliced(90, 0)))
    assert slices.evidence.startswith("90 slices that change layouts too access 180 MiB: ")
    (single,) = layout_copies(case_of(sliced(1, 0)))
    assert single.title == "Slice into another layout"


def test_a_noticeable_copy_stands_for_itself(case_of: Callable[..., Case]) -> None:
    (single,) = layout_copies(case_of(program("{0,1}", 1)))
    assert single.title == "Layout-only copy"


@pytest.mark.parametrize(
    ("operand", "words"),
    [
        ("c{}", "An all-gather needs the gathered"),
        ("a", "write the contractions without a transpose"),
    ],
)
def test_an_all_gather_is_named_if_most_copies_are_next_to_one(
    case_of: Callable[..., Case], operand: str, words: str
) -> None:
    gathers = "".join(
        f"  b{number} = f32[256,1024]{{0,1}} bitcast({operand.format(number)})\n"
        f"  g{number} = f32[512,1024] all-gather(b{number}), replica_groups={{{{0,1}}}}, "
        "dimensions={0}\n"
        for number in range(COPIES)
    )
    text = program("{0,1}").replace("  ROOT", f"{gathers}  ROOT")
    (together,) = layout_copies(case_of(text))
    assert words in together.suggestion


def test_a_copy_whose_cause_another_rule_reports_is_not_reported_again(
    case_of: Callable[..., Case],
) -> None:
    text = """HloModule m, is_scheduled=true

ENTRY e {
  a = f32[1024,1024]{1,0} parameter(0)
  u = f32[1,1024]{1,0} parameter(1)
  i = s32[] constant(3)
  c = f32[1024,1024]{0,1} copy(a)
  d = f32[1024,1024]{0,1} dynamic-update-slice(c, u, i, i)
  ROOT r = (f32[1024,1024]{0,1}, f32[1024,1024]{1,0}) tuple(d, a)
}
"""
    rules = [finding.rule for finding in find_findings(case_of(text))]
    assert "copied-updates" in rules
    assert "layout-copies" not in rules
