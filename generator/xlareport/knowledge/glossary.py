"""The terms of the report: the table `glossary.toml`."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table


class Word(Struct, frozen=True):
    """A word, as the report writes it."""

    name: str
    words: str
    """Its meaning, in one to three sentences that may contain `code` as in Markdown."""
    aliases: tuple[str, ...] = ()
    """Synonyms and former terms; the search leads from them to the word."""


@cache
def all_entries() -> Mapping[str, Word]:
    """Return all words by name, in the order of the alphabet."""
    return read_table("glossary", Word)


def find(name: str) -> Word | None:
    """Return the word, whether its letters are large or small."""
    return _spellings().get(name.casefold())


@cache
def _spellings() -> Mapping[str, Word]:
    entries = all_entries().values()
    return {name.casefold(): entry for entry in entries for name in (entry.name, *entry.aliases)}
