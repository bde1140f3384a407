"""A text difference names the lines that the site holds anyway, and holds the others itself."""

from itertools import accumulate

from xlareport.analysis.steps.text_difference import ComputationDiff, DiffLine, Hunk, TextDiff
from xlareport.pages.steps.text_diff import StoredLines, diff_payload
from xlareport.storage.folding import Folded, unfold_strings

LINES = (
    DiffLine("+", "%region (x: f32[]) -> f32[]"),
    DiffLine(" ", "%a.1 = f32[] add(x, y)", "%a.2 = f32[] add(x, y)", renumbered=True),
    DiffLine("~", "%b = f32[] add(x, y)", "%b = f32[] add(x, z)"),
    DiffLine("-", "ROOT %c = f32[] add(x, y)", "main/%d"),
)
STORED = {
    b"%region (x: f32[]) -> f32[] {": 3,
    b"  %a.1 = f32[] add(x, y)": 4,
    b"  %b = f32[] add(x, z)": 9,
    b"  ROOT %c = f32[] add(x, y)": 5,
}
DIFF = TextDiff((ComputationDiff("main", "region", (Hunk(0, LINES[:2]), Hunk(7, LINES[2:])), 1),))


def test_lines_are_named_by_their_numbers() -> None:
    value = diff_payload(DIFF, 0, StoredLines("m/x/texts", STORED))

    assert value["signs"] == "+ ~-"
    assert value["hunks"] == [2, 2]
    assert list(accumulate(value["before"])) == [4, -1, 5]
    assert list(accumulate(value["after"])) == [3, 9]
    assert unfold_strings(Folded(*value["own"]), 1000) == ["%b = f32[] add(x, y)"]
    assert unfold_strings(Folded(*value["titles"]), 1000) == ["main → region"] * 2
    assert value["texts"] == "m/x/texts"


def test_without_texts_it_holds_its_lines_itself() -> None:
    value = diff_payload(DIFF, 0, StoredLines())

    assert value["texts"] is None
    assert max(accumulate(value["before"])) < 0
    assert len(unfold_strings(Folded(*value["own"]), 1000)) == 5


def test_no_difference_has_no_lines() -> None:
    value = diff_payload(None, 0, StoredLines())

    assert (value["hunks"], value["total"], value["note"]) == ([], 0, "")
