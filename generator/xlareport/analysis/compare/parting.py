"""Where two compilations part, in words."""

from collections.abc import Sequence

from xlareport.analysis.compare.comparison import Comparison
from xlareport.analysis.compare.divergence import SnapshotDigest, Where

_END = "after_optimizations"


def parting(comparison: Comparison) -> str:
    """Return in words where two compilations part, without a full stop."""
    if (
        comparison.base is None
        or comparison.head is None
        or comparison.divergence.where is Where.NOWHERE
    ):
        return "They do not part"
    if comparison.divergence.where is Where.UNKNOWN:
        return "They end differently; no snapshots in between say which pass did it"
    if comparison.divergence.where is Where.INPUT:
        return "Input HLO differs (model change, not a compiler change)"
    base = _ran(comparison.base.moments, comparison.divergence.base)
    head = _ran(comparison.head.moments, comparison.divergence.head)
    if base == head:
        return f"They agree until {base}, which leaves something else in the head"
    return f"They agree, then part: next the base is changed by {base}, the head by {head}"


def _ran(moments: Sequence[SnapshotDigest], number: int | None) -> str:
    """Name the pass that ran last before a snapshot."""
    if number is None:
        return "nothing more"
    moment = moments[number]
    if moment.key == _END:
        return "something before the end"
    if moment.after is None:
        return f"what ran before {moment.label}"
    return f"`{moment.after}` in `{moment.pipeline}`" if moment.pipeline else f"`{moment.after}`"
