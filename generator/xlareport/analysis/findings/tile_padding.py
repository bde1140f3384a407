"""Tile padding waste.

TPUs store arrays in tiles, such as 8 rows of 128: `f32[1,1024]` takes as much as `f32[8,1024]`.
Arrays that take at least 1.5 times the bytes of their data count together, each place in device
memory once. The finding appears if their padding in use at the peak is 1 MiB or more, and 1% or
more of the device memory. If live ranges are not known, only arrays with 1 MiB of padding count.
Arrays in VMEM, and those not in use at the peak, have findings of their own from 1 MiB of padding
each. Make the two most minor dimensions multiples of the tile.
"""

from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.cost.shape_sizes import UncountableError, iterate_leaves, measure_data
from xlareport.analysis.cost.tiling import (
    main_memory_size,
    minor_to_major,
    padded_size,
    rounded_dimensions,
)
from xlareport.analysis.findings.finding import MEBIBYTE, MOST_PLACES, Case, Finding, join_names
from xlareport.hlo.model import Computation, Instruction, InstructionKey
from xlareport.hlo.shape import Shape
from xlareport.knowledge.memory_spaces import space_name
from xlareport.runtime import english, units

TITLE = "Tile padding waste"
LEAST_WASTE = MEBIBYTE
"""Of an array by itself, where it is not known whether others are in use at the same time."""
LEAST_FACTOR = 1.5
"""Padded bytes to bytes of data."""
LEAST_MEMORY = 0.01
"""Of the device memory, all padding in use at the peak."""
_TILE = 4096
"""Bytes of a tile of 8 x 128 numbers of 32 bits: scalars and short vectors cannot take less."""
_TILED_DIMENSIONS = 2
_NO_BUFFER = frozenset(
    {
        *("bitcast", "tuple", "get-tuple-element", "while", "call", "conditional"),
        *("async-update", "async-done", "opt-barrier", "add-dependency"),
    }
)
"""Opcodes whose result shares a buffer: that of an operand, or of the root of a called
computation."""


class _Padded(Struct, frozen=True):
    """An array, or an element of a tuple, that takes much more memory than its data."""

    place: InstructionKey
    index: tuple[int, ...]
    shape: Shape
    data: int
    """Bytes."""
    padded: int
    executions: int
    is_in_main_memory: bool

    @property
    def name(self) -> str:
        """The name of the instruction, with the element of its tuple: `while.6{4}`."""
        element = f"{{{self.index[0]}}}" if self.index else ""
        return f"{self.place[1]}{element}"

    @property
    def waste(self) -> int:
        """Bytes of padding."""
        return self.padded - self.data


def tile_padding(case: Case) -> Iterator[Finding]:
    """Report the padding of tiles: together what is in use at the peak, else each array."""
    taken: set[Hashable] = set()
    at_peak: list[_Padded] = []
    for padded in _find_padded(case):
        place = case.place_at_peak(padded.place[1], padded.index)
        if padded.is_in_main_memory and place is not None:
            is_counted = case.occupancy is not None or padded.waste >= LEAST_WASTE
            if is_counted and place not in taken:
                at_peak.append(padded)
                taken.add(place)
        elif padded.waste >= LEAST_WASTE:
            yield _beside_the_peak(case, padded)
    size = sum(padded.waste for padded in at_peak)
    if at_peak and case.is_large(size) and size >= LEAST_MEMORY * case.held_bytes:
        yield _in_use_at_the_peak(case, sorted(at_peak, key=lambda padded: -padded.waste), size)


def _in_use_at_the_peak(case: Case, at_peak: Sequence[_Padded], size: int) -> Finding:
    first = at_peak[0]
    names = [padded.name for padded in at_peak]
    data = sum(padded.data for padded in at_peak)
    verb = "takes" if len(at_peak) == 1 else "take"
    share = _share(case, size)
    largest = f" The largest is {_sizes_words(first)}." if len(at_peak) > 1 else ""
    shape = "" if largest else f", `{first.shape.text[:120]}`,"
    return Finding(
        title=TITLE,
        places=tuple(dict.fromkeys(padded.place for padded in at_peak))[:MOST_PLACES],
        occurrences=len(at_peak),
        evidence=(
            f"{units.plural(len(at_peak), 'array')} ({join_names(names)}){shape} {verb} "
            f"{units.byte_size(data + size)} of device memory for {units.byte_size(data)} of data: "
            f"{units.byte_size(size)} of padding{share}.{largest}"
        ),
        suggestion=_advise(first.shape),
        grade="exact",
        weight=sum(_traffic(case, padded) for padded in at_peak),
        bytes=size,
    )


def _share(case: Case, size: int) -> str:
    """Return the part of the peak memory; where live ranges are unknown, of what is allocated."""
    peak = case.occupancy.peak if case.occupancy is not None else 0
    if peak:
        return f", {units.share(size / peak)} of the peak memory"
    if case.held_bytes:
        return f", {units.share(size / case.held_bytes)} of the memory allocated"
    return ""


def _beside_the_peak(case: Case, padded: _Padded) -> Finding:
    space = space_of(padded.shape.text) or 0
    name = space_name(case.backend, space, case.device.key)
    is_main = padded.is_in_main_memory
    return Finding(
        title="Tile padding outside of the peak" if is_main else f"Tile padding in {name}",
        places=(padded.place,),
        evidence=(
            f"{_sizes_words(padded)}, {1 - padded.data / padded.padded:.0%} padding. "
            f"{'It is not in use at the peak.' if is_main else 'None of it in device memory.'}"
        ),
        suggestion=_advise(padded.shape),
        grade="exact",
        weight=_traffic(case, padded),
    )


def _traffic(case: Case, padded: _Padded) -> float:
    """Return the seconds to write the padding of an array in the device memory."""
    return case.time_of_bytes(padded.waste * padded.executions) * padded.is_in_main_memory


def _sizes_words(padded: _Padded) -> str:
    return (
        f"`{padded.place[1]}`, `{padded.shape.text[:120]}`: {units.byte_size(padded.data)} of data "
        f"in {units.byte_size(padded.padded)}"
    )


def _advise(shape: Shape) -> str:
    minor = minor_to_major(shape)[:_TILED_DIMENSIONS]
    if any(shape.dimensions[number] == 1 for number in minor if number < len(shape.dimensions)):
        return (
            "Remove the dimension of size 1, or make it a major one: as one of the two most minor "
            "dimensions it is padded to a whole tile."
        )
    rounded = [
        f"dimension {number} ({own:,}) takes {whole:,}"
        for number, own, whole in rounded_dimensions(shape)
    ]
    if rounded:
        goal = "it a multiple" if len(rounded) == 1 else "these multiples"
        return (
            f"In its tiles, {english.listing(rounded)}: make {goal} of the tile on each device, or "
            "move a large dimension to the end."
        )
    return (
        "Make the two most minor dimensions multiples of the tile, or move a large dimension to "
        "the end."
    )


def _find_padded(case: Case) -> Iterator[_Padded]:
    for computation, instruction, cost in case.scheduled:
        if not _is_buffer(instruction, computation, case):
            continue
        for index, array in _arrays(instruction.shape):
            data, padded, main = _sizes(array)
            if padded - data >= _TILE and padded >= LEAST_FACTOR * data:
                place = (computation.name, instruction.name)
                yield _Padded(place, index, array, data, padded, max(cost.counted, 1), main > 0)


def _is_buffer(instruction: Instruction, computation: Computation, case: Case) -> bool:
    """Say whether a result is a buffer of its own.

    A start holds its operand beside what its done gives; what a computation is called with is its
    caller's.
    """
    if instruction.opcode == "parameter":
        return computation is case.module.entry
    return instruction.opcode not in _NO_BUFFER and not instruction.opcode.endswith("-start")


def _arrays(shape: Shape) -> Iterator[tuple[tuple[int, ...], Shape]]:
    """Yield the elements of a tuple with their places, or the whole."""
    if not shape.elements:
        yield (), shape
    for number, element in enumerate(shape.elements):
        yield (number,), element


def _sizes(shape: Shape) -> tuple[int, int, int]:
    """Return the bytes of data, those with padding, and those of the latter in device memory."""
    try:
        arrays = list(iterate_leaves(shape))
        padded = sum(map(padded_size, arrays))
        return sum(map(measure_data, arrays)), padded, main_memory_size(shape)
    except UncountableError:
        return 0, 0, 0
