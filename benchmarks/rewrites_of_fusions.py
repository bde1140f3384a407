"""Known rewrites of fusions and calls: fusions join others, computations are called or shared."""

import random

from elementwise import SHARE
from program import Body, Line, Program, renamed_operand
from rewrites_of_calls import fuse
from rewriting import new_line, new_parameter, read_instead, tuple_element


def fuse_into_readers(program: Program, chance: random.Random) -> set[int]:
    """Put fusions into the fusion that alone reads them."""
    touched: set[int] = set()
    for body in list(program.bodies):
        for line in _fusions(body):
            reader = _only_reader(body, line)
            if reader is not None and chance.random() < 2 * SHARE:
                touched |= _fuse_into(program, body, line, reader)
    return touched


def _only_reader(body: Body, line: Line) -> Line | None:
    """Return the fusion that reads a fusion once, and nothing else does."""
    readers = [reader for reader in body.lines if line.name in reader.operands]
    again = sum(reader.operands.count(line.name) for reader in readers)
    if again != 1 or readers[0].opcode != "fusion" or line.is_root or line.shape.startswith("("):
        return None
    return readers[0]


def _fuse_into(program: Program, body: Body, line: Line, reader: Line) -> set[int]:
    bodies = {computation.name: computation for computation in program.bodies}
    inner, outer = bodies[line.callees[0]], bodies[reader.callees[0]]
    number = reader.operands.index(line.name)
    lines = _inside(program, inner, len(reader.operands))
    result = next(inside for inside in lines if inside.is_root)
    result.is_root = False
    place = next(inside for inside in outer.lines if _is_parameter(inside, number))
    position = outer.lines.index(place)
    outer.lines[position : position + 1] = lines
    read_instead(outer.lines, {place.name: result.name})
    reader.operands = [*reader.operands, *line.operands]
    _forget_parameter(outer, reader, number)
    body.lines.remove(line)
    program.bodies.remove(inner)
    return {origin for inside in lines for origin in inside.origins}


def fuse_siblings(program: Program, chance: random.Random) -> set[int]:
    """Make one fusion with two outputs of neighboring fusions that read the same."""
    touched: set[int] = set()
    for body in list(program.bodies):
        waiting: dict[str, Line] = {}
        for line in _fusions(body):
            first = next((waiting[name] for name in line.operands if name in waiting), None)
            apt = first is not None and not _between(body, first, line)
            if first is not None and apt and chance.random() < 2 * SHARE:
                touched |= _fuse_both(program, body, first, line)
                waiting.clear()
            else:
                waiting |= dict.fromkeys(line.operands, line)
    return touched


def _between(body: Body, first: Line, last: Line) -> bool:
    """Whether something up to the second reads the first, so that they cannot be one."""
    lines = body.lines[body.lines.index(first) : body.lines.index(last) + 1]
    tuples = first.shape.startswith("(") or last.shape.startswith("(")
    return tuples or first.is_root or any(first.name in between.operands for between in lines)


def _fuse_both(program: Program, body: Body, first: Line, last: Line) -> set[int]:
    bodies = {computation.name: computation for computation in program.bodies}
    inner, outer = bodies[first.callees[0]], bodies[last.callees[0]]
    lines = _inside(program, inner, len(last.operands))
    roots = [next(root for root in some if root.is_root) for some in (lines, outer.lines)]
    for root in roots:
        root.is_root = False
    shape = f"({first.shape}, {last.shape})"
    both = new_line(program, "tuple", shape, [root.name for root in roots])
    both.is_root = True
    outer.lines = [*lines, *outer.lines, both]
    fusion = new_line(program, "fusion", shape, [*last.operands, *first.operands])
    fusion.name, fusion.attributes, fusion.callees = last.name, last.attributes, last.callees
    fusion.origins = (*last.origins, *first.origins)
    outputs = [
        tuple_element(program, fusion.name, number, fused.shape)
        for number, fused in enumerate((first, last))
    ]
    position = body.lines.index(last)
    last.name = program.name("was")
    body.lines[position : position + 1] = [fusion, *outputs]
    outputs[1].is_root = last.is_root
    _read_outputs(body, fusion, {first.name: outputs[0].name, fusion.name: outputs[1].name})
    body.lines.remove(first)
    program.bodies.remove(inner)
    return {origin for inside in (*lines, *outer.lines) for origin in inside.origins}


def _read_outputs(body: Body, fusion: Line, renamed: dict[str, str]) -> None:
    outputs = set(renamed.values())
    for line in body.lines:
        if line is not fusion and line.name not in outputs:
            line.operands = [renamed_operand(name, renamed) for name in line.operands]


def _fusions(body: Body) -> list[Line]:
    return [
        line for line in body.lines if line.opcode == "fusion" and "#" not in str(line.operands)
    ]


def _inside(program: Program, body: Body, first_number: int) -> list[Line]:
    """Return copies of the lines of a computation, whose parameters have later numbers."""
    renamed: dict[str, str] = {}
    lines = []
    for line in body.lines:
        if line.opcode == "parameter":
            made = new_parameter(program, int(line.argument) + first_number, line.shape)
        else:
            made = new_line(program, line.opcode, line.shape, list(line.operands))
            made.name, made.argument = program.name(line.name), line.argument
            made.attributes, made.callees = line.attributes, line.callees
        made.is_root, made.origins = line.is_root, line.origins
        read_instead([made], renamed)
        renamed[line.name] = made.name
        lines.append(made)
    return lines


def _is_parameter(line: Line, number: int) -> bool:
    return line.opcode == "parameter" and line.argument == str(number)


def _forget_parameter(body: Body, caller: Line, number: int) -> None:
    caller.operands.pop(number)
    for line in body.lines:
        if line.opcode == "parameter" and int(line.argument) > number:
            line.argument = str(int(line.argument) - 1)


def outline(program: Program, chance: random.Random) -> set[int]:
    """Put chains of elementwise operations into computations that are called."""
    known = {id(line) for _, line in program.places() if line.opcode == "fusion"}
    touched = fuse(program, chance)
    for _, line in program.places():
        if line.opcode == "fusion" and id(line) not in known:
            line.opcode, line.name = "call", line.name
            line.attributes = f"to_apply=%{line.callees[0]}"
    return touched


def deduplicate(program: Program, chance: random.Random) -> set[int]:
    """Let all callers of computations that are alike call one of them."""
    del chance
    touched: set[int] = set()
    kept: dict[tuple[object, ...], Body] = {}
    gone: dict[str, Body] = {}
    for body in list(program.bodies):
        _call_instead(body, gone)
        same = kept.setdefault(_written(body), body)
        if same is not body and not body.is_entry:
            gone[body.name] = same
            program.bodies.remove(body)
            for line, other in zip(same.lines, body.lines, strict=True):
                line.origins = (*line.origins, *other.origins)
                touched |= set(other.origins)
    return touched


def _call_instead(body: Body, gone: dict[str, Body]) -> None:
    for line in body.lines:
        for name in line.callees:
            if name in gone:
                line.attributes = line.attributes.replace(f"%{name}", f"%{gone[name].name}")
        line.callees = tuple(gone[name].name if name in gone else name for name in line.callees)


def _written(body: Body) -> tuple[object, ...]:
    """Return what a computation is but for names and metadata."""
    numbers = {line.name: str(number) for number, line in enumerate(body.lines)}
    return tuple(
        (
            line.opcode, line.shape, line.argument, line.is_root, line.callees,
            tuple(renamed_operand(name, numbers) for name in line.operands),
            line.attributes.partition("metadata=")[0],
        )
        for line in body.lines
    )  # fmt: skip
