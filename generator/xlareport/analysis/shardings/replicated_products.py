"""Dots, convolutions and FFTs that several devices compute alike, by the partitioner's step.

A device computes its part of a product if the partitioner could divide it by the shardings of
operands and result. Else each device, or each of a group, computes more of it, or all. FLOPs are
summed up by op_name and source line, which the partitioner keeps, without regard to loops. What the
partitioner leaves behind without users does not count.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.cost.instruction_flops import count_work
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shardings.sharding import ShardingKind
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.runtime.graphs import nearest_first
from xlareport.runtime.grouping import group_by_key

LEAST_TIMES = 1.5
"""Devices that compute the same, on average: uneven parts and halos are less."""
UNDIVIDED = frozenset({"cholesky", "fft", "triangular-solve"})
"""Opcodes of which the partitioner divides few forms: it gathers the operands of the others."""
_PRODUCTS = frozenset({"dot", "convolution"}) | UNDIVIDED
_MOST_SEEN = 100
"""Instructions before a product that are looked at for a reshape."""
_Place = tuple[Computation, Instruction]
_Key = tuple[str, int | None, str, int | None]


class ReplicatedProduct(Struct, frozen=True):
    """The products of one op_name of which several devices compute the same."""

    op_name: str
    products: tuple[str, ...]
    """In the snapshot before the partitioner."""
    opcode: str
    """That of the first of them."""
    times: float
    """How often all devices together compute them."""
    needless: float
    """The part, 0 to 1, of a device's FLOPs of this op_name that is left over if all divide it."""
    needless_flops: float
    """These, without regard to loops."""
    reshape: str
    """A reshape before one of them whose operand is cut into more parts than its result, in the
    snapshot before the partitioner; empty if there is none."""


def find_replicated_products(
    partitioning: Partitioning | None, devices: int
) -> tuple[ReplicatedProduct, ...]:
    """Return them with the most FLOPs first; none where propagated shardings are not known."""
    if partitioning is None or not partitioning.is_propagated or not partitioning.is_fresh:
        return ()
    whole, part = _by_key(partitioning.before), _by_key(partitioning.after)
    compared = group_by_key(
        (key[0], _Compared(whole.get(key, _NONE), on_device, devices))
        for key, on_device in part.items()
    )
    values = (_value(op_name, items) for op_name, items in compared.items() if op_name)
    replicated = [value for value in values if value is not None]
    return tuple(sorted(replicated, key=lambda value: (-value.needless_flops, value.op_name)))


class _Sum(Struct, frozen=True):
    """The products of one op_name and line in a snapshot."""

    flops: int
    places: tuple[_Place, ...]


_NONE = _Sum(0, ())


class _Compared(Struct, frozen=True):
    """The products of one op_name and line on both sides of the partitioner."""

    whole: _Sum
    part: _Sum
    devices: int

    @property
    def at_best(self) -> float:
        """FLOPs of a device if all of them divide the work."""
        return self.whole.flops / self.devices

    @property
    def is_replicated(self) -> bool:
        """Whether several devices compute the same."""
        return 0 < LEAST_TIMES * self.at_best <= self.part.flops


def _value(op_name: str, compared: list[_Compared]) -> ReplicatedProduct | None:
    replicated = [item for item in compared if item.is_replicated]
    if not replicated:
        return None
    on_device = sum(item.part.flops for item in replicated)
    at_best = sum(item.at_best for item in replicated)
    places = [place for item in replicated for place in item.whole.places]
    reshapes = (_reshape_before(*place) for place in places)
    return ReplicatedProduct(
        op_name=op_name,
        products=tuple(instruction.name for _, instruction in places),
        opcode=places[0][1].opcode,
        times=on_device / at_best,
        needless=(on_device - at_best) / sum(item.part.flops for item in compared),
        needless_flops=on_device - at_best,
        reshape=next(filter(None, reshapes), ""),
    )


def _by_key(module: HloModule) -> Mapping[_Key, _Sum]:
    """Return the FLOPs and the products of each op_name and line, without those of `shard_map`."""
    sums: dict[_Key, _Sum] = {}
    for computation in module.computations:
        products = [line for line in computation.instructions if line.opcode in _PRODUCTS]
        dead = dead_names(computation) if products else frozenset()
        shapes = shapes_of(computation) if products else {}
        for line in products:
            sharding = parse_sharding(line.attributes.get("sharding", ""))
            is_manual = sharding is not None and sharding.kind is ShardingKind.MANUAL
            if is_manual or line.name in dead:
                continue
            try:
                flops = count_work(Site(line, shapes)).flops
            except UncountableError:
                continue
            data = line.metadata
            key = data.op_name, data.stack_frame_id, data.source_file, data.source_line
            summed = sums.get(key, _NONE)
            sums[key] = _Sum(summed.flops + flops, (*summed.places, (computation, line)))
    return sums


def _reshape_before(computation: Computation, product: Instruction) -> str:
    """Return the nearest reshape that loses a sharding, among what a product reads."""

    def operands(line: Instruction) -> Iterator[Instruction]:
        if line.opcode not in _PRODUCTS or line is product:
            yield from (operand for operand in computation.operands(line) if operand is not None)

    for seen, line in enumerate(nearest_first(operands(product), operands)):
        if seen >= _MOST_SEEN:
            break
        operand = computation.operand(line) if line.opcode == "reshape" else None
        if operand is not None and _cuts(operand) > _cuts(line):
            return line.name
    return ""


def _cuts(line: Instruction) -> int:
    sharding = parse_sharding(line.attributes.get("sharding", ""))
    return sharding.cuts if sharding is not None else 1
