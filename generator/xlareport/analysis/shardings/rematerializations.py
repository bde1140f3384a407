"""Involuntary full rematerialization: a value is gathered in full only to be sliced differently.

The SPMD partitioner does this if it has no direct resharding between two shardings, and warns in
its log. In the module, all-gathers make the full value, and a dynamic-slice at an offset derived
from `partition-id` takes a part of it, without any op of the program in between.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.wire import group_size
from xlareport.analysis.shardings.dataflow import DataFlow, LocatedInstruction
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.analysis.source.locations import place_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape, bits_of
from xlareport.hlo.shardings.sharding import Sharding
from xlareport.hlo.shardings.written import local_dimensions, parse_sharding

MOST_REMATERIALIZATIONS = 1_000
"""Limit on results in one module."""
_CHAIN = 16
"""All-gathers in a row: one for each dimension at most."""
Tiles = tuple[int, ...]
Dimensions = tuple[int, ...]


class Rematerialization(Struct, frozen=True):
    """A value that every device gathers in full on the way between two shardings."""

    computation: str
    gathers: tuple[str, ...]
    """The all-gathers, in order."""
    slice: str
    """The dynamic-slice that takes the part."""
    value: str
    """The gathered value."""
    shape: str
    """Of the whole: `f32[16,16,16]`."""
    dimensions: Dimensions
    """Of the whole."""
    bytes: int
    """Of the whole, on each device."""
    part_bytes: int
    """Bytes of the slice's result."""
    from_tiles: Tiles
    """Number of parts of each dimension before the gather."""
    to_tiles: Tiles
    """Number of parts of each dimension after the slice."""
    from_sharding: str
    """As the snapshot before the partitioner writes it; empty where it is not known."""
    to_sharding: str
    op_name: str
    source: str
    """`train.py:12`; empty if unknown."""
    grade: str
    """`exact` if the gather is over all devices, so that the full value must exist.

    `matched` if the shape before partitioning shows that it is the full value, and in later
    snapshots.
    """
    is_fresh: bool
    """Whether it was read right after the partitioner, not from the final module."""
    from_words: str = ""
    """The sharding before in words, along the axes of the mesh."""
    to_words: str = ""


def find_rematerializations(
    partitioning: Partitioning | None,
) -> tuple[Rematerialization, ...] | None:
    """Return the values that the partitioner gathered and sliced again, in module order.

    They are read right after the partitioner if the dump has that snapshot, else from the final
    module: later passes move gathers and slices, and remove the copies that mark the program's own
    ones, so replication that the program requests is left out and nothing is exact. None without a
    snapshot before partitioning.
    """
    if partitioning is None:
        return None
    search = _Search(DataFlow(partitioning.after), partitioning.before, partitioning.is_fresh)
    value = (search.rematerialization(place) for place in _slices(partitioning.after))
    return tuple(
        islice((result for result in value if result is not None), MOST_REMATERIALIZATIONS)
    )


def _slices(module: HloModule) -> Iterator[LocatedInstruction]:
    for computation, instruction in module.placed:
        if instruction.opcode == "dynamic-slice":
            yield computation, instruction


class _Search(Struct, frozen=True):
    """The two snapshots that are searched for gathers and slices."""

    flow: DataFlow
    before: HloModule
    is_fresh: bool
    """Whether the partitioner's own result is looked at."""

    def rematerialization(self, place: LocatedInstruction) -> Rematerialization | None:
        """Return the value that a slice is taken from, if it was gathered only for that."""
        value = _rematerialization(self.flow, place, self.before, copies=not self.is_fresh)
        if value is None or self.is_fresh:
            return value
        if _is_asked_for(self.before, value.dimensions) or not self._is_whole(value):
            return None
        return replace(value, grade="matched", is_fresh=False)

    def _is_whole(self, value: Rematerialization) -> bool:
        """Return whether all of a value is gathered: by all devices, or by the program's shape."""
        wholes = _around(self.before, value.op_name, value.dimensions)
        every = prod(value.from_tiles) == self.flow.module.partition_count
        return every or any(whole.shape.dimensions == value.dimensions for whole in wholes)


def _rematerialization(
    flow: DataFlow, place: LocatedInstruction, before: HloModule, *, copies: bool
) -> Rematerialization | None:
    gathers = _gathers(flow, place, copies=copies)
    value = flow.operand(gathers[0], 0) if gathers and _by_partition(flow, place) else None
    if value is None:
        return None
    gathered, part = gathers[-1][1], place[1].shape
    shapes = _shapes(flow, place, gathers[-1])
    whole = _unpadded_dimensions(shapes)
    padded = shapes[-1], shapes[0]
    from_tiles = count_tiles(padded[0], value[1].shape.dimensions)
    to_tiles = count_tiles(padded[1], part.dimensions)
    if not from_tiles or not to_tiles or from_tiles == to_tiles:
        return None
    if 1 in (prod(from_tiles), prod(to_tiles)):
        return None
    op_name = gathered.metadata.op_name
    devices = prod(_group(flow.module, gather) for _, gather in gathers)
    everyone = devices == flow.module.partition_count
    around = _around(before, op_name, whole)
    if devices != prod(from_tiles) or not (everyone or around) or _is_written(before, op_name):
        return None
    line = place_of(gathered, flow.module)
    return Rematerialization(
        computation=gathers[-1][0].name,
        gathers=tuple(gather.name for _, gather in gathers),
        slice=place[1].name,
        value=value[1].name,
        shape=f"{gathered.shape.element_type}[{','.join(map(str, whole))}]",
        dimensions=whole,
        bytes=_bytes(gathered.shape, whole),
        part_bytes=_bytes(part, tuple(size or 0 for size in part.dimensions)),
        from_tiles=from_tiles,
        to_tiles=to_tiles,
        from_sharding=_sharding_of(around, from_tiles),
        to_sharding=_sharding_of(around, to_tiles),
        op_name=op_name,
        source=line.short if line is not None else "",
        grade="exact" if everyone else "matched",
        is_fresh=True,
    )


def _is_asked_for(before: HloModule, whole: Dimensions) -> bool:
    """Return whether a sharding of the program has parts of this shape or of its transpose."""
    constraints = (
        instruction
        for instruction in before.instructions
        if instruction.opcode == "custom-call" and '"Sharding"' in instruction.attributes_text
    )
    parts = (
        local_dimensions(constraint.attributes.get("sharding", ""), constraint.shape.dimensions)
        for constraint in constraints
    )
    return any(part is not None and sorted(part) == sorted(whole) for part in parts)


def _gathers(
    flow: DataFlow, place: LocatedInstruction, *, copies: bool
) -> Sequence[LocatedInstruction]:
    """Return the all-gathers that make the sliced value, the first one first."""
    gathers: list[LocatedInstruction] = []
    before = flow.operand(place, 0)
    while before is not None and len(gathers) < _CHAIN:
        # A layout pass may copy between two gathers; a copy behind the last is the program's.
        before = flow.through_moves(before, copies=copies or bool(gathers))
        if before[1].opcode.removesuffix("-start") != "all-gather" or len(before[1].operands) != 1:
            break
        if gathers and not _has_sizes(flow.operand(gathers[-1], 0), before):
            break  # what is reshaped is gathered as another value
        gathers.append(before)
        before = flow.operand(before, 0)
    return gathers[::-1]


def _has_sizes(value: LocatedInstruction | None, other: LocatedInstruction) -> bool:
    """Return whether a value has the sizes of another one, in any order; those of 1 aside."""
    return value is not None and sorted(_sizes(value)) == sorted(_sizes(other))


def _sizes(value: LocatedInstruction) -> list[int]:
    return [size or 0 for size in value[1].shape.dimensions if size != 1]


def _by_partition(flow: DataFlow, place: LocatedInstruction) -> bool:
    """Return whether each device slices at an offset of its own."""
    offsets = (flow.operand(place, number) for number in range(1, len(place[1].operands)))
    return any(offset and flow.depends_on(offset, "partition-id") for offset in offsets)


def _shapes(
    flow: DataFlow, place: LocatedInstruction, gather: LocatedInstruction
) -> Sequence[Dimensions]:
    """Return the dimensions of a value from the slice back to the gather, where ranks agree.

    Empty if a reshape in between changes the dimensions.
    """
    shapes: list[tuple[int | None, ...]] = []
    before = flow.operand(place, 0)
    while before is not None and len(shapes) < _CHAIN:
        inner = flow.operand(before, 0)
        if before[1].opcode == "reshape" and inner and _sizes(inner) != _sizes(before):
            return [()]
        shapes.append(before[1].shape.dimensions)
        before = None if before[1] is gather[1] else inner
    rank = len(place[1].shape.dimensions)
    return [
        tuple(size or 0 for size in dimensions) for dimensions in shapes if len(dimensions) == rank
    ] or [()]


def _unpadded_dimensions(shapes: Sequence[Dimensions]) -> Dimensions:
    """Return the dimensions without padding: uneven parts are padded, before and behind."""
    return tuple(min(sizes) for sizes in zip(*shapes, strict=True))


def count_tiles(whole: Dimensions, part: Sequence[int | None]) -> Tiles | None:
    """Return in how many parts each dimension of the whole is cut.

    None if the parts do not make the whole, as those of a window, which overlap.
    """
    if len(whole) != len(part) or not all(whole) or not all(part):
        return None
    sizes = [(size, held or 1) for size, held in zip(whole, part, strict=True)]
    if any(size % held for size, held in sizes):
        return None
    return tuple(size // held for size, held in sizes)


def _group(module: HloModule, gather: Instruction) -> int:
    """Return over how many devices is gathered; 0 where it is not known."""
    size, _ = group_size(module, "all-gather", gather)
    return size or 0


def _bytes(shape: Shape, whole: Dimensions) -> int:
    return -(-prod(whole) * (bits_of(shape.element_type) or 0) // 8)


def _around(before: HloModule, op_name: str, whole: Dimensions) -> list[Instruction]:
    """Return an op before partitioning, with its operands and users.

    Only those with the full shape or a multiple of it: the partitioner may gather a value within
    groups of devices only.
    """
    if not op_name:
        return []
    return [
        neighbor
        for computation, instruction in before.placed
        if instruction.metadata.op_name == op_name
        for neighbor in _neighbors(computation, instruction)
        if _holds(neighbor.shape, whole)
    ]


def _neighbors(computation: Computation, instruction: Instruction) -> Iterator[Instruction]:
    yield instruction
    for name in instruction.operand_names:
        operand = computation.by_name.get(name)
        if operand is not None:
            yield operand
    yield from computation.users.get(instruction.name, ())


def _holds(shape: Shape, whole: Dimensions) -> bool:
    sizes = shape.dimensions
    return len(sizes) == len(whole) and all(
        size is not None and size % part == 0 for size, part in zip(sizes, whole, strict=True)
    )


def _is_written(before: HloModule, op_name: str) -> bool:
    """Return whether the program gathers by itself, as in a shard_map: scopes are added later."""
    primitive = op_name.rpartition("/")[2]
    return any(
        instruction.opcode == "all-gather"
        and instruction.metadata.op_name.rpartition("/")[2] == primitive
        for instruction in before.instructions
    )


def _sharding_of(around: Sequence[Instruction], tiles: Tiles) -> str:
    """Return the sharding around an op that has these tiles; empty if none or several do."""
    texts = {instruction.attributes.get("sharding", "") for instruction in around}
    alike = [text for text in texts if _tiles(parse_sharding(text)) == tiles]
    return alike[0] if len(alike) == 1 else ""


def _tiles(sharding: Sharding | None) -> Tiles:
    return sharding.tiles if sharding is not None else ()
