"""What a pass did in one compilation and not in the other, in instructions by opcode."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.compare.comparison import Comparison
from xlareport.analysis.compare.compilers import dumped_passes
from xlareport.analysis.compare.divergence import SnapshotDigest

_LEAST = 0.01
"""The share of the final instructions by which the work of a pass has to differ."""
_MOST = 3
_BOOKKEEPING = frozenset(
    {"get-tuple-element", "parameter", "tuple", "bitcast", "constant", "call", "reshape"}
)
"""Opcodes that come and go with the form of a text, and cost nothing."""


@dataclass(frozen=True, slots=True)
class PassDifference:
    """A pass that changed something on one side only."""

    name: str
    in_head: bool
    """It is the head that it changed, else the base."""
    opcode: str
    """The opcode of which it added or removed most."""
    count: int
    """How many it added; negative where it removed some."""
    steps: int
    """Snapshots that it led to."""


def one_sided_passes(comparison: Comparison) -> tuple[PassDifference, ...]:
    """Return the passes that changed something on one side only, what changed most first."""
    if comparison.base is None or comparison.head is None:
        return ()
    if not same_dumped(comparison):
        return ()
    ours, theirs = _work(comparison.base.moments), _work(comparison.head.moments)
    sides = ((False, ours, theirs), (True, theirs, ours))
    differences = [
        _difference(name, work[name], in_head=in_head)
        for in_head, work, other in sides
        for name in work
        if name not in other
    ]
    size = comparison.one.summary.final.instructions or 0
    kept = [each for each in differences if abs(each.count) > _LEAST * size]
    return tuple(sorted(kept, key=lambda each: (-abs(each.count), each.name))[:_MOST])


def same_dumped(comparison: Comparison) -> bool:
    """Say whether both dumps have snapshots between passes, of the same passes."""
    base, head = comparison.base, comparison.head
    if base is None or head is None or dumped_passes(base) != dumped_passes(head):
        return False
    return all(any(moment.after for moment in side.moments) for side in (base, head))


def _work(moments: Sequence[SnapshotDigest]) -> Mapping[str, tuple[Counter[str], int]]:
    """Return what each pass changed: by opcode, and in how many steps."""
    work: dict[str, tuple[Counter[str], int]] = {}
    for moment in moments:
        if moment.after and moment.changes:
            counts, steps = work.get(moment.after, (Counter[str](), 0))
            for opcode, number in moment.changes:
                counts[opcode] += number
            work[moment.after] = counts, steps + 1
    return work


def _difference(name: str, work: tuple[Counter[str], int], *, in_head: bool) -> PassDifference:
    counts, steps = work
    heavy = {opcode: count for opcode, count in counts.items() if opcode not in _BOOKKEEPING}
    opcode, count = max(heavy.items(), key=lambda item: (abs(item[1]), item[0]), default=("", 0))
    return PassDifference(name, in_head, opcode, count, steps)
