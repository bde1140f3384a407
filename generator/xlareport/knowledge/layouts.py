"""The meaning of the parts of a layout: the table `layouts.toml`."""

from collections.abc import Mapping
from functools import cache

from xlareport.knowledge.memory_spaces import memory_spaces
from xlareport.knowledge.table_files import Meaning, read_table


@cache
def layout_sentences() -> Mapping[str, str]:
    """Return the sentences by `order`, `tiles`, `bits` and `space`, with `{}` for the value."""
    return {part.name: part.words for part in read_table("layouts", Meaning).values()}


def describe_layout_part(part: str, value: str) -> str:
    """Return the sentence about a part of a layout; a space with its name on each backend."""
    space_words = space_sentences().get(value, "") if part == "space" else ""
    return space_words or layout_sentences()[part].replace("{}", value)


@cache
def space_sentences() -> Mapping[str, str]:
    """Return a sentence for each memory space number, for the backends and chips that have it."""
    listing: dict[str, list[str]] = {}
    for name, space in memory_spaces().items():
        where, _, number = name.rpartition("-")
        listing.setdefault(number, []).append(f"on {where} {space.words}")
    return {number: f"In memory space {number}: {'; '.join(of)}." for number, of in listing.items()}
