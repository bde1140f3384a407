"""Where the snapshots of two compilations begin to differ, in words."""

from collections.abc import Sequence

from xlareport.analysis.compare.comparison import Comparison
from xlareport.analysis.compare.divergence import SnapshotDigest, Where
from xlareport.runtime.english import listing

_END = "after_optimizations"


def parting(comparison: Comparison) -> str:
    """Return where two compilations begin to differ, as a sentence without a full stop."""
    if (
        comparison.base is None
        or comparison.head is None
        or comparison.divergence.where is Where.NOWHERE
    ):
        return "No snapshot differs"
    if comparison.divergence.where is Where.UNKNOWN:
        return "The optimized HLO differs; the dumps have no snapshots that show which pass did it"
    if comparison.divergence.where is Where.INPUT:
        return "Input HLO differs (model change, not a compiler change)"
    if comparison.divergence.where is Where.HEADER:
        names = listing([f"`{name}`" for name in comparison.divergence.header])
        return f"The instructions of the input HLO are the same; its header differs in {names}"
    base = _ran(comparison.base.snapshots, comparison.divergence.base)
    head = _ran(comparison.head.snapshots, comparison.divergence.head)
    if base == head:
        return f"The snapshots agree until {base}, whose result differs in the head"
    return f"The snapshots agree, then differ: {base} changes the base next, {head} the head"


def _ran(snapshots: Sequence[SnapshotDigest], number: int | None) -> str:
    """Name the pass that ran last before a snapshot."""
    if number is None:
        return "no further pass"
    snapshot = snapshots[number]
    if snapshot.key == _END:
        return "a pass before the end"
    if snapshot.after is None:
        return f"what ran before {snapshot.label}"
    return (
        f"`{snapshot.after}` in `{snapshot.pipeline}`"
        if snapshot.pipeline
        else f"`{snapshot.after}`"
    )
