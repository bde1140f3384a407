"""Computations that a step leaves without callers, as XLA's fusion passes do; DCE removes them."""

from collections.abc import Iterable

from msgspec import Struct

from xlareport.analysis.matching.facts import holders_of
from xlareport.analysis.matching.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind


class UncalledComputations(Struct, frozen=True):
    """Computations that have no callers after a step, and are new or had callers before it."""

    computations: int = 0
    instructions: int = 0
    clones: int = 0
    """How many of the step's clones are in them."""


def count_uncalled(matching: Matching, changes: Iterable[Change]) -> UncalledComputations:
    """Count the computations that a step leaves without callers."""
    before, after = matching.before, matching.after
    called, was_called = holders_of(after), holders_of(before)
    names = {
        computation.name: len(computation.instructions)
        for computation in after.computations
        if computation is not after.entry
        and computation.name not in called
        and (computation.name not in before.by_name or computation.name in was_called)
    }
    clones = sum(
        change.kind in _CLONES and change.after is not None and change.after.computation in names
        for change in (changes if names else ())
    )
    return UncalledComputations(len(names), sum(names.values()), clones)


_CLONES = frozenset({Kind.CLONED, Kind.COPIED})
