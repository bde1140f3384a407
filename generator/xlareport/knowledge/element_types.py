"""The meaning of element types, in plain words: the table `element_types.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from xlareport.knowledge.tables import read_table


@dataclass(frozen=True, slots=True)
class TypeWords:
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
