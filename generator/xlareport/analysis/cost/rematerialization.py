"""What is computed again instead of being kept: by XLA, or because the framework asked for it."""

import re
from dataclasses import dataclass

from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.hlo.model import HloModule, Instruction

_BY_XLA = re.compile(r"\.remat(?:\d{0,9}|_(?:un)?compressed)(?=\.|\Z)")
_BY_FRAMEWORK = "rematted_computation"
"""What jax.checkpoint writes into the scope of what it computes again."""


@dataclass(frozen=True, slots=True)
class Rematerialized:
    """One instruction that does again what was done before, to save memory."""

    computation: str
    instruction: str
    by: str
    """`XLA`, or `the framework` where the program asked for it."""
    original: str
    """What it repeats, where that is still in the module; else empty."""
    cost: InstructionCost


def find_rematerialized(module: HloModule, cost: ModuleCost) -> tuple[Rematerialized, ...]:
    """Return what is computed again, in the order of the module; fused parts on their own."""
    found_rematerialized = []
    for computation in module.computations:
        for instruction in computation.instructions:
            known = cost.instructions.get((computation.name, instruction.name))
            by = _by(instruction)
            if (
                known is not None
                and by
                and instruction.opcode not in ("parameter", "get-tuple-element")
            ):
                original = _BY_XLA.sub("", instruction.name)
                there = by == "XLA" and original in computation.by_name
                found_rematerialized.append(
                    Rematerialized(
                        computation.name, instruction.name, by, original if there else "", known
                    )
                )
    return tuple(found_rematerialized)


def count_recomputed(module: HloModule, cost: ModuleCost) -> int:
    """Return the flops of one run that repeat others, at least; what is inside of fusions included.

    In a fusion that XLA repeats, as its name says, all of it counts.
    """
    repeated = {
        name
        for computation in module.computations
        for instruction in computation.instructions
        if instruction.opcode == "fusion" and _by(instruction) == "XLA"
        for _, name in instruction.called
    }
    flops = 0
    for computation in module.computations:
        for instruction in computation.instructions:
            known = cost.instructions.get((computation.name, instruction.name))
            if known is None or instruction.opcode == "fusion":
                continue
            if computation.name in repeated or _by(instruction):
                flops += known.of_all_runs(known.flops) or 0
    return flops


def _by(instruction: Instruction) -> str:
    if _BY_XLA.search(instruction.name):
        return "XLA"
    return "the framework" if _BY_FRAMEWORK in instruction.metadata.op_name else ""
