"""The strip over the snapshots."""

import re

from xlareport.pages.replay.strip import ReplayBar, replay_strip


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
