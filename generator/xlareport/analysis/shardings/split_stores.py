"""Slices that a loop stores, and the mesh axes that split the loop's products but not these."""

from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.shardings.sharding_words import axes_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import DENSE_PRODUCTS
from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.sharding import ShardingKind
from xlareport.hlo.shardings.written import parse_sharding


class SplitStore(Struct, frozen=True):
    """A dynamic-update-slice before the partitioner whose sharding is known."""

    op_name: str
    part: str
    """Type and dimensions of the buffer on each device: `bf16[32,8,4096,4096]`."""
    axes: tuple[tuple[str, int], ...]
    """Further axes that could split the buffer, with their sizes: they split products of the same
    loop body."""


def list_split_stores(module: HloModule, mesh: Mesh | None) -> tuple[SplitStore, ...]:
    """Return the stores of a module with the shardings of all instructions."""
    return tuple(_stores(module, mesh)) if mesh is not None else ()


def _stores(module: HloModule, mesh: Mesh) -> Iterator[SplitStore]:
    for computation in module.computations:
        stores = [line for line in computation.instructions if _is_store(line)]
        working = _axes_of_products(computation, mesh) if stores else frozenset()
        for store in stores:
            tiles, axes = _split(store, mesh)
            if tiles is None or axes is None:
                continue
            part = _shard_sizes(store, tiles)
            others = _others(computation, store, part)
            further = tuple(
                (axis, size)
                for axis, size in mesh.axes
                if size > 1 and axis in working - axes and any(not side % size for side in others)
            )
            shape = f"{store.shape.element_type}[{','.join(map(str, part))}]"
            yield SplitStore(store.metadata.op_name, shape, further)


def _is_store(line: Instruction) -> bool:
    return line.opcode == "dynamic-update-slice" and bool(line.metadata.op_name)


def _axes_of_products(computation: Computation, mesh: Mesh) -> frozenset[str]:
    products = (line for line in computation.instructions if line.opcode in DENSE_PRODUCTS)
    return frozenset[str]().union(*(_split(line, mesh)[1] or () for line in products))


def _split(line: Instruction, mesh: Mesh) -> tuple[tuple[int, ...] | None, frozenset[str] | None]:
    """Return in how many parts each dimension is cut, and along which axes; None if not known."""
    text = line.attributes.get("sharding", "")
    sharding = parse_sharding(text) if text else None
    if sharding is None:
        return None, None
    if sharding.kind is ShardingKind.REPLICATED:
        return (1,) * len(line.shape.dimensions), frozenset()
    axes = axes_of(sharding, mesh)
    if sharding.kind is not ShardingKind.TILED or axes is None:
        return None, None
    if any(kind is not ShardingKind.REPLICATED for kind, _ in sharding.subgroups):
        return None, None
    names = frozenset(axis.partition(":")[0] for some in axes for axis in some)
    return sharding.tiles, names


def _shard_sizes(store: Instruction, tiles: tuple[int, ...]) -> list[int]:
    pairs = zip(store.shape.dimensions, tiles, strict=False)
    return [-(-(size or 0) // max(1, count)) for size, count in pairs]


def _others(computation: Computation, store: Instruction, part: list[int]) -> list[int]:
    """Return the sizes on each device of the dimensions along which a whole slice is stored."""
    update = computation.operand(store, 1)
    stored = update.shape.dimensions if update else ()
    whole = zip(part, stored, store.shape.dimensions, strict=False)
    return [size for size, given, side in whole if given == side]
