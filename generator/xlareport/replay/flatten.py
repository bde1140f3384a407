"""Converts the parameters and results of a program from nested tuples to arrays."""

from collections.abc import Iterator

from msgspec.structs import replace

from xlareport.hlo.shape import Shape, parse_shape
from xlareport.replay.runnable_program import (
    Body,
    Line,
    NotRunnableError,
    RunnableProgram,
    plain_shape,
)


def flatten(program: RunnableProgram) -> None:
    """Convert the entry's parameters and results from nested tuples to arrays."""
    _flatten_parameters(program)
    _flatten_root(program)


def _flatten_parameters(program: RunnableProgram) -> None:
    """Replace each tuple parameter of the entry with one parameter for each array."""
    number = 0
    lines: list[Line] = []
    arrays_of: dict[str, list[Line]] = {}
    for parameter in program.parameters():
        arrays_of[parameter.name] = list(_arrays(parameter, number))
        number += sum(line.opcode == "parameter" for line in arrays_of[parameter.name])
    for line in program.entry.lines:
        lines += arrays_of[line.name] if line.opcode == "parameter" else [line]
    program.entry.lines = lines


def _arrays(line: Line, number: int) -> Iterator[Line]:
    """Yield array parameters numbered from `number`, and the tuples of them."""
    if line.shape.element_type == "token":
        raise NotRunnableError("a parameter is a token")
    if line.shape.element_type != "tuple":
        yield replace(line, argument=str(number))
        return
    names = []
    for place, shape in enumerate(line.shape.elements):
        element = replace(line, name=f"{line.name}.{place}", shape=shape, is_root=False)
        for new in _arrays(element, number):
            number += new.opcode == "parameter"
            yield new
        names.append(element.name)
    yield replace(line, opcode="tuple", operands=tuple(names), argument="", attributes=())


def _flatten_root(program: RunnableProgram) -> None:
    """Let the entry return a flat tuple where it returns nested ones."""
    root = program.entry.find_root()
    if not any(shape.element_type == "tuple" for shape in root.shape.elements):
        return
    program.entry.lines = [replace(line, is_root=False) for line in program.entry.lines]
    names = list(_leaves(program.entry, root.name, root.shape))
    shape = parse_shape(f"({', '.join(plain_shape(leaf) for leaf in _flat(root.shape))})")
    program.entry.lines.append(
        Line(f"{root.name}.flat", "tuple", shape, tuple(names), is_root=True)
    )


def _flat(shape: Shape) -> Iterator[Shape]:
    for element in shape.elements:
        if element.element_type == "tuple":
            yield from _flat(element)
        else:
            yield element


def _leaves(body: Body, name: str, shape: Shape) -> Iterator[str]:
    for place, element in enumerate(shape.elements):
        new = f"{name}.leaf.{place}"
        index = (("index", str(place)),)
        body.lines.append(Line(new, "get-tuple-element", element, (name,), attributes=index))
        if element.element_type == "tuple":
            yield from _leaves(body, new, element)
        else:
            yield new
