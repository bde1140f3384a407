"""Drawings of HLO."""

from targets.snapshots import check_reading
from xlareport.hlo.dot import DotReader


def check(data: bytes) -> None:
    """Read the data as a snapshot of a module."""
    check_reading(DotReader(), data)
