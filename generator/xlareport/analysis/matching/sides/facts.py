"""Facts of computations and modules, cached as long as these exist."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import reachable
from xlareport.runtime.remembered import remembered

TRANSPARENT = frozenset({"call", "fusion"})
"""Opcodes whose result is the root of the called computation, their operands its parameters."""

_CALLING = frozenset(
    {
        "all-reduce",
        "all-reduce-start",
        "async-done",
        "async-start",
        "async-update",
        "call",
        "conditional",
        "custom-call",
        "fusion",
        "map",
        "reduce",
        "reduce-scatter",
        "reduce-window",
        "scan",
        "scatter",
        "select-and-scatter",
        "sort",
        "topk",
        "while",
    }
)


class Call(Struct, frozen=True):
    """A reference from an instruction to a computation."""

    instruction: Instruction
    attribute: str
    callee: str


Literal = tuple[str, str]
"""An opcode and its argument text; constants with equal values have the same literal."""


def literal_of(line: Instruction) -> Literal:
    """Return the literal of an instruction without operands."""
    return (line.opcode, line.argument)


def dimension_numbers(line: Instruction) -> list[int]:
    """Return the numbers in an instruction's attribute `dimensions`, which may be any text."""
    return [int(number) for number in re.findall(r"\d{1,9}", line.attributes.get("dimensions", ""))]


class ComputationFacts(Struct, frozen=True):
    """Facts that follow from a computation alone."""

    calls: tuple[Call, ...]
    opcodes: tuple[str, ...]
    constants: Mapping[Literal, Sequence[Instruction]]
    """Instructions without operands that are no parameters, by their literals."""


@remembered
def facts_of(computation: Computation) -> ComputationFacts:
    """Return the facts of a computation."""
    lines = computation.instructions
    return ComputationFacts(
        calls=tuple(_calls(lines)),
        opcodes=tuple(line.opcode for line in lines),
        constants=_constants(lines),
    )


def callees_of(line: Instruction) -> tuple[str, ...]:
    """Return the names of the computations that an instruction calls."""
    return tuple([callee for _, callee in line.called]) if line.opcode in _CALLING else ()


def called_by(module: HloModule, name: str) -> Iterator[str]:
    """Yield the computations of a module that a computation of it calls."""
    for call in facts_of(module.by_name[name]).calls:
        if call.callee in module.by_name:
            yield call.callee


@remembered
def holders_of(module: HloModule) -> Mapping[str, Instruction]:
    """Return the first instruction that calls each computation, by name."""
    calls = [call for computation in module.computations for call in facts_of(computation).calls]
    return {call.callee: call.instruction for call in reversed(calls)}


@remembered
def live_computations(module: HloModule) -> AbstractSet[str]:
    """Return the names of the entry computation and of all that it calls, directly or not.

    All computations are live in a module without an entry.
    """
    if module.entry is None:
        return module.by_name.keys()
    return frozenset(reachable([module.entry.name], partial(called_by, module)))


@remembered
def homes_of(module: HloModule) -> Mapping[str, str]:
    """Return the name of the computation that first calls each computation, by name."""
    return {
        call.callee: computation.name
        for computation in reversed(module.computations)
        for call in reversed(facts_of(computation).calls)
    }


@remembered
def called_once(module: HloModule) -> Collection[str]:
    """Return the names of the computations that one instruction alone calls."""
    calls = Counter(
        call.callee for computation in module.computations for call in facts_of(computation).calls
    )
    return {name for name, count in calls.items() if count == 1}


def _constants(lines: tuple[Instruction, ...]) -> dict[Literal, list[Instruction]]:
    instructions: dict[Literal, list[Instruction]] = {}
    for line in lines:
        if not line.operands and line.opcode != "parameter":
            instructions.setdefault(literal_of(line), []).append(line)
    return instructions


def _calls(lines: tuple[Instruction, ...]) -> list[Call]:
    calls = []
    for line in lines:
        if line.opcode in _CALLING:
            calls += [Call(line, attribute, callee) for attribute, callee in line.called]
    return calls
