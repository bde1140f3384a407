"""What the numbers of memory spaces mean: the table `memory_spaces.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from xlareport.knowledge.tables import read_table


@dataclass(frozen=True, slots=True)
class MemorySpace:
    """One memory space of one backend."""

    name: str
    """Backend and number."""
    backend: str
    number: int
    words: str
    """What the `color` of an allocation means, as XLA's memory usage report names it."""
    layout: str | None = None
    """What `S(n)` in a layout means, where that is something else."""


@cache
def memory_spaces() -> Mapping[str, MemorySpace]:
    """Return the spaces by `<backend>-<number>`."""
    return read_table("memory_spaces", MemorySpace)


def space_words(backend: str | None, number: int, *, in_layout: bool = False) -> str:
    """Return the name of a memory space; `memory space 7` where it is not known."""
    memory_space = memory_spaces().get(f"{backend}-{number}")
    if memory_space is None:
        return f"memory space {number}"
    return (in_layout and memory_space.layout) or memory_space.words
