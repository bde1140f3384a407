"""Reads loops and memory of a program: `post-ra`, its text after register allocation."""

import re
from collections.abc import Iterator

from msgspec import Struct

from xlareport.runtime.errors import Problem

_LOOP = re.compile(
    rb"^ *+loop: start=(-?\d{1,18}|[^,\n]{1,200}), step=(-?\d{1,18}|[^,\n]{1,200}), "
    rb"limit=(-?\d{1,18}|[^\n]{1,200})$",
    re.MULTILINE,
)
_ALLOCATION = re.compile(
    rb"^ *+#allocation\d{1,9}(_spill)? \[shape = '[^'\n]{0,500}', space=(\w{1,20}), "
    rb"size = 0x([0-9a-f]{1,16})\b",
    re.MULTILINE,
)
_UNRESOLVED = (1 << 64) - 1


class LoopBounds(Struct, frozen=True):
    """A counted loop; None for what is no constant."""

    start: int | None
    step: int | None
    limit: int | None


class Regions(Struct, frozen=True):
    """Loops and slots for spilled registers of a program."""

    loops: tuple[LoopBounds, ...]
    """In the order of the text."""
    spill_slots: int
    """Allocations of VMEM for spilled vector registers."""


def read_regions(data: bytes, path: str) -> tuple[Regions, list[Problem]]:
    """Read the loops and spill slots of a program."""
    problems = [] if b"$region" in data[:2000] else [Problem(path, None, "It has no regions.")]
    loops = tuple(LoopBounds(*map(_constant, match.groups())) for match in _LOOP.finditer(data))
    slots = sum(1 for is_spill, space, _ in _allocations(data) if is_spill and space == b"vmem")
    return Regions(loops, slots), problems


def _allocations(data: bytes) -> Iterator[tuple[bool, bytes, int | None]]:
    for match in _ALLOCATION.finditer(data):
        size = int(match[3], 16)
        yield bool(match[1]), match[2], None if size == _UNRESOLVED else size


def _constant(text: bytes) -> int | None:
    plain = text.removeprefix(b"-")
    return int(text) if plain.isdigit() else None
