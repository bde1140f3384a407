"""A text difference names the lines that the site holds anyway, and holds the others itself."""

from itertools import accumulate

from xlareport.analysis.steps.text_difference import ComputationDiff, DiffLine, Hunk, TextDiff
from xlareport.pages.steps.text_diff import StoredLines, diff_payload, further_lines
from xlareport.storage.payloads import decode_payload
from xlareport.storage.string_folding import Folded, unfold_strings
from xlareport.storage.texts import line_key

LINES = (
    DiffLine("+", "%region (x: f32[]) -> f32[]"),
    DiffLine(" ", "%a.1 = f32[] add(x, y)", "%a.2 = f32[] add(x, y)", renumbered=True),
    DiffLine("~", "%b = f32[] add(x, y)", "%b = f32[] add(x, z)"),
    DiffLine("-", "ROOT %c = f32[] add(x, y)", "main/%d"),
)
STORED = {
    line_key(b"%region (x: f32[]) -> f32[] {"): 3,
    line_key(b"  %a.1 = f32[] add(x, y)"): 4,
    line_key(b"  %b = f32[] add(x, z)"): 9,
    line_key(b"  ROOT %c = f32[] add(x, y)"): 5,
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


def test_a_long_difference_goes_on_in_further_payloads() -> None:
    long = tuple(DiffLine("-", f"%x.{number} = f32[] add(x, y)") for number in range(25_000))
    diff = TextDiff((ComputationDiff("main", None, (Hunk(0, LINES[:2]), Hunk(7, long)), 0),))

    value = diff_payload(diff, 0, StoredLines(), "m/x/step~7")
    further = list(further_lines(diff, StoredLines(), "m/x/step~7"))
    parts = [value, *map(decode_payload, further)]

    assert value["more"] == [payload.key for payload in further]
    assert value["more"][0] == "m/x/step~7-1"
    assert value["total"] == value["shown"] == 25_001
    assert len(value["signs"]) <= 600
    assert "".join(part["signs"] for part in parts) == "+ " + "-" * 25_000
    assert [part["continued"] for part in parts] == [False, True, True, True, True]
    assert [
        line
        for part in parts
        for line in unfold_strings(Folded(*part["own"]), 1_000_000)
        if line.startswith("%x")
    ] == [line.text for line in long]


def test_without_a_key_the_first_lines_are_all() -> None:
    long = tuple(DiffLine("-", f"%x.{number}") for number in range(3_000))
    diff = TextDiff((ComputationDiff("main", None, (Hunk(0, long),), 0),))

    value = diff_payload(diff, 0, StoredLines())

    assert (value["more"], value["shown"], value["total"]) == ([], 600, 3_000)
