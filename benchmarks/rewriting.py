"""How lines of a program are put in the place of others."""

import random
import re
from collections.abc import Callable, Iterable

from elementwise import SHARE
from program import Body, Line, Program, renamed_operand

_SHAPE = re.compile(r"(?P<type>\w+)\[(?P<sizes>[\d,]*)\](?:\{.*\})?")
_METADATA = re.compile(r"metadata=\{[^{}]*\}")


def put(body: Body, line: Line, lines: list[Line]) -> None:
    """Put lines where one stood; the last gives what that gave, to readers and as the result."""
    place = body.lines.index(line)
    body.lines[place : place + 1] = lines
    lines[-1].is_root = line.is_root
    read_instead(body.lines, {line.name: lines[-1].name})


def put_in_place(
    program: Program,
    opcodes: set[str],
    chance: random.Random,
    rewritten: Callable[[Program, Body, Line], list[Line] | None],
) -> set[int]:
    """Put other lines in the place of some instructions of some opcodes."""
    touched: set[int] = set()
    for body in list(program.bodies):
        for line in [line for line in body.lines if line.opcode in opcodes]:
            lines = rewritten(program, body, line) if chance.random() < 2 * SHARE else None
            if lines is not None:
                put(body, line, lines)
                touched |= set(line.origins)
    return touched


def read_instead(lines: Iterable[Line], renamed: dict[str, str]) -> None:
    """Let lines read others under their new names."""
    for line in lines:
        line.operands = [renamed_operand(name, renamed) for name in line.operands]


def new_line(program: Program, opcode: str, shape: str, operands: list[str]) -> Line:
    """Return a new line with a fresh name, without attributes and origins."""
    return Line(program.name(opcode), opcode, shape, operands, "", "", (), is_root=False)


def new_parameter(program: Program, number: int, shape: str) -> Line:
    """Return a new parameter."""
    line = new_line(program, "parameter", shape, [])
    line.argument = str(number)
    return line


def tuple_element(program: Program, name: str, number: int, shape: str) -> Line:
    """Return a new line that takes an element out of a tuple."""
    line = new_line(program, "get-tuple-element", shape, [name])
    line.attributes = f"index={number}"
    return line


def sizes_of(shape: str) -> list[int] | None:
    """Return the sizes of the dimensions of an array, None for a tuple."""
    match = _SHAPE.fullmatch(shape)
    return [int(size) for size in match["sizes"].split(",") if size] if match else None


def shape_like(shape: str, sizes: list[int]) -> str:
    """Return a shape of the same element type with other sizes."""
    return f"{shape.partition('[')[0]}[{','.join(map(str, sizes))}]"


def metadata_of(line: Line) -> str:
    """Return the metadata of an instruction as a further attribute, empty where it has none."""
    match = _METADATA.search(line.attributes)
    return f", {match[0]}" if match else ""
