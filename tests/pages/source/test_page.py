"""The page on the source: lines of the user's program with what became of them."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.analysis.cost_report.source_lines import LineInstruction, SourceLine, SourceReport
from xlareport.analysis.source.locations import SourcePlace
from xlareport.pages.source.page import source_page

PLACE = SourcePlace("/home/me/train.py", 12, "step")


def line(
    cost: CostPart = CostPart("train.py:12"),  # noqa: B008 - not changed
    peak: int | None = None,
    became: tuple[LineInstruction, ...] = (),
) -> SourceLine:
    return SourceLine(PLACE, cost, peak, (), 0, (), 0, became, len(became))


def summary(cost: CostPart, seconds: float | None = 1.0, peak: int | None = None) -> str:
    (view,) = source_page(SourceReport((line(cost, peak),), 1), seconds).lines
    return view.summary


@pytest.mark.parametrize(
    ("cost", "peak", "words"),
    [
        (CostPart("a"), None, "no cost"),
        (CostPart("a", seconds=0.25), None, "25% of roofline time"),
        (CostPart("a", flops=2_000_000), None, "2.00 MFLOP"),
        (CostPart("a", bytes_accessed=2048), 1024, "2.0 KiB accessed, 1.0 KiB at the peak"),
    ],
)
def test_a_line_has_only_the_figures_that_it_has(
    cost: CostPart, peak: int | None, words: str
) -> None:
    assert summary(cost, peak=peak) == words


def test_without_the_time_of_the_module_there_is_no_share() -> None:
    assert summary(CostPart("a", seconds=0.25), seconds=None) == "no cost"
    page = source_page(SourceReport((line(CostPart("a", seconds=0.25)),), 1), None)
    names = [column.title for column in page.tables["lines"].columns]
    assert page.tables["lines"].rows[0][names.index("Share")] is None


def test_a_fusion_is_named_by_what_it_does_for_the_line() -> None:
    became = (
        LineInstruction("main", "dot.1", (("dot", 1),)),
        LineInstruction("main", "fusion.2", (("add", 3), ("exp", 1))),
    )
    (view,) = source_page(SourceReport((line(became=became),), 1), 1.0).lines
    assert view.became == (("%dot.1", "dot"), ("%fusion.2", "3 add, exp"))


def test_many_lines_are_in_the_table_and_only_some_are_shown() -> None:
    page = source_page(SourceReport((line(),) * 60, 300), 1.0)
    assert (len(page.lines), page.more) == (40, 260)
    assert len(page.tables["lines"].rows) == 60


def test_instructions_without_a_line_are_counted() -> None:
    source = SourceReport((line(),), 1, CostPart("", instructions=3, seconds=0.5))
    assert source_page(source, 1.0).unplaced.startswith(
        "3 instructions (50% of roofline time) have no source line"
    )
    assert source_page(SourceReport((line(),), 1), 1.0).unplaced == ""


def test_a_helper_called_at_several_lines_names_them() -> None:
    helper = replace(line(CostPart("a", flops=2_000_000)), call_sites=("f.py:3", "f.py:4"))
    page = source_page(SourceReport((helper,), 1), None)
    assert page.lines[0].summary == "2.00 MFLOP, called at f.py:3, f.py:4"
    names = [column.title for column in page.tables["lines"].columns]
    assert page.tables["lines"].rows[0][names.index("Call sites")] == "f.py:3, f.py:4"
