"""The meaning of element types, in plain words: the table `element_types.toml`."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.tables import read_table


class TypeWords(Struct, frozen=True):
    """A type of elements, as HLO text spells it."""

    name: str
    words: str
    """The values of the type, in one or two sentences that may contain `code` as in Markdown."""


@cache
def all_entries() -> Mapping[str, TypeWords]:
    """Return all types by name."""
    return read_table("element_types", TypeWords)


def find(name: str) -> TypeWords | None:
    """Return the type called so, such as `bf16`."""
    return all_entries().get(name)
