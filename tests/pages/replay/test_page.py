"""The runs of the snapshots beside the steps: nothing is shown as passed that was not run."""

import re

from xlareport.pages.navigation import Link
from xlareport.pages.replay.page import ReplayBar, ReplayPart, replay_part, replay_strip
from xlareport.readers.replay_result import ReplayedStage, ReplayResult

STEPS = {key: Link(f"step {key}", f"m/x.md?steps&s={key}") for key in ("a", "b", "c", "d")}
STAGES = (
    ReplayedStage("a", ran=True, reason="", error=0.0, ulp=0),
    ReplayedStage("b", ran=False, reason="<it> has a custom call", error=None, ulp=None),
    ReplayedStage("c", ran=True, reason="", error=None, ulp=None),
    ReplayedStage("other", ran=True, reason="", error=0.0, ulp=0),
)


def part(*, is_confirmed: bool = True) -> ReplayPart:
    result = ReplayResult("m", "0.12", 1e-5, STAGES, "c", is_confirmed, "What `p` did.")
    return replay_part(result, STEPS, ())


def test_each_snapshot_says_what_its_run_gave() -> None:
    rows = [(row[1], row[3]) for row in part().table.rows]
    assert rows == [
        ("0", "within the tolerance"),
        ("", "not run: <it> has a custom call"),
        ("not finite", "beyond the tolerance"),
        ("", "not in the result"),
    ]


def test_what_is_missing_is_counted() -> None:
    assert part().ran == (
        "2 of 4 snapshots ran with jaxlib 0.12; 1 snapshot of the result not in this dump"
    )


def test_the_strip_has_a_bar_for_each_snapshot_and_no_markup_of_the_dump() -> None:
    strip = str(part().strip)
    assert strip.count("<rect") == 4
    assert strip.count("xr-replay-none") == 2
    assert strip.count("xr-replay-bad") == 1
    assert "<it>" not in strip


def test_a_step_is_named_only_if_it_was_confirmed() -> None:
    assert part().first == STEPS["c"]
    assert part(is_confirmed=False).first is None


def bar(error: float | None, *, is_marked: bool = False) -> ReplayBar:
    return ReplayBar(error, ran=True, is_beyond=False, is_marked=is_marked, words="w", address="a")


def test_bars_are_in_powers_of_ten() -> None:
    strip = replay_strip([bar(0.0), bar(1e-6), bar(1e-3), bar(None)], 1e-5, "words")
    heights = [float(match) for match in re.findall(r'height="([\d.]+)"/>', strip)]
    assert heights == sorted(heights)
    assert heights[0] == 2.0
    assert heights[2] - heights[1] == heights[1]


def test_steps_that_may_change_numbers_have_a_mark() -> None:
    strip = replay_strip([bar(0.0), bar(0.0, is_marked=True)], 0.0, "words")
    assert strip.count("xr-replay-mark") == 1
    assert "tolerance" not in strip
