"""Values at the peak of memory that one decision of the compiler put there together."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from xlareport.analysis.cost.occupancy import Occupancy
from xlareport.analysis.cost.zero_scatters import find_zero_scatter
from xlareport.hlo.graph import fused_opcodes
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES
from xlareport.hlo.shape import Shape

_FILLING = frozenset({"bitcast", "broadcast", "constant", "parameter"})
_SCATTERING = frozenset({"fusion", "scatter"})
_LEAST = 2
"""Values of a group."""

_Sizes = Mapping[str, list[tuple[tuple[int, ...], int]]]
"""(place in the tuple, bytes) of the values at the peak, by instruction."""


class PeakGroup(Struct, frozen=True):
    """Values in use at the peak: results of a combined collective, copies of a broadcast, zeros."""

    opcode: str
    """The kind of the combined collective; `broadcast` for copies of one, `scatter` for zeros."""
    instruction: str
    """The combined collective, the broadcast, or what fills the buffer with zeros."""
    count: int
    """Values in use at the peak."""
    size: int
    """Bytes of their places in memory."""
    combined: int = 0
    """The operands of a combined collective."""
    adding: str = ""
    """The scatter that adds to the zeros."""


def find_peak_groups(
    module: HloModule, occupancy: Occupancy, schedule: Sequence[str]
) -> tuple[PeakGroup, ...]:
    """Return results of combined collectives, copies of a broadcast and zeros not yet read."""
    living = [slot for slot in occupancy.living(occupancy.position) if not slot.is_held]
    sizes: _Sizes = defaultdict(list)
    for slot in living:
        sizes[slot.key[0]].append((slot.key[1], slot.size))
    begun = frozenset(schedule[: occupancy.position + 1])
    groups = [
        *_combined(module, sizes),
        *_copied(module, sizes, begun),
        *_filled(module, sizes, begun),
    ]
    return tuple(sorted(groups, key=lambda group: (-group.size, group.instruction)))


def element_at(shape: Shape, index: tuple[int, ...]) -> Shape:
    """Return the shape at a place in a tuple, as far as there is such a place."""
    for step in index:
        if step >= len(shape.elements):
            return shape
        shape = shape.elements[step]
    return shape


def _combined(module: HloModule, sizes: _Sizes) -> Iterator[PeakGroup]:
    for _, instruction in _living(module, sizes):
        kind = instruction.opcode.removesuffix("-start")
        parts = [
            size
            for index, size in sizes[instruction.name]
            if not element_at(instruction.shape, index).elements
        ]
        operands = len(instruction.operands)
        if kind in COMBINED_COLLECTIVES and operands >= _LEAST and len(parts) >= _LEAST:
            yield PeakGroup(kind, instruction.name, len(parts), sum(parts), operands)


def _copied(module: HloModule, sizes: _Sizes, begun: AbstractSet[str]) -> Iterator[PeakGroup]:
    copies: Mapping[str, list[Instruction]] = defaultdict(list)
    for home, instruction in _living(module, sizes):
        source = home.operand(instruction)
        users = home.users.get(instruction.name, ())
        is_unread = bool(users) and not any(user.name in begun for user in users)
        if instruction.opcode != "copy" or not is_unread or source is None:
            continue
        if _is_broadcast(module, source):
            copies[source.name].append(instruction)
    for name, alike in copies.items():
        if len(alike) >= _LEAST:
            size = sum(size for copy in alike for _, size in sizes[copy.name])
            yield PeakGroup("broadcast", name, len(alike), size)


def _filled(module: HloModule, sizes: _Sizes, begun: AbstractSet[str]) -> Iterator[PeakGroup]:
    for computation, instruction in module.placed:
        if instruction.opcode in _SCATTERING and instruction.name not in begun:
            scatter = find_zero_scatter(module, computation, instruction)
            zeros = scatter.zeros.name if scatter else ""
            users = computation.users.get(zeros, ())
            if zeros in sizes and not any(user.name in begun for user in users):
                size = sum(size for _, size in sizes[zeros])
                yield PeakGroup("scatter", zeros, 1, size, adding=instruction.name)


def _is_broadcast(module: HloModule, instruction: Instruction) -> bool:
    if instruction.opcode != "fusion":
        return instruction.opcode == "broadcast"
    opcodes = fused_opcodes(module, instruction)
    return "broadcast" in opcodes and opcodes <= _FILLING


def _living(module: HloModule, sizes: _Sizes) -> Iterator[tuple[Computation, Instruction]]:
    for computation, instruction in module.placed:
        if instruction.name in sizes:
            yield computation, instruction
