"""The cost of parts of a program: by scope, Python line, opcode or computation.

All figures of a part cover the same instructions, including those inside fusions: FLOPs are counted
at the instruction that computes; time and bytes accessed of a fusion are divided by estimate.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from msgspec import Struct

from xlareport.analysis.cost.fusion_shares import Shares
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.analysis.source.scopes import CONTROL_FLOW, RECOMPUTED, split_merged, split_path
from xlareport.analysis.source.served_ops import OpShares, main_op, share_out
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.runtime.grouping import common_prefix

GroupKey = Callable[[Computation, Instruction], str]
"""Names the part to which an instruction belongs; empty where that is not known."""
OpKey = Callable[[Computation, Instruction, str], str]
"""The same of an instruction that works for an op, by the op_name of that."""
PartShares = tuple[tuple[str, float], ...]
"""Parts with their shares of an instruction, which add up to 1."""


class CostPart(Struct):
    """The cost of one part in one run of the module, over all executions of its instructions."""

    name: str
    flops: int = 0
    transcendentals: int = 0
    bytes_accessed: int = 0
    instructions: int = 0
    """Without the ends of asynchronous ones."""
    unknown_ops: int = 0
    """Instructions that could not be counted; the figures are at least so much."""
    seconds: float = 0.0
    """The estimated time, by the basis of the module."""


def break_down(
    module: HloModule, cost: ModuleCost, key: GroupKey, shares: Shares
) -> tuple[CostPart, ...]:
    """Sum up the module's cost by a key, those that need most of the roofline time first."""

    def of_instruction(computation: Computation, instruction: Instruction, _: str) -> str:
        return key(computation, instruction)

    return divide_by_op(module, cost, of_instruction, shares, {})


def divide_by_op(
    module: HloModule,
    cost: ModuleCost,
    key: OpKey,
    shares: Shares,
    served: Mapping[InstructionKey, OpShares],
) -> tuple[CostPart, ...]:
    """Sum up the module's cost by the ops that instructions work for, the most time first.

    Instructions without op_name count to the ops whose values they pass on: a combined collective
    to those of its members, by bytes.
    """

    def parts_of(computation: Computation, instruction: Instruction) -> PartShares:
        ops = served.get((computation.name, instruction.name))
        if not ops:
            return ((key(computation, instruction, ""), 1.0),)
        return tuple([(key(computation, instruction, op_name), share) for op_name, share in ops])

    return divide(module, cost, parts_of, shares)


def divide(
    module: HloModule,
    cost: ModuleCost,
    parts_of: Callable[[Computation, Instruction], PartShares],
    shares: Shares,
) -> tuple[CostPart, ...]:
    """Sum up the module's cost by the parts that instructions belong to, the most time first.

    All figures are divided; the instruction itself counts to the largest part.
    """
    parts: dict[str, CostPart] = {}
    for computation, instruction, instruction_cost in cost.placed(module):
        if instruction.opcode == "parameter":
            continue
        place = computation.name, instruction.name
        of_parts = _merged(parts_of(computation, instruction))
        figures = (shares.bytes[place], *_operations(instruction, instruction_cost))
        sizes, flops, transcendentals = [
            share_out(figure, of_parts) if figure else () for figure in figures
        ]
        for number, (name, share) in enumerate(of_parts):
            part = parts.get(name)
            if part is None:
                part = parts[name] = CostPart(name)
            part.seconds += share * shares.seconds[place]
            if sizes:
                part.bytes_accessed += sizes[number]
            if flops:
                part.flops += flops[number]
            if transcendentals:
                part.transcendentals += transcendentals[number]
        _count(parts[main_op(of_parts)], instruction, instruction_cost)
    return tuple(sorted(parts.values(), key=_dearest))


def _merged(part_shares: PartShares) -> PartShares:
    if len(part_shares) == 1:
        return part_shares
    merged: dict[str, float] = {}
    for name, share in part_shares:
        merged[name] = merged.get(name, 0.0) + share
    return tuple(merged.items())


def _dearest(part: CostPart) -> tuple[float, int, int, str]:
    return (-part.seconds, -part.bytes_accessed, -part.flops, part.name)


def key_by_computation(computation: Computation, _: Instruction) -> str:
    """Name the part by the computation."""
    return computation.name


def key_by_scope(depth: int) -> OpKey:
    """Return a key function that names the part by `depth` levels of the framework's scope.

    Levels of control flow are left out: in a loop over layers they would hide all others. Those
    that name no part of a model, such as `jvp()`, do not count.
    """

    @cache  # the instructions of one op have its name
    def scope(op_name: str) -> str:
        op_names = split_merged(op_name)
        paths = list(dict.fromkeys(_first_levels(_levels(op_name), depth) for op_name in op_names))
        if len(paths) == 1:
            return "/".join(paths[0])
        return "/".join((*common_prefix(paths), SEVERAL))

    def key(_: Computation, __: Instruction, op_name: str) -> str:
        return scope(op_name)

    return key


_WITHOUT_NAME = frozenset({"jvp()", "transpose(jvp())", RECOMPUTED})
"""Levels of transformations of what has no named scope."""
SEVERAL = "(several op_names)"
"""The part of instructions whose merged op_names differ, below their common scope."""


@lru_cache(maxsize=1 << 14)  # the instructions of one op have its name
def _levels(op_name: str) -> tuple[str, ...]:
    *levels, last = split_path(op_name)
    return (*(level for level in levels if level not in CONTROL_FLOW), last)


def _first_levels(levels: tuple[str, ...], depth: int) -> tuple[str, ...]:
    """Return the first levels, as many as have a name, and those without one before the last."""
    named = [place for place, level in enumerate(levels) if level not in _WITHOUT_NAME]
    return levels[: named[depth - 1] + 1] if len(named) >= depth else levels


def _operations(instruction: Instruction, cost: InstructionCost) -> tuple[int, int]:
    """Return FLOPs and transcendentals of all runs; those of a fusion count where they are."""
    if instruction.opcode == "fusion":
        return 0, 0
    return (cost.flops or 0) * cost.counted, (cost.transcendentals or 0) * cost.counted


def _count(part: CostPart, instruction: Instruction, cost: InstructionCost) -> None:
    part.instructions += not instruction.opcode.endswith("-done")
    part.unknown_ops += cost.flops is None or cost.bytes_accessed is None
