"""The cycles that the TPU compiler estimates for instructions, matched to the final snapshot.

They are in the `backend_config` of a later snapshot, `after_codegen`. Unlike the roofline they
include accesses to on-chip memory, the padding of tiles and latencies, but nothing that is sent.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import NO_CODE, REARRANGEMENTS
from xlareport.knowledge.opcodes import begins_collective

_CYCLES = re.compile(r'"estimated_cycles":"(\d{1,15})"', re.ASCII)
_COVERING = 0.9
"""Share of the FLOPs and transcendentals from which the cycles are those of the module."""


def read_cycles(instruction: Instruction) -> int | None:
    """Return the compiler's estimate for one execution; None where it has none."""
    cycles = _CYCLES.search(instruction.attributes_text)
    return int(cycles[1]) if cycles else None


def add_cycles(cost: ModuleCost, final: HloModule, last: HloModule) -> ModuleCost:
    """Return the costs of the final snapshot with the estimated cycles of the last one.

    An instruction has those of its name, if opcode, shape and operands are the same in both.
    """
    cycles = dict(_match(final, last))
    if not cycles:
        return cost
    instructions = {
        key: replace(instruction, cycles=cycles[key])
        if key in cycles and not instruction.fused
        else instruction
        for key, instruction in cost.instructions.items()
    }
    return replace(cost, instructions=instructions, has_all_cycles=_cover(final, instructions))


def _match(final: HloModule, last: HloModule) -> Iterator[tuple[InstructionKey, int]]:
    for computation in last.computations:
        home = final.by_name.get(computation.name)
        for instruction in computation.instructions if home else ():
            cycles = read_cycles(instruction)
            same = home.by_name.get(instruction.name) if home and cycles is not None else None
            if cycles is not None and same is not None and _agree(same, instruction):
                yield (computation.name, instruction.name), cycles


def _agree(final: Instruction, last: Instruction) -> bool:
    """Return whether the texts of two instructions agree but for attributes."""
    return final is last or (
        final.opcode == last.opcode
        and final.shape.text == last.shape.text
        and final.operand_names == last.operand_names
    )


def _cover(final: HloModule, instructions: Mapping[InstructionKey, InstructionCost]) -> bool:
    """Return whether nearly all arithmetic but that of collectives has cycles."""
    whole = covered = 0
    for (home, name), cost in instructions.items():
        if cost.fused or cost.traffic:
            continue
        if cost.flops is None and final.by_name[home].by_name[name].opcode == "custom-call":
            return False
        work = cost.counted * ((cost.flops or 0) + (cost.transcendentals or 0))
        whole += work
        covered += work if cost.cycles is not None else 0
    return covered >= _COVERING * whole > 0


_SCATTERED = ("scatter", "sort", "gather")
"""Opcodes whose accesses the roofline does not know: it counts bytes, not where they are."""
_CUSTOM = "custom fusion"
_MOVING = NO_CODE | REARRANGEMENTS | {"slice", "dynamic-slice", "dynamic-update-slice"}
_OPAQUE = frozenset({"custom-call", "fusion"})


def list_without_cycles(module: HloModule, cost: ModuleCost) -> tuple[tuple[str, int], ...]:
    """Return scatters, sorts, gathers and custom fusions without cycles, with how many there are.

    A fusion is what it contains. Those that send data or only copy do not count. Nothing is listed
    where the times are not by cycles.
    """
    if not cost.has_all_cycles:
        return ()
    kinds = Counter(
        _kind(module, module.by_name[home].by_name[name])
        for (home, name), own in cost.instructions.items()
        if own.cycles is None and own.counted and not own.fused and not own.traffic
    )
    return tuple((kind, kinds[kind]) for kind in (*_SCATTERED, _CUSTOM) if kinds[kind])


def _kind(module: HloModule, instruction: Instruction) -> str:
    """Return the kind of an instruction whose roofline time says little; empty of others."""
    opcodes = {instruction.opcode}
    if instruction.opcode == "fusion":
        inside = called_computations(module, [instruction])
        opcodes = {line.opcode for name in inside for line in module.by_name[name].instructions}
    scattered = next((kind for kind in _SCATTERED if kind in opcodes), "")
    if any(begins_collective(opcode) for opcode in opcodes):
        return ""
    is_custom = instruction.attributes.get("kind") == "kCustom" and opcodes - _MOVING - _OPAQUE
    return scattered or (_CUSTOM if is_custom else "")
