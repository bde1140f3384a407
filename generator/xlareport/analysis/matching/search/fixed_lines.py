"""Source lines that two programs share by their numbers: what is of one is of no other line.

Lines move where a file is edited above them. They are taken for the same only where nearly all
lines of the smaller program have the same ops in the other one.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping

from xlareport.analysis.source.locations import SourcePlace, places_of
from xlareport.analysis.source.scopes import split_merged, split_path
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.knowledge.opcodes import opcode_work

_LEAST_SHARED = 0.8
"""Of the lines of the program that has fewer."""
_LEAST_LINES = 3
"""Fewer lines of equal ops can have changed places."""
_COMPUTING = opcode_work().by_element - {"convert"} | MATRIX_PRODUCTS
"""Opcodes of ops of the program; XLA gives moves lines of others."""
_Ops = frozenset[str]
_PlaceOf = Callable[[Instruction], SourcePlace | None]


class FixedLines:
    """Decides whether two instructions of two programs are of different source lines."""

    def __init__(self, before: HloModule, after: HloModule) -> None:
        self._places = places_of(before), places_of(after)
        ours, theirs = _read_lines(before, self._places[0]), _read_lines(after, self._places[1])
        shared = {line for line, ops in ours.items() if theirs.get(line) == ops}
        least = max(_LEAST_LINES, _LEAST_SHARED * min(len(ours), len(theirs)))
        is_unmoved = len(shared) >= least
        self._shared = shared if is_unmoved else set[str]()

    def part(self, before: Instruction, after: Instruction) -> bool:
        """Return whether the line of one is one that both programs have, and not the other's."""
        if not self._shared or not {before.opcode, after.opcode} <= _COMPUTING:
            return False
        pairs = zip(self._places, (before, after), strict=True)
        lines = [_short(place_of(line)) for place_of, line in pairs]
        return all(lines) and lines[0] != lines[1] and not self._shared.isdisjoint(lines)


def _short(place: SourcePlace | None) -> str:
    return place.short if place else ""


def _read_lines(module: HloModule, place_of: _PlaceOf) -> Mapping[str, _Ops]:
    """Return the ops on each source line of a program."""
    lines: defaultdict[str, set[str]] = defaultdict(set)
    for line in module.instructions:
        place = _short(place_of(line)) if line.opcode in _COMPUTING else ""
        if place and line.metadata.op_name:
            lines[place].add(split_path(split_merged(line.metadata.op_name)[0])[-1])
    return {place: frozenset(ops) for place, ops in lines.items()}
