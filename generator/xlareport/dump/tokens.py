"""The parts of a name: each piece of text with a sentence on its meaning."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from xlareport.runtime.resources import read_toml


class Token(Struct, frozen=True):
    """A piece of a name; the pieces in order, joined, are the name again."""

    text: str
    meaning: str
    """A sentence in plain words; empty for the signs that only separate."""
    field: str = ""
    """The kind of piece: a field of the name (`module_id`, `after`) or a word of the tables."""


def joined(tokens: Iterable[Token]) -> str:
    """Return the name that the tokens came from, byte for byte."""
    return "".join([token.text for token in tokens])


@cache
def table(name: str) -> Mapping[str, Any]:
    """Return one of the tables next to this module; cached."""
    return read_toml(__package__, "tables", f"{name}.toml")
