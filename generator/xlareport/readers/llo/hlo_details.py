"""Reads the position of each HLO instruction's code in the linked program: `hlo-details`."""

import re

from msgspec import Struct

from xlareport.runtime.errors import Problem

_OPERATION = re.compile(rb"^  operation: (?:ROOT )?%(\S{1,500}) = ", re.MULTILINE)
_RANGE = re.compile(
    rb"emitted bundle range: (?:<empty>|\[(\w{1,50}:\d{1,4}:)0x([0-9a-f]{1,12}), "
    rb"\1?(?:\w{1,50}:\d{1,4}:)?0x([0-9a-f]{1,12})\))"
)


class EmittedRange(Struct, frozen=True):
    """Bundles of an instruction in the linked program, the end excluded.

    The range of a while loop contains those of its body.
    """

    instruction: str
    begin: int
    end: int


def read_hlo_details(data: bytes, path: str) -> tuple[tuple[EmittedRange, ...], list[Problem]]:
    """Return the ranges of the instructions that have bundles."""
    ranges: list[EmittedRange] = []
    entries = [*_OPERATION.finditer(data)]
    for place, match in enumerate(entries):
        end = entries[place + 1].start() if place + 1 < len(entries) else len(data)
        emitted = _RANGE.search(data, match.end(), end)
        if emitted is None:
            line = data.count(b"\n", 0, match.start()) + 1
            return tuple(ranges), [Problem(path, line, "Cut off: the range of bundles is missing.")]
        if emitted[2]:
            name = match[1].decode("utf-8", "replace")
            ranges.append(EmittedRange(name, int(emitted[2], 16), int(emitted[3], 16)))
    return tuple(ranges), [] if entries else [Problem(path, None, "It has no instructions.")]
