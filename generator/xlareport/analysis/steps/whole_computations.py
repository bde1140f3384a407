"""Computations that were cloned or merged as a whole, told as such and not line by line."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import HloModule

_PAIR = tuple[str, str]
"""A computation before, and one after."""


def with_whole_computations(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes, those of computations that were cloned or merged as a whole marked so.

    A computation is cloned as a whole if it is new and every instruction is a clone from the same
    computation; it is merged as a whole if it is gone and every instruction was merged into the
    same computation.
    """
    result = list(changes)
    kept = set(matching.computations.values()) | matching.before.by_name.keys()
    cloned = _whole(result, Kind.CLONED, matching.after, kept)
    going_on = matching.computations.keys() | matching.after.by_name.keys()
    merged = _whole(result, Kind.MERGED, matching.before, going_on)
    kinds = dict.fromkeys(cloned, Kind.COPIED) | dict.fromkeys(merged, Kind.UNIFIED)
    return [_marked(change, kinds) for change in result] if kinds else result


def _whole(
    changes: Sequence[Change], kind: Kind, module: HloModule, others: Iterable[str]
) -> list[_PAIR]:
    """Return the pairs of which one is a computation of `module` alone, cloned or merged whole."""
    counts: dict[_PAIR, int] = defaultdict(int)
    for change in changes:
        if change.kind is kind and change.before and change.after:
            counts[change.before.computation, change.after.computation] += 1
    side = 1 if kind is Kind.CLONED else 0
    return [
        pair
        for pair, count in counts.items()
        if pair[side] not in others and count == len(module.by_name[pair[side]].instructions)
    ]


def _marked(change: Change, kinds: Mapping[_PAIR, Kind]) -> Change:
    if change.kind not in _OF_LINES or change.before is None or change.after is None:
        return change
    kind = kinds.get((change.before.computation, change.after.computation))
    return change if kind is None else replace(change, kind=kind, kinds=(kind, *change.kinds))


_OF_LINES = frozenset({Kind.CLONED, Kind.MERGED})
