"""A run as bars: nested by depth, few however many events there are, none of them lost."""

from array import array
from collections.abc import Iterable

import pytest

from xlareport.analysis.profile import instruction_times
from xlareport.analysis.profile import timeline as made
from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.analysis.profile.timeline import (
    Bar,
    Lane,
    RunEvents,
    Timeline,
    build_timeline,
    select_runs,
)
from xlareport.readers.op_events import OpEvent

Event = tuple[str, int, int, int]
"""A name, beginning, end and thread."""


def drawn(events: Iterable[Event]) -> Timeline:
    told = list(events)
    names = sorted({name for name, *_ in told})
    kept = RunEvents(array("q"), array("I"))
    for name, start, end, thread in told:
        kept.ends.extend((start, end))
        kept.marks.extend((names.index(name), thread))
    return build_timeline(
        "r", kept, min(start for _, start, _, _ in told), names, number=1, among=1
    )


def test_what_runs_inside_stands_below() -> None:
    drawing = drawn(
        [
            ("while", 1_000_000, 9_000_000, 0),
            ("call", 2_000_000, 6_000_000, 0),
            ("dot", 2_500_000, 3_000_000, 0),
            ("add", 6_000_000, 7_000_000, 0),
            ("copy", 1_500_000, 8_000_000, 1),
        ]
    )
    assert drawing.lanes == (Lane(1, 0), Lane(1, 1), Lane(1, 2), Lane(2, 0))
    assert drawing.bars == (
        Bar(0, 0, 8_000_000, "while"),
        Bar(1, 1_000_000, 4_000_000, "call"),
        Bar(1, 5_000_000, 1_000_000, "add"),
        Bar(2, 1_500_000, 500_000, "dot"),
        Bar(3, 500_000, 6_500_000, "copy"),
    )
    assert (drawing.start, drawing.length, drawing.merged, drawing.left_out) == (
        1_000_000,
        8_000_000,
        0,
        0,
    )


def test_clocks_that_round_nest_nothing() -> None:
    drawing = drawn([("a", 0, 5_000_500, 0), ("b", 5_000_000, 9_000_000, 0)])
    assert drawing.lanes == (Lane(1, 0),)


def test_short_events_share_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "MOST_BARS", 2)
    monkeypatch.setattr(made, "_SLICES", 4)
    short = [(f"s{n}", n * 1_000_000, n * 1_000_000 + 500_000, 0) for n in range(100)]
    drawing = drawn([("long", 100_000_000, 200_000_000, 0), *short, ("b", 0, 90_000_000, 1)])
    own = {bar.instruction for bar in drawing.bars if bar.count == 1}
    assert {"long", "b"} <= own
    assert sum(bar.count for bar in drawing.bars) == 102
    assert drawing.merged == 100
    assert len(drawing.bars) < 10
    assert all(bar.instruction == "" for bar in drawing.bars if bar.count > 1)


def test_of_too_many_threads_the_busiest_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "MOST_LANES", 2)
    drawing = drawn(("x", 0, 1_000_000 * (thread + 1), thread) for thread in range(4))
    assert drawing.lanes == (Lane(3, 0), Lane(4, 0))
    assert (len(drawing.bars), drawing.left_out, drawing.length) == (2, 2, 4_000_000)


def test_the_median_run_and_the_slowest_are_chosen() -> None:
    assert select_runs([]) == []
    assert select_runs([5]) == [0]
    assert select_runs([9, 1, 5]) == [2, 0]
    assert select_runs([9, 1, 5, 6]) == [2, 0]
    assert select_runs([4, 4, 4]) == [1]


def test_runs_that_are_too_many_to_keep_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_times, "MOST_DRAWN", 3)
    events = [OpEvent("m", "a", str(run), (0,), 10 * run, 5 + run) for run in range(4)]
    found = sum_times(events)["m"]
    assert [(step.number, step.among) for step in found.steps] == [(2, 3), (3, 3)]
    assert len(found.runs) == 4


def test_the_runs_of_a_module() -> None:
    events = [
        OpEvent("m", "a", run, (0,), start, length)
        for run, start, length in (("7", 0, 5), ("8", 10, 9), ("9", 30, 6), ("9", 36, 1))
    ]
    steps = sum_times(events)["m"].steps
    assert [(step.run, step.number, step.start, step.length) for step in steps] == [
        ("9", 3, 30, 7),
        ("8", 2, 10, 9),
    ]
    assert [len(step.bars) for step in steps] == [2, 1]
