"""Control dependencies and calls of instructions, and the resulting orders."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from xlareport.hlo.attributes import computation_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import reachable


def callees_first(module: HloModule) -> tuple[Computation, ...] | None:
    """Return the computations that the entry reaches, callees first; None where calls go round."""
    if module.entry is None:
        return ()
    called = {
        computation.name: _called(computation, module.by_name)
        for computation in module.computations
    }
    graph = {name: called[name] for name in reachable([module.entry.name], called.__getitem__)}
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError:
        return None
    return tuple(module.by_name[name] for name in order)


def _called(computation: Computation, known: Mapping[str, Computation]) -> list[str]:
    """Return the callees in a fixed order, because sums of floats depend on it."""
    called = (name for instruction in computation.calling for _, name in instruction.called)
    return sorted({name for name in called if name in known})


def control_predecessors(instruction: Instruction) -> tuple[str, ...]:
    """Return the names in `control-predecessors={...}`, in order."""
    return tuple(computation_names(instruction.attributes.get("control-predecessors", "{}")))


def readers_behind(
    computation: Computation, name: str, passed: Collection[str]
) -> Iterator[Instruction]:
    """Yield what reads a value; in place of readers with an opcode in `passed`, what reads these.

    Those of them that nothing reads, such as a root, are yielded as well.
    """

    def readers(instruction: Instruction) -> tuple[Instruction, ...]:
        return computation.users.get(instruction.name, ())

    def behind(reader: Instruction) -> tuple[Instruction, ...]:
        return readers(reader) if reader.opcode in passed else ()

    for reader in reachable(computation.users.get(name, ()), behind):
        if reader.opcode not in passed or not readers(reader):
            yield reader


def outside_fusions(module: HloModule) -> Iterator[tuple[Computation, Instruction]]:
    """Yield every instruction that is in no fusion, with its computation."""
    fused = {
        name
        for computation in module.computations
        for instruction in computation.calling
        if instruction.opcode == "fusion"
        for _, name in instruction.called
    }
    for computation, instruction in module.placed:
        if computation.name not in fused:
            yield computation, instruction


def fused_opcodes(module: HloModule, instruction: Instruction) -> set[str]:
    """Return the opcodes of what a fusion fused; none of anything else."""
    fused = module.callees(instruction) if instruction.opcode == "fusion" else ()
    return {inner.opcode for computation in fused for inner in computation.instructions}


def called_computations(
    module: HloModule, instructions: Iterable[Instruction], without: Collection[str] = ()
) -> set[str]:
    """Return the names of the module's computations that instructions call, however far down.

    Those of `without` are left out, and what only they call.
    """

    known = module.by_name

    def callees(instructions: Iterable[Instruction]) -> Iterator[str]:
        for instruction in instructions:
            for _, name in instruction.called:
                if name in known and name not in without:
                    yield name

    starts = callees(instructions)
    return {*reachable(starts, lambda name: callees(known[name].calling))}
