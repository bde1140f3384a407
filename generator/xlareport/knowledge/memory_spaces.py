"""The meaning of memory space numbers: the table `memory_spaces.toml`."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table


class MemorySpace(Struct, frozen=True):
    """A memory space of one backend or chip."""

    name: str
    """Backend or device, and number."""
    words: str
    where: str
    """`main` for the device's memory, `chip` for memory on the chip, `host`."""
    evidence: str
    """The evidence for it."""
    abbreviation: str = ""
    """Empty where `words` have no explanation beside the name."""


@cache
def memory_spaces() -> Mapping[str, MemorySpace]:
    """Return the spaces by `<backend>-<number>`, those of one chip by `<device>-<number>`."""
    return read_table("memory_spaces", MemorySpace)


def find_space(backend: str | None, number: int, chip: str = "") -> MemorySpace | None:
    """Return the memory space of a number: the chip's own, else the backend's; None if unknown."""
    spaces = memory_spaces()
    return spaces.get(f"{chip}-{number}") or spaces.get(f"{backend}-{number}")


def space_name(backend: str | None, number: int, chip: str = "") -> str:
    """Return the name of a memory space without an explanation: `VMEM`."""
    memory_space = find_space(backend, number, chip)
    short = memory_space.abbreviation if memory_space else ""
    return short or space_words(backend, number, chip)


def space_words(backend: str | None, number: int, chip: str = "") -> str:
    """Return the name and kind of a memory space; `memory space 7` where it is not known."""
    memory_space = find_space(backend, number, chip)
    return memory_space.words if memory_space else f"memory space {number}"
