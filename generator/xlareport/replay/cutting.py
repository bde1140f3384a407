"""Parts of programs: calls inlined, some instructions kept, their operands as parameters.

Two programs are cut in the same way: at the instructions with equal names and shapes in both.
"""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from xlareport.hlo.shape import parse_shape
from xlareport.replay.runnable_program import (
    Body,
    Line,
    NotRunnableError,
    RunnableProgram,
    plain_shape,
)
from xlareport.runtime.graphs import reachable

_MOST_LINES = 100_000


def inlined(program: RunnableProgram) -> RunnableProgram:
    """Return the program with all calls of its entry inlined; raises NotRunnableError."""
    bodies = {body.name: body for body in program.bodies}
    lines, taken = list(program.entry.lines), {line.name for line in program.entry.lines}
    while any(line.opcode == "call" for line in lines):
        if len(lines) > _MOST_LINES:
            raise NotRunnableError(f"it has more than {_MOST_LINES:,} lines with calls inlined")
        lines = [
            new
            for line in lines
            for new in (_inlined_call(line, bodies, taken) if line.opcode == "call" else [line])
        ]
    entry = Body(program.entry.name, lines, is_entry=True)
    return reachable_part(RunnableProgram([*program.bodies, entry]), entry)


def _inlined_call(call: Line, bodies: dict[str, Body], taken: set[str]) -> list[Line]:
    body = bodies[dict(call.attributes)["to_apply"].removeprefix("%")]
    root = body.find_root()
    names: dict[str, str] = {}
    for line in body.lines:
        if line.opcode == "parameter":
            names[line.name] = call.operands[int(line.argument)]
        elif line is root:
            names[line.name] = call.name
        else:
            names[line.name] = _free_name(line.name, taken)
    lines = [
        replace(
            line,
            name=names[line.name],
            operands=tuple(names[operand] for operand in line.operands),
            is_root=call.is_root and line is root,
        )
        for line in body.lines
        if line.opcode != "parameter"
    ]
    if root.opcode == "parameter":
        passed = (call.operands[int(root.argument)],)
        copy = replace(call, opcode="copy", operands=passed, attributes=())
        lines.append(copy)
    return lines


def _free_name(name: str, taken: set[str]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}.inlined{number}"
    taken.add(free)
    return free


def reachable_part(program: RunnableProgram, entry: Body) -> RunnableProgram:
    """Return a program with another entry and the computations that it reaches, callees first."""
    bodies = {body.name: body for body in program.bodies if not body.is_entry}
    every = bodies | {entry.name: entry}
    wanted = {*reachable([entry.name], lambda name: filter(bodies.get, _called(every[name])))}
    called = [body for body in bodies.values() if body.name in wanted and body.name != entry.name]
    return RunnableProgram([*called, replace(entry, is_entry=True)])


def _called(body: Body) -> list[str]:
    return [name for line in body.lines for name in line.callees()]


def shared_names(programs: Sequence[RunnableProgram]) -> list[str]:
    """Return the instructions that all programs have under one name and shape, in their order.

    Parameters are left out: they are never cut.
    """
    shapes = [
        {line.name: plain_shape(line.shape) for line in program.entry.lines} for program in programs
    ]
    return [
        line.name
        for line in programs[0].entry.lines
        if line.opcode not in {"parameter", "tuple"}
        and all(other.get(line.name) == shapes[0][line.name] for other in shapes)
    ]


def cut(
    programs: Sequence[RunnableProgram], kept: Collection[str], shared: Collection[str]
) -> list[RunnableProgram]:
    """Return the programs with only these of the shared instructions; the others become inputs.

    Kept instructions without kept users are the results. Instructions of one program alone stay if
    kept ones need them. Raises NotRunnableError if nothing is left.
    """
    sinks = _sinks(programs, kept)
    if not sinks:
        raise NotRunnableError("nothing is left of it")
    parts = [_needed_lines(program, sinks, kept, shared) for program in programs]
    fed = list(dict.fromkeys(name for _, names in parts for name in names))
    numbers = {name: place for place, name in enumerate(fed)}
    shapes = {line.name: line.shape for program in programs for line in program.entry.lines}
    results = []
    for program, (lines, _) in zip(programs, parts, strict=True):
        given = [
            Line(name, "parameter", shapes[name], (), str(place)) for name, place in numbers.items()
        ]
        text = ", ".join(plain_shape(shapes[name]) for name in sinks)
        root = Line("result", "tuple", parse_shape(f"({text})"), tuple(sinks), is_root=True)
        entry = Body(program.entry.name, [*given, *lines, root], is_entry=True)
        results.append(reachable_part(program, entry))
    return results


def _sinks(programs: Sequence[RunnableProgram], kept: Collection[str]) -> list[str]:
    """Return the kept instructions that no kept one of the first program reads."""
    lines = [line for line in programs[0].entry.lines if line.name in kept]
    read = {operand for line in lines for operand in line.operands}
    return [line.name for line in lines if line.name not in read]


def _needed_lines(
    program: RunnableProgram,
    sinks: Sequence[str],
    kept: Collection[str],
    shared: Collection[str],
) -> tuple[list[Line], list[str]]:
    """Return the lines that the sinks need, and the names of what feeds them."""
    by_name = {line.name: line for line in program.entry.lines}

    def is_given(name: str) -> bool:
        return by_name[name].opcode == "parameter" or (name in shared and name not in kept)

    needed = {*reachable(sinks, lambda name: () if is_given(name) else by_name[name].operands)}
    fed = {name for name in needed if is_given(name)}
    lines = [
        replace(line, is_root=False)
        for line in program.entry.lines
        if line.name in needed and line.name not in fed
    ]
    order = {line.name: place for place, line in enumerate(program.entry.lines)}
    return lines, sorted(fed, key=lambda name: order[name])
