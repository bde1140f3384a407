"""A program to run: the computations of a snapshot as lines that can be changed and written."""

import re
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.hlo.attributes import CALLING, computation_names
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.replay.placement import Placement
from xlareport.runtime.graphs import postorder

_FLOATS = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "float32",
    "c128": "float64",
}
NUMPY_NAMES = {
    "pred": "bool",
    "bf16": "bfloat16",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "c64": "complex64",
    "c128": "complex128",
    "s4": "int4",
    "u4": "uint4",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}
"""Types of arrays that inputs can have, by numpy's names."""
_NAME = re.compile(r"[A-Za-z_][\w.\-]{0,400}", re.ASCII)


class NotRunnableError(Exception):
    """A snapshot cannot be run on the CPU without changing its result; the message says why."""


class Line(Struct, frozen=True):
    """An instruction of a program; its shape and its attributes have no layouts."""

    name: str
    opcode: str
    shape: Shape
    """As in the snapshot, with its layout: bitcasts depend on it."""
    operands: tuple[str, ...]
    argument: str = ""
    """The text in parentheses if it is no operand."""
    attributes: tuple[tuple[str, str], ...] = ()
    is_root: bool = False

    @property
    def call_target(self) -> str:
        """The `custom_call_target` without quotes; empty where there is none."""
        return dict(self.attributes).get("custom_call_target", "").strip('"')

    def callees(self) -> list[str]:
        """Return the names of the computations that it calls, in order."""
        return [
            name
            for key, value in self.attributes
            if key in CALLING
            for name in computation_names(value)
        ]

    def without(self, names: Collection[str]) -> "Line":
        """Return the line without attributes of these names."""
        attributes = tuple((name, value) for name, value in self.attributes if name not in names)
        return replace(self, attributes=attributes)

    def text(self) -> str:
        """Return the line as HLO text."""
        given = ", ".join(f"%{operand}" for operand in self.operands)
        attributes = "".join(f", {name}={value}" for name, value in self.attributes)
        head = "ROOT " if self.is_root else ""
        shape = plain_shape(self.shape)
        return f"{head}%{self.name} = {shape} {self.opcode}({given or self.argument}){attributes}"


class Body(Struct):
    """A computation of a program."""

    name: str
    lines: list[Line]
    is_entry: bool = False

    def find_root(self) -> Line:
        """Return the line marked ROOT, else the last one."""
        return next((line for line in self.lines if line.is_root), self.lines[-1])


class RunnableProgram(Struct):
    """A module as it is run, callees first."""

    bodies: list[Body]
    changes: dict[str, int] = field(default_factory=dict)
    """The number of rewrites, by a sentence that describes them."""
    placement: Placement | None = None
    """Of a program of several devices."""

    @property
    def entry(self) -> Body:
        """The entry computation."""
        return next(body for body in self.bodies if body.is_entry)

    @property
    def line_count(self) -> int:
        """Lines of all computations."""
        return sum(len(body.lines) for body in self.bodies)

    def parameters(self) -> list[Line]:
        """Return the parameters of the entry computation, by number."""
        lines = [line for line in self.entry.lines if line.opcode == "parameter"]
        return sorted(lines, key=lambda line: int(line.argument))

    def text(self) -> str:
        """Return the program as the HLO text of a module."""
        devices = f", replica_count={self.devices}" if self.placement is not None else ""
        return "\n\n".join([f"HloModule replayed{devices}", *map(_body_text, self.bodies)]) + "\n"

    @property
    def devices(self) -> int:
        """The number of devices that run the program."""
        return 1 if self.placement is None else self.placement.devices

    def inputs(self) -> list[tuple[str, tuple[int, ...]]]:
        """Return element type and dimensions of each input, over all devices."""
        lines = self.parameters()
        placed = self.placement.parameters if self.placement is not None else None
        sizes = (
            [sharding.dimensions for sharding in placed]
            if placed is not None
            else [tuple(size or 0 for size in line.shape.dimensions) for line in lines]
        )
        return [(line.shape.element_type, size) for line, size in zip(lines, sizes, strict=True)]

    def float_types(self) -> list[str]:
        """Return the float types of its instructions, by numpy's names; parts of complex ones."""
        types = {line.shape.element_type for body in self.bodies for line in body.lines}
        return sorted({_FLOATS[kind] for kind in types if kind in _FLOATS})

    def note(self, change: str) -> None:
        """Count a rewriting."""
        self.changes[change] = self.changes.get(change, 0) + 1


def _body_text(body: Body) -> str:
    lines = "".join(f"  {line.text()}\n" for line in body.lines)
    return f"{'ENTRY ' if body.is_entry else ''}%{body.name} {{\n{lines}}}"


def plain_shape(shape: Shape) -> str:
    """Return the text of a shape without layouts."""
    if shape.element_type == "tuple":
        return f"({', '.join(map(plain_shape, shape.elements))})"
    if shape.element_type == "buffer":
        raise NotRunnableError("it has values of type buffer")
    if None in shape.dimensions or "<=" in shape.text:
        raise NotRunnableError("it has dynamic shapes")
    return f"{shape.element_type}[{','.join(map(str, shape.dimensions))}]"


def take_program(module: HloModule) -> RunnableProgram:
    """Return the computations reachable from the entry, callees first; raises NotRunnableError."""
    if module.entry is None or module.entry.root is None:
        raise NotRunnableError("it has no entry computation")
    bodies = [
        Body(name, list(_program_lines(module, name)), is_entry=name == module.entry.name)
        for name in _callees_first(module, module.entry.name)
    ]
    for body in bodies:
        for name in (body.name, *(line.name for line in body.lines)):
            if not _NAME.fullmatch(name):
                raise NotRunnableError(f"{name[:60]!r} is no name that XLA reads")
    return RunnableProgram(bodies)


def _callees_first(module: HloModule, start: str) -> Iterator[str]:
    """Yield a computation and what it calls, callees first; raises NotRunnableError."""

    def callees(name: str) -> Iterator[str]:
        called = (callee for line in module.by_name[name].instructions for _, callee in line.called)
        for callee in reversed([*dict.fromkeys(called)]):
            if callee not in module.by_name:
                raise NotRunnableError(f"the computation {callee} is missing")
            yield callee

    if callees_first(module) is None:
        raise NotRunnableError("its calls go round")
    return postorder([start], callees)


def _program_lines(module: HloModule, name: str) -> Iterator[Line]:
    computation = module.by_name[name]
    by_name = computation.by_name
    elements: dict[str, None] = {}
    for instruction in computation.instructions:
        for operand in instruction.operands:
            if operand.partition("#")[0] not in by_name:
                raise NotRunnableError(f"the operand {operand} of {instruction.name} is missing")
            if "#" in operand and operand not in elements:
                elements[operand] = None
                yield _element_line(by_name, operand)
        yield replace(_program_line(instruction), is_root=instruction is computation.root)


def _element_line(known: Mapping[str, Instruction], operand: str) -> Line:
    """Return the get-tuple-element that a compact operand such as `while.6#1` represents."""
    name, *places = operand.split("#")
    shape = known[name].shape
    if len(places) != 1 or not places[0].isdigit() or int(places[0]) >= len(shape.elements):
        raise NotRunnableError(f"the operand {operand} is no element of a tuple")
    return Line(
        element_name(operand),
        "get-tuple-element",
        shape.elements[int(places[0])],
        (name,),
        attributes=(("index", places[0]),),
    )


def element_name(operand: str) -> str:
    """Return the name of the line that represents a compact operand."""
    return operand.replace("#", ".element.")


def _program_line(instruction: Instruction) -> Line:
    attributes = tuple((name, value) for name, value in instruction.attributes.items())
    operands = tuple(element_name(operand) for operand in instruction.operands)
    argument = "" if operands else instruction.argument
    return Line(
        instruction.name, instruction.opcode, instruction.shape, operands, argument, attributes
    )
