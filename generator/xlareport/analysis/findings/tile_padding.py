"""Tile padding waste.

TPUs store arrays in tiles. An array takes at least 1.5 times the bytes of its data, and the padding
is 1 MiB or more. Make the two most minor dimensions multiples of the tile. Only padding in device
memory counts as memory to save; if live ranges are known, only padding that is in use at the peak.
For arrays in VMEM the finding says so.
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
"""Opcodes whose result shares a buffer: that of an operand, or of the root of a called
computation."""


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
        held = _waste_at_peak(case, instruction, taken) if here else None
        if here and held is None:
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


def _waste_at_peak(case: Case, instruction: Instruction, taken: set[Hashable]) -> int | None:
    """Return the padding in device memory at the peak, in bytes, each place once.

    None if no part of the result is in use then. The places are added to `taken`.
    """
    wasted: int | None = None
    for index, array in _arrays(instruction.shape):
        waste = _waste_in_main_memory(array)
        place = case.place_at_peak(instruction.name, index) if waste else None
        if place is not None:
            wasted = (wasted or 0) + (0 if place in taken else waste)
            taken.add(place)
    return wasted


def _arrays(shape: Shape) -> Iterator[tuple[tuple[int, ...], Shape]]:
    """Yield the elements of a tuple with their places, or the whole."""
    if not shape.elements:
        yield (), shape
    for number, element in enumerate(shape.elements):
        yield (number,), element


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
