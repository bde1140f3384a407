"""A module that can be rewritten: its lines remember which lines of the original they go on."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from xlareport.hlo.model import Computation, HloModule
from xlareport.hlo.text import TextReader


@dataclass(eq=False)
class Line:
    """An instruction that can be changed."""

    name: str
    opcode: str
    shape: str
    operands: list[str]
    argument: str
    attributes: str
    callees: tuple[str, ...]
    is_root: bool
    origins: tuple[int, ...] = ()
    """The numbers of the original lines that it goes on or does the work of."""

    def print(self, callees: Mapping[str, str]) -> str:
        """Return the line as XLA writes it."""
        inside = ", ".join(f"%{name}" for name in self.operands) or self.argument
        attributes = self.attributes
        for name in self.callees:
            attributes = re.sub(
                rf"(?<![\w.%-])%?{re.escape(name)}(?![\w.-])",
                f"%{callees.get(name, name)}",
                attributes,
            )
        tail = f", {attributes}" if attributes else ""
        root = "ROOT " if self.is_root else ""
        return f"  {root}%{self.name} = {self.shape} {self.opcode}({inside}){tail}"


@dataclass(eq=False)
class Body:
    """A computation that can be changed."""

    name: str
    lines: list[Line]
    is_entry: bool

    def users(self) -> dict[str, list[Line]]:
        """Return who reads what."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            for name in dict.fromkeys(operand.partition("#")[0] for operand in line.operands):
                found.setdefault(name, []).append(line)
        return found

    def by_name(self) -> dict[str, Line]:
        """Return the lines by name."""
        return {line.name: line for line in self.lines}

    def print(self, callees: Mapping[str, str]) -> str:
        """Return the computation as XLA writes it."""
        parameters = sorted(
            (line for line in self.lines if line.opcode == "parameter"),
            key=lambda line: int(line.argument),
        )
        root = next((line for line in self.lines if line.is_root), self.lines[-1])
        signature = ", ".join(f"{line.name}: {line.shape}" for line in parameters)
        entry = "ENTRY " if self.is_entry else ""
        lines = "\n".join(line.print(callees) for line in self.lines)
        return f"{entry}%{self.name} ({signature}) -> {root.shape} {{\n{lines}\n}}\n"


@dataclass
class Program:
    """A module that can be changed."""

    header: str
    bodies: list[Body]
    fresh: int = 0
    renamed: dict[str, str] = field(default_factory=dict)
    """New names of computations, for the lines that call them."""

    def print(self) -> str:
        """Return the module as HLO text."""
        return f"HloModule {self.header}\n\n" + "\n".join(
            body.print(self.renamed) for body in self.bodies
        )

    def read(self, reader: TextReader) -> HloModule:
        """Return the module as the report reads it."""
        parsed = reader.read(self.print().encode(), "synthetic")
        if parsed is None:
            raise ValueError("The rewritten module cannot be read.")
        return parsed

    def copy(self) -> "Program":
        """Return a copy to rewrite; its lines go on those of this one."""
        bodies = [
            Body(
                body.name,
                [replace(line, operands=list(line.operands)) for line in body.lines],
                body.is_entry,
            )
            for body in self.bodies
        ]
        return Program(self.header, bodies)

    def name(self, base: str) -> str:
        """Return a name that is not yet there."""
        self.fresh += 1
        return f"{base}.n{self.fresh}"

    def places(self) -> Iterator[tuple[Body, Line]]:
        """Yield every line with its computation."""
        for body in self.bodies:
            for line in body.lines:
                yield body, line


def program_of(module: HloModule) -> Program:
    """Return a module as a program; lines are numbered in order."""
    numbers = iter(range(module.instruction_count))
    bodies = [_body(computation, numbers, module) for computation in module.computations]
    name = re.match(r"[\w.\-]+", module.name)
    header = f"{name[0] if name else 'module'}"
    return Program(header, bodies)


def _body(computation: Computation, numbers: Iterator[int], module: HloModule) -> Body:
    lines = [
        Line(
            name=instruction.name,
            opcode=instruction.opcode,
            shape=instruction.shape.text,
            operands=list(instruction.operands),
            argument=instruction.argument,
            attributes=instruction.attributes_text,
            callees=tuple(name for _, name in instruction.called),
            is_root=instruction is computation.root,
            origins=(next(numbers),),
        )
        for instruction in computation.instructions
    ]
    return Body(computation.name, lines, computation is module.entry)


def renamed_operand(operand: str, renamed: dict[str, str]) -> str:
    """Return an operand, perhaps an element of a tuple, under its new name."""
    name, mark, element = operand.partition("#")
    return f"{renamed.get(name, name)}{mark}{element}"
