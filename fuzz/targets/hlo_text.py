"""HLO text."""

from targets.snapshots import check_reading
from xlareport.hlo.text import TextReader


def check(data: bytes) -> None:
    """Read the data as a snapshot of a module."""
    check_reading(TextReader(), data)
