"""What instructions wait for besides their operands, and which computations they call."""

from collections.abc import Collection, Iterable, Iterator

from xlareport.hlo.attributes import computation_names
from xlareport.hlo.model import HloModule, Instruction
from xlareport.runtime.graphs import reachable


def control_predecessors(instruction: Instruction) -> tuple[str, ...]:
    """Return the names in `control-predecessors={...}`, in order."""
    return tuple(computation_names(instruction.attributes.get("control-predecessors", "{}")))


def find_fused_computations(module: HloModule) -> frozenset[str]:
    """Return the names of the bodies of fusions: what is inside them runs as one kernel."""
    return frozenset(
        name
        for instruction in module.instructions
        if instruction.opcode == "fusion"
        for _, name in instruction.called
    )


def called_computations(
    module: HloModule, instructions: Iterable[Instruction], without: Collection[str] = ()
) -> set[str]:
    """Return the names of the module's computations that instructions call, however far down.

    Those of `without` are left out, and what only they call.
    """

    def callees(instructions: Iterable[Instruction]) -> Iterator[str]:
        for instruction in instructions:
            yield from (
                name
                for _, name in instruction.called
                if name in module.by_name and name not in without
            )

    starts = callees(instructions)
    return {*reachable(starts, lambda name: callees(module.by_name[name].instructions))}
