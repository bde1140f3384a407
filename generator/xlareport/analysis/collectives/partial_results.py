"""The op whose partial results a collective combines, and why they are partial."""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod

from msgspec import Struct

from xlareport.analysis.collectives.partitioning import MOVES, Counterpart, PartitioningStep
from xlareport.analysis.collectives.sharding_effect import cuts_along
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.cost.wire import KINDS, group_size
from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import CONTRACTIONS
from xlareport.runtime.graphs import nearest_first

PART_OF_OPERANDS = "each device has a part of its operands"
_COMBINABLE = CONTRACTIONS | {
    *("reduce", "gather", "scatter", "reduce-window", "select-and-scatter")
}
"""Opcodes of which each device can have a partial result."""
_READ_THROUGH = MOVES | {*KINDS, "get-tuple-element", "select"}
"""Opcodes between an op and a collective. The partitioner masks with a select what a device does
not hold, and reduces over one mesh axis after the other.
"""
_MOST_LINES = 2_000
_Line = tuple[Computation, Instruction, int | None]
"""A value: an instruction in its computation, and the element where only that is read."""


class PartialOp(Struct, frozen=True):
    """An instruction of the partitioned snapshot, each device's result of which is partial."""

    home: Computation
    instruction: Instruction

    def counterpart(self, step: PartitioningStep) -> Counterpart | None:
        """Return the same op before partitioning, where the matching has it."""
        counterpart = step.counterpart(self.home, self.instruction)
        if counterpart is None or _family(counterpart.instruction) != _family(self.instruction):
            return None
        return counterpart

    def count_cuts(self, known: Counterpart, group: int | None) -> int:
        """Return into how many shards the contracted or reduced dimensions are split; 1 if unsplit.

        The whole must be as many times larger as the collective has devices in a group.
        """
        whole, part = _combined(known.home, known.instruction), _combined(*self._place)
        return group if group and whole and part and whole == part * group else 1

    @property
    def _place(self) -> tuple[Computation, Instruction]:
        return self.home, self.instruction


def find_partial_op(module: HloModule, home: Computation, body: Instruction) -> PartialOp | None:
    """Return the op under the op_name of a collective that computes its first operand.

    Fusions are looked into. An op behind another one that computes is not taken.
    """
    value = home.operand(body)
    if value is None:
        return None
    single = len(body.operand_names) == 1
    op_name = (body.metadata.op_name if single else "") or op_name_of(value, module)
    start: _Line = (home, value, None)
    lines = nearest_first([start], lambda at: _before(module, at, is_inside=at[0] is not home))
    for place, line, _ in islice(lines, _MOST_LINES):
        if line.opcode in _COMBINABLE and op_name in ("", line.metadata.op_name):
            return PartialOp(place, line)
    return None


def size_of_group(module: HloModule, body: Instruction) -> int | None:
    """Return the number of devices that combine their results."""
    return group_size(module, body.opcode.removesuffix("-start"), body)[0]


def _before(module: HloModule, at: _Line, *, is_inside: bool) -> Iterator[_Line]:
    """Yield the sources of a value: the root of a fusion, the operands of other instructions."""
    place, line, element = at
    if line.opcode == "fusion" and line.called:
        fused = module.callee(line)
        root = fused.root if fused else None
        if fused is not None and root is not None:
            yield from _elements(fused, root, element)
    elif line.opcode in _READ_THROUGH or is_inside:
        number = line.taken_element
        operands = place.operands(line)
        yield from ((place, operand, number) for operand in operands if operand is not None)


def _elements(fused: Computation, root: Instruction, element: int | None) -> Iterator[_Line]:
    names = root.operand_names
    if root.opcode != "tuple":
        yield fused, root, None
    elif element is not None and element < len(names) and names[element] in fused.by_name:
        yield fused, fused.by_name[names[element]], None


def _family(line: Instruction) -> str:
    return "contraction" if line.opcode in CONTRACTIONS else line.opcode


def _combined(home: Computation, op: Instruction) -> int | None:
    """Return how many elements an op adds up or reduces to one; None if that is not known."""
    operands = [home.by_name.get(name) for name in op.operand_names[:2]]
    sizes = [operand.shape.dimensions if operand else () for operand in operands]
    try:
        if op.opcode == "dot":
            return _product(sizes[0], parse_integers(op.attributes["lhs_contracting_dims"]))
        if op.opcode == "reduce":
            return _product(sizes[0], parse_integers(op.attributes["dimensions"]))
        if op.opcode == "convolution":
            right = op.attributes.get("dim_labels", "").partition("_")[2].partition("-")[0]
            return _product(sizes[1], [at for at, label in enumerate(right) if label != "o"])
    except (IndexError, KeyError, UncountableError):
        pass
    return None


def _product(sizes: tuple[int | None, ...], numbers: list[int] | tuple[int, ...]) -> int | None:
    factors = [sizes[number] for number in numbers]
    known_factors = [size for size in factors if size is not None]
    return prod(known_factors) if len(known_factors) == len(factors) else None


def contracted_cuts(op: Instruction, shardings: Sequence[str]) -> Sequence[int]:
    """Return the number of shards of each operand of a product along contracted dimensions."""
    if op.opcode == "convolution":
        labels = op.attributes.get("dim_labels", "")
        left, _, rest = labels.partition("_")
        right = rest.partition("-")[0]
        dimensions = [[left.find("f")], [right.find("i")]]
        spatial = [[n for n, c in enumerate(side) if c.isdigit()] for side in (left, right)]
        dimensions = [numbers + more for numbers, more in zip(dimensions, spatial, strict=True)]
    else:
        names = ("lhs_contracting_dims", "rhs_contracting_dims")
        dimensions = [list(parse_integers(op.attributes.get(name, ""))) for name in names]
    cuts = [
        cuts_along(sharding, numbers)
        for sharding, numbers in zip(shardings[:2], dimensions, strict=False)
    ]
    return (1, *cuts)


def part_of(step: PartitioningStep, home: Computation, op: Instruction) -> str:
    """Return which operand is sharded so that each device has a part of the result.

    A scatter into shards needs no sum over devices: where there is one, its updates are sharded.
    """
    operands = [operand for operand in home.operands(op) if operand is not None]
    shardings = [step.sharding(operand) for operand in operands]
    if op.opcode == "scatter" and shardings:
        windows = _attribute_integers(op, "update_window_dims")
        rank = len(operands[-1].shape.dimensions)
        added = [number for number in range(rank) if number not in windows]
        cuts = cuts_along(shardings[-1], added)
        return f"its updates are sharded in {cuts:,}" if cuts > 1 else PART_OF_OPERANDS
    if op.opcode == "gather" and shardings:
        cuts = cuts_along(shardings[0], _attribute_integers(op, "start_index_map"))
        if cuts > 1:
            return f"its operand is sharded in {cuts:,} along the dimensions that it indexes"
    return PART_OF_OPERANDS


def _attribute_integers(op: Instruction, attribute: str) -> list[int]:
    try:
        return list(parse_integers(op.attributes.get(attribute, "")))
    except UncountableError:
        return []
