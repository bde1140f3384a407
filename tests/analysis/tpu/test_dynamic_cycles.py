"""Cycles of a program by its branches."""

from collections.abc import Mapping, Sequence

import pytest

from xlareport.analysis.tpu.control import Action
from xlareport.analysis.tpu.dynamic_cycles import (
    CountedLoop,
    counted_cycles,
    dynamic_cycles,
    recognize_loop,
)
from xlareport.readers.llo.regions import LoopBounds

Actions = Mapping[int, Sequence[Action]]


def branch(target: int, predicate: str = "p") -> list[Action]:
    return [Action("sbr", "", (), predicate, negated=False, branch=target)]


LOOP: Actions = {3: branch(10), 12: branch(2)}
"""A loop from 2 to 12 with a guard at 3 that skips to 10."""


def test_a_loop_with_one_guard_is_recognized() -> None:
    assert recognize_loop(LOOP) == CountedLoop(begin=2, guard=3, target=10, branch=12)


@pytest.mark.parametrize(
    "actions",
    [
        {12: branch(2)},
        {3: branch(10), 12: branch(2), 20: branch(0)},
        {3: branch(14), 12: branch(2)},  # the guard leaves the loop
        {3: branch(10), 12: branch(5)},  # the loop begins behind its guard
    ],
)
def test_another_form_is_not(actions: Actions) -> None:
    assert recognize_loop(actions) is None


def test_each_iteration_runs_the_body_and_others_skip_it() -> None:
    loop = CountedLoop(begin=2, guard=3, target=10, branch=12)
    all_run = counted_cycles(loop, total=20, trips=3, iterations=3, delay_slots=1)
    assert all_run == 2 + 3 * 12 + 6  # from 2 to the bundles behind the branch at 12: 12 cycles
    skipped = counted_cycles(loop, total=20, trips=4, iterations=3, delay_slots=1)
    assert skipped - all_run == (3 + 1 + 1 - 2) + (14 - 10)


def test_without_branches_every_bundle_runs_once() -> None:
    result = dynamic_cycles({}, 7, None, (), None)
    assert (result.cycles, result.counts) == (7, (1,) * 7)


def test_branches_of_an_unknown_chip_are_not_followed() -> None:
    result = dynamic_cycles(LOOP, 20, None, (), 3)
    assert result.cycles is None
    assert "which chip" in result.reason


def test_where_the_interpreter_cannot_decide_the_bounds_of_the_loop_count() -> None:
    bounds = (LoopBounds(start=0, step=1, limit=4),)
    known = dynamic_cycles(LOOP, 20, 1, bounds, 3)
    assert known.cycles == counted_cycles(CountedLoop(2, 3, 10, 12), 20, 4, 3, 1)
    unknown = dynamic_cycles(LOOP, 20, 1, bounds, None)
    assert unknown.cycles is None
    assert unknown.reason.startswith("Not known: ")
