"""The meaning of element types, in plain words: the table `element_types.toml`."""

from collections.abc import Mapping
from functools import cache

from xlareport.knowledge.table_files import Meaning, read_table


@cache
def all_entries() -> Mapping[str, Meaning]:
    """Return the values of all types by name, as HLO text spells it."""
    return read_table("element_types", Meaning)


def find(name: str) -> Meaning | None:
    """Return the type called so, such as `bf16`."""
    return all_entries().get(name)
