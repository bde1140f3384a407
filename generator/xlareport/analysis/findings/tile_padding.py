"""Tile padding waste.

TPUs store arrays in tiles. An array takes at least 1.5 times the bytes of its data, and the padding
is 1 MiB or more. Only padding in device memory counts as memory to save, and of that what is in use
at the peak, where live ranges tell it; of arrays in VMEM the finding says so. Make the two most
minor dimensions multiples of the tile.
"""

from collections.abc import Hashable, Iterator

from xlareport.analysis.cost.sizes import UncountableError, iterate_leaves, measure_data
from xlareport.analysis.cost.tiling import main_memory_size, padded_size
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import Shape
from xlareport.runtime import units

LEAST_WASTE = MEBIBYTE
LEAST_FACTOR = 1.5
"""Padded bytes to bytes of data."""
_NO_BUFFER = frozenset(
    {
        *("bitcast", "tuple", "get-tuple-element", "while", "call", "conditional"),
        *("async-update", "async-done", "opt-barrier", "add-dependency"),
    }
)
"""Opcodes whose result lies in buffers of others: of an operand, or of the root that they call."""


def tile_padding(case: Case) -> Iterator[Finding]:
    """Report results that take much more memory than their data, with the waste."""
    taken: set[Hashable] = set()
    for computation, instruction, cost in case.scheduled():
        if not _is_buffer(instruction, computation, case):
            continue
        data, padded = _sizes(instruction.shape)
        if padded - data < LEAST_WASTE or padded < LEAST_FACTOR * data:
            continue
        here = _waste_in_main_memory(instruction.shape)
        amount = units.byte_size(here) if here else "None"
        place = "" if here == padded - data else f" {amount} of it in device memory."
        used = _place_at_peak(case, instruction.name) if here else None
        held = 0 if used is None or used in taken else here
        taken.add(used)
        if here and used is None:
            place += " It is not in use at the peak."
        yield Finding(
            rule="tile-padding",
            title="Tile padding waste",
            places=((computation.name, instruction.name),),
            evidence=(
                f"`{instruction.name}`, `{instruction.shape.text[:120]}`: "
                f"{units.byte_size(data)} of data in {units.byte_size(padded)}, "
                f"{1 - data / padded:.0%} padding.{place}"
            ),
            suggestion=(
                "Make the two most minor dimensions multiples of the tile, or move a large "
                "dimension to the end."
            ),
            grade="exact",
            weight=case.time_of_bytes(float(here) * max(cost.counted, 1)),
            bytes=held or None,
        )


def _is_buffer(instruction: Instruction, computation: Computation, case: Case) -> bool:
    """Say whether a result is a buffer of its own.

    A start holds its operand beside what its done gives; what a computation is called with is its
    caller's.
    """
    if instruction.opcode == "parameter":
        return computation is case.module.entry
    return instruction.opcode not in _NO_BUFFER and not instruction.opcode.endswith("-start")


def _place_at_peak(case: Case, name: str) -> Hashable | None:
    """Return the place that a value uses at the peak, None if it uses none.

    Where that is not known, each value has a place of its own.
    """
    occupancy = case.occupancy
    keys = [key for key in occupancy.ranges if key[0] == name] if occupancy else []
    if occupancy is None or not keys:
        return name
    moment = occupancy.position
    for slot in occupancy.living(moment):
        shared = not slot.is_held and any(
            occupancy.share_place(key, slot.key, moment) for key in keys
        )
        if shared or slot.value.instruction == name:
            return slot.allocation.index, slot.offset
    return None


def _waste_in_main_memory(shape: Shape) -> int:
    """Return the padding, in bytes, of those arrays that are not on the chip or on the host."""
    arrays = (array for array in iterate_leaves(shape) if main_memory_size(array))
    return sum(padded_size(array) - measure_data(array) for array in arrays)


def _sizes(shape: Shape) -> tuple[int, int]:
    try:
        arrays = list(iterate_leaves(shape))
        return sum(map(measure_data, arrays)), sum(map(padded_size, arrays))
    except UncountableError:
        return 0, 0
