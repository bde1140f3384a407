"""Computations that a step leaves without live callers, as fusion passes do; DCE removes them.

What a step adds to them has no effect: it is reported as leftovers, not as clones or fusions.
"""

from collections.abc import Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import live_computations
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.knowledge.grades import Grade


class UncalledComputations(Struct, frozen=True):
    """Counts of the computations that lost their live callers in a step."""

    computations: int = 0
    instructions: int = 0


def count_uncalled(matching: Matching, changes: Iterable[Change]) -> UncalledComputations:
    """Count the computations that lost their live callers, apart from those with leftovers."""
    lost = live_computations(matching.before) - live_computations(matching.after)
    if not lost:
        return UncalledComputations()
    lost -= {
        change.after.computation
        for change in changes
        if change.after and change.kind is Kind.LEFTOVER
    }
    sizes = [
        len(computation.instructions)
        for computation in matching.after.computations
        if computation.name in lost
    ]
    return UncalledComputations(len(sizes), sum(sizes))


def with_leftovers(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; what was added to computations without live callers is a leftover."""
    live = live_computations(matching.after)
    if len(live) == len(matching.after.computations):
        return list(changes)
    return [_leftover(change) if _is_leftover(change, live) else change for change in changes]


def _is_leftover(change: Change, live: Collection[str]) -> bool:
    return change.balance > 0 and change.after is not None and change.after.computation not in live


def _leftover(change: Change) -> Change:
    return replace(
        change,
        kind=Kind.LEFTOVER,
        kinds=(Kind.LEFTOVER,),
        before=None,
        grade=Grade.EXACT,
        reason="no live computation calls its computation",
        opcodes=("", change.opcodes[1]),
        details=(),
        numbering=False,
        members=(),
    )
