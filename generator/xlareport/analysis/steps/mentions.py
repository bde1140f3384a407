"""The instructions that a step's account and its examples name."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.analysis.steps.wording import list_names

MOST_MEMBERS = 6
"""Limit on members of an example that a page names."""
_TAKES_IN = frozenset({Kind.FUSED, Kind.OUTLINED, Kind.COMBINED})
_SETS_FREE = frozenset({Kind.ASYNC, Kind.EXPANDED, Kind.INLINED, Kind.SPLIT})


def list_mentioned(change: StepChange) -> tuple[str, ...]:
    """Return the names of instructions that the account and the first examples name."""
    names = dict.fromkeys(list_names(change.headline, *change.account))
    for group in change.groups:
        names |= dict.fromkeys(_mentioned_in(group.examples[0]))
    return tuple(names)


def _mentioned_in(example: Change) -> Iterator[str]:
    for place in (*places_before(example)[:MOST_MEMBERS], *places_after(example)[:MOST_MEMBERS]):
        yield place.instruction
    yield from list_names(str(example.reason), *map(str, example.details))


def places_before(change: Change) -> tuple[Place, ...]:
    """Return what an example names before the step: of a fusion and the like, what it took in."""
    return _place_of_kind(change, change.before, _TAKES_IN)


def places_after(change: Change) -> tuple[Place, ...]:
    """Return what an example names after the step: of an inlined call, what came of it."""
    return _place_of_kind(change, change.after, _SETS_FREE)


def _place_of_kind(
    change: Change, place: Place | None, kinds: frozenset[Kind]
) -> tuple[Place, ...]:
    if change.kind in kinds and change.members:
        return change.members
    return () if place is None else (place,)
