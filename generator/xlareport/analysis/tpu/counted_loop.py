"""Dynamic cycles of a pipelined fusion in closed form: one counted loop with one guard.

The loop runs more trips than there is work for, to fill and drain its pipeline; the guard skips the
body in these. All addresses are cycles of the schedule.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.tpu.control import Action

_BRANCHES = 2
"""Those of the form: the guard and the back branch."""


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop of the form."""

    begin: int
    guard: int
    """The address of the branch that skips the body."""
    target: int
    """Where the guard goes."""
    branch: int
    """The address of the back branch."""


def recognize_loop(actions: Mapping[int, Sequence[Action]]) -> CountedLoop | None:
    """Return the loop of a program that has one with one guard and no other branch, else None."""
    branches = [
        (address, action.branch)
        for address, members in sorted(actions.items())
        for action in members
        if action.branch is not None
    ]
    if len(branches) != _BRANCHES:
        return None
    (guard, target), (branch, begin) = branches
    if not 0 <= begin <= guard < target <= branch:
        return None
    return CountedLoop(begin, guard, target, branch)


def counted_cycles(
    loop: CountedLoop, total: int, trips: int, iterations: int, delay_slots: int
) -> int:
    """Return the cycles of `trips` through the loop, `iterations` of them with the body."""
    skipped = trips - iterations
    behind = loop.branch + 1 + delay_slots
    skip = (loop.guard + 1 + delay_slots - loop.begin) + (behind - loop.target)
    return loop.begin + iterations * (behind - loop.begin) + skipped * skip + total - behind
