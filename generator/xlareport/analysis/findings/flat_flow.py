"""The values of a computation with its fusions opened: what is computed of what, and where."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct, field

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.whole_numbers import parse_whole_number

Value: TypeAlias = int | tuple[int, ...]
"""The number of a value, or those of a tuple's elements; none for a tuple in a tuple."""
_DEEPEST = 8
"""Fusions in fusions that are opened."""
_MOST = 1_000_000
"""Limit on values: beyond it fusions stay closed."""


class FlatFlow(Struct, dict=True):
    """Values by their numbers: an operand has a lower number than what is computed of it."""

    lines: list[Instruction] = field(default_factory=list)
    """The instruction that computes each value, in a fusion or by itself."""
    sources: list[tuple[int, ...]] = field(default_factory=list)
    """The operands of each that are no tuples."""
    kernels: list[str] = field(default_factory=list)
    """The instruction of the computation that runs each: the outermost fusion."""
    results: Mapping[str, Value] = field(default_factory=dict)
    """The result of each instruction of the computation."""

    @cached_property
    def users(self) -> Sequence[Sequence[int]]:
        """What is computed of each value directly."""
        users: list[list[int]] = [[] for _ in self.lines]
        for number, sources in enumerate(self.sources):
            for source in sources:
                users[source].append(number)
        return users

    def add(self, line: Instruction, operands: Sequence[Value], kernel: str) -> int:
        """Add a value and return its number."""
        self.lines.append(line)
        self.sources.append(tuple(value for value in operands if isinstance(value, int)))
        self.kernels.append(kernel)
        return len(self.lines) - 1


def flatten(module: HloModule, computation: Computation) -> FlatFlow:
    """Return the values of a computation; those of the loops and calls in it are not opened."""
    flow = FlatFlow()
    flow.results = _open((module, flow), computation, None, "", _DEEPEST)
    return flow


def _open(
    into: tuple[HloModule, FlatFlow],
    home: Computation,
    arguments: Sequence[Value] | None,
    kernel: str,
    deepest: int,
) -> Mapping[str, Value]:
    """Add the values of a computation and return its results; a parameter is the argument."""
    module, flow = into
    values: dict[str, Value] = {}
    if arguments is not None:
        names = [parameter.name for parameter in home.parameters]
        values.update(zip(names, arguments, strict=False))
    for line in home.instructions:
        if line.name in values:
            continue
        operands = [_operand(values, operand) for operand in line.operands]
        inside = module.callee(line) if line.opcode == "fusion" else None
        taken = line.taken_element if line.opcode == "get-tuple-element" else None
        whole = operands[0] if operands else ()
        if line.opcode == "tuple":
            elements = tuple(value for value in operands if isinstance(value, int))
            values[line.name] = elements if len(elements) == len(operands) else ()
        elif taken is not None and isinstance(whole, tuple) and taken < len(whole):
            values[line.name] = whole[taken]
        elif inside is not None and inside.root and deepest and len(flow.lines) < _MOST:
            within = _open(into, inside, operands, kernel or line.name, deepest - 1)
            values[line.name] = within[inside.root.name]
        else:
            values[line.name] = flow.add(line, operands, kernel or line.name)
    return values


def _operand(values: Mapping[str, Value], operand: str) -> Value:
    """Return the value of `x` or of the compact tuple element `x#2`."""
    name, _, path = operand.partition("#")
    value, element = values.get(name, ()), parse_whole_number(path)
    if isinstance(value, int) or element is None:
        return value
    return value[element] if element < len(value) else ()
