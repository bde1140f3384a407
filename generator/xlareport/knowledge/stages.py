"""Stages of a compilation at which XLA writes files: `stages.toml`."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table
from xlareport.runtime.english import first_sentence


class StageMeaning(Struct, frozen=True):
    """A stage, by its word in file names; texts may contain `code` as in Markdown."""

    name: str
    title: str
    """A few words for tables."""
    words: str
    """The content of the file."""
    absent: str | None = None
    """The meaning if a dump has no such file."""
    aliases: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first sentence of `words`."""
        return first_sentence(self.words)


@cache
def all_entries() -> Mapping[str, StageMeaning]:
    """Return all stages by name, the named snapshots of a module first."""
    return read_table("stages", StageMeaning)


def find(name: str) -> StageMeaning | None:
    """Return the stage with this name; a device may precede `after_optimizations`."""
    if name.endswith("_after_optimizations"):
        name = "after_optimizations"
    return _spellings().get(name)


def find_step(name: str) -> StageMeaning | None:
    """Return the stage inside a pass at which a step such as `removing unnecessary copies` is."""
    step = name.replace(" ", "_").removeprefix("after_")
    return find(f"after_{step}") or find(f"before_{step}")


@cache
def _spellings() -> Mapping[str, StageMeaning]:
    entries = all_entries().values()
    return {spelling: entry for entry in entries for spelling in (entry.name, *entry.aliases)}
