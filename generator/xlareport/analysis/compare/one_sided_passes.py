"""Changes by a pass in one compilation only, as instruction counts by opcode."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.compare.comparison import Comparison
from xlareport.analysis.compare.compilers import dumped_passes
from xlareport.analysis.compare.divergence import SnapshotDigest

_LEAST_SHARE = 0.01
"""The share of the final instructions by which the work of a pass has to differ."""
_MOST_PASSES = 3
_BOOKKEEPING = frozenset(
    {"get-tuple-element", "parameter", "tuple", "bitcast", "constant", "call", "reshape"}
)
"""Opcodes that only reflect the form of a text and cost nothing."""


class PassDifference(Struct, frozen=True):
    """A pass that changed something on one side only."""

    name: str
    in_head: bool
    """Whether the head was changed, else the base."""
    opcode: str
    """The opcode with the largest change."""
    count: int
    """Number of instructions added; negative if they were removed."""
    steps: int
    """Snapshots that it led to."""
    number: int = 0
    """Of the snapshot after its largest change."""

    @property
    def side(self) -> str:
        """`base` or `head`."""
        return "head" if self.in_head else "base"


def one_sided_passes(comparison: Comparison) -> tuple[PassDifference, ...]:
    """Return the passes that changed something on one side only, the largest change first."""
    if comparison.base is None or comparison.head is None:
        return ()
    if not same_dumped(comparison):
        return ()
    ours, theirs = _work(comparison.base.snapshots), _work(comparison.head.snapshots)
    sides = ((False, ours, theirs), (True, theirs, ours))
    differences = [
        _difference(name, work[name], in_head=in_head)
        for in_head, work, other in sides
        for name in work
        if name not in other
    ]
    size = comparison.present.summary.final.instructions or 0
    large = [
        difference for difference in differences if abs(difference.count) > _LEAST_SHARE * size
    ]
    return tuple(sorted(large, key=lambda change: (-abs(change.count), change.name))[:_MOST_PASSES])


def same_dumped(comparison: Comparison) -> bool:
    """Return whether both dumps have snapshots between passes, of the same passes."""
    base, head = comparison.base, comparison.head
    if base is None or head is None or dumped_passes(base) != dumped_passes(head):
        return False
    return all(any(snapshot.after for snapshot in side.snapshots) for side in (base, head))


class _Work(Struct):
    """The changes of a pass in all its steps."""

    counts: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    largest: tuple[int, int] = (0, 0)
    """Instructions added and removed by its largest step, and the snapshot after it."""


def _work(snapshots: Sequence[SnapshotDigest]) -> Mapping[str, _Work]:
    """Return the changes of each pass."""
    work: dict[str, _Work] = {}
    for number, snapshot in enumerate(snapshots):
        if snapshot.after and snapshot.changes:
            done = work.setdefault(snapshot.after, _Work())
            done.counts.update(dict(snapshot.changes))
            done.steps += 1
            size = sum(abs(count) for _, count in snapshot.changes)
            done.largest = max(done.largest, (size, number))
    return work


def _difference(name: str, work: _Work, *, in_head: bool) -> PassDifference:
    counts = work.counts
    heavy = {opcode: count for opcode, count in counts.items() if opcode not in _BOOKKEEPING}
    opcode, count = max(heavy.items(), key=lambda item: (abs(item[1]), item[0]), default=("", 0))
    return PassDifference(name, in_head, opcode, count, work.steps, work.largest[1])
