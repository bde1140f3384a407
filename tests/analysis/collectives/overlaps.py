"""Overlaps of collectives that nothing hides."""

from xlareport.analysis.collectives.schedule import Overlap, WaitReason


def overlap(reason: WaitReason | None, exposed: float = 1e-6) -> Overlap:
    """Return the overlap of a collective that is exposed for a reason."""
    return Overlap((), (), 0.0, exposed, exposed, reason, "", (), ())
