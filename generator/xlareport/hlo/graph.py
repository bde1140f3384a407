"""Edges: who uses whom in a computation, who calls whom in a module, how deep a use is."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from xlareport.hlo.attributes import computation_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import postorder, reachable


class EdgeKind(StrEnum):
    """Why one instruction comes before another."""

    OPERAND = "operand"
    """Its value is used."""
    CONTROL = "control"
    """It has to run before; no value passes."""


@dataclass(frozen=True, slots=True)
class Edge:
    """From an instruction to one that comes after it, in one computation."""

    source: Instruction
    target: Instruction
    kind: EdgeKind
    number: int
    """Which operand or predecessor of the target, from 0."""


@dataclass(frozen=True, slots=True)
class CallEdge:
    """An instruction that names a computation."""

    caller: Computation
    instruction: Instruction
    attribute: str
    """`to_apply`, `body`, `calls`..."""
    callee: str
    """A name; whether the module has such a computation is for the module to say."""


def control_predecessors(instruction: Instruction) -> tuple[str, ...]:
    """Return the names in `control-predecessors={...}`, in order."""
    return tuple(computation_names(instruction.attributes.get("control-predecessors", "{}")))


def edges(computation: Computation) -> Iterator[Edge]:
    """Yield the edges by their targets, in order; an operand that does not exist gives none."""
    by_name = computation.by_name
    for target in computation.instructions:
        for kind, names in (
            (EdgeKind.OPERAND, target.operand_names),
            (EdgeKind.CONTROL, control_predecessors(target)),
        ):
            for number, name in enumerate(names):
                source = by_name.get(name)
                if source is not None:
                    yield Edge(source, target, kind, number)


def calls(computation: Computation) -> Iterator[CallEdge]:
    """Yield what the instructions of a computation call, in order."""
    for instruction in computation.instructions:
        for attribute, callee in instruction.called:
            yield CallEdge(computation, instruction, attribute, callee)


def callers(module: HloModule) -> Mapping[str, tuple[CallEdge, ...]]:
    """Return who calls each computation, by its name; those that nobody calls are not there."""
    result: dict[str, list[CallEdge]] = {}
    for computation in module.computations:
        for call in calls(computation):
            result.setdefault(call.callee, []).append(call)
    return {name: tuple(several) for name, several in result.items()}


def depths(computation: Computation) -> Mapping[str, int]:
    """Return for each instruction, by name, the most edges on a way to it from one without any.

    Control edges count. In a cycle, which only a broken text has, an edge that goes back is left
    out.
    """
    before: dict[str, list[str]] = {name: [] for name in computation.by_name}
    for edge in edges(computation):
        before[edge.target.name].append(edge.source.name)
    depths: dict[str, int] = {}
    for name in postorder(before, before.__getitem__):
        depths[name] = 1 + max(
            (depths[text] for text in before[name] if text in depths), default=-1
        )
    return depths


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
