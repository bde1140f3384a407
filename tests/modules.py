"""Modules from HLO texts that a test has in it."""

from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader


def parse_module(text: str | bytes) -> HloModule:
    """Return the module of a whole HLO text; the test fails where there is none."""
    read = TextReader().read(text.encode() if isinstance(text, str) else text, "m.txt")
    assert read is not None
    return read
