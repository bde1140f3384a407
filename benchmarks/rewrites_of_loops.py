"""Known rewrites of loops: smaller, peeled, unrolled, split, and with code moved out of them."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from elementwise import ELEMENTWISE
from program import Body, Line, Program, renamed_operand
from rewrites_of_calls import cloned
from rewriting import new_line, put, tuple_element

_MOST_MOVED = 4
"""Instructions moved out of one loop."""


@dataclass
class _Loop:
    """A loop that begins with a tuple, and whose body and condition only it calls."""

    home: Body
    line: Line
    start: Line
    body: Body
    condition: Body

    @property
    def result(self) -> Line:
        """Return the tuple at the end of the body."""
        return next(line for line in self.body.lines if line.is_root)

    def values(self, body: Body) -> dict[str, int]:
        """Return how the body or condition names elements of the state, with their numbers."""
        return _values(body, _state(body))

    def results(self) -> dict[str, int]:
        """Return how elements of what the loop gives are named, with their numbers."""
        return _values(self.home, self.line)

    def tuples(self) -> tuple[tuple[Body, Line], ...]:
        """Return every tuple of the state that elements are taken out of, with its computation."""
        return (
            (self.body, _state(self.body)),
            (self.condition, _state(self.condition)),
            (self.home, self.line),
        )


def _values(body: Body, state: Line) -> dict[str, int]:
    """Return the names of the elements of a tuple; newer texts write `state#3` for the fourth."""
    taken = {line.name: _index(line) for line in body.lines if line.operands == [state.name]}
    read = {name for line in body.lines for name in line.operands}
    short = (name for name in read if name.startswith(f"{state.name}#"))
    return taken | {name: int(name.rpartition("#")[2]) for name in short}


def shrink_loops(program: Program, chance: random.Random) -> set[int]:
    """Drop elements of the state that no iteration changes, if constants can stand for them."""
    del chance
    touched: set[int] = set()
    for loop in list(_loops(program)):
        for number in reversed(range(len(loop.start.operands))):
            if len(loop.start.operands) > 1 and _is_idle(loop, number):
                touched |= _drop(program, loop, number)
    return touched


def _is_idle(loop: _Loop, number: int) -> bool:
    values = loop.values(loop.body)
    passed = values.get(loop.result.operands[number]) == number
    source = loop.home.by_name().get(loop.start.operands[number])
    known = source is not None and source.opcode == "constant"
    inside = {name for name, place in values.items() if place == number}
    reads = sum(name in inside for line in loop.body.lines for name in line.operands)
    return passed and (known or reads == 1)


def _drop(program: Program, loop: _Loop, number: int) -> set[int]:
    """Drop an element; what read it reads the constant that the loop began with."""
    name = loop.start.operands.pop(number)
    source = loop.home.by_name().get(name)
    loop.result.operands.pop(number)
    for body, state in loop.tuples():
        reads = _values(body, state)
        here = name
        if body is not loop.home and number in reads.values() and source is not None:
            constant = new_line(program, source.opcode, source.shape, list(source.operands))
            constant.argument, constant.attributes = source.argument, source.attributes
            constant.origins = source.origins
            body.lines.insert(0, constant)
            here = constant.name
        _renumber(body, state, number, here)
    parts = _parts(loop.line.shape)
    _reshape(loop, [*parts[:number], *parts[number + 1 :]])
    return {*loop.line.origins, *loop.start.origins, *loop.result.origins}


def _renumber(body: Body, state: Line, gone: int, instead: str) -> None:
    """Let the elements after one have numbers less by one, and readers of that read another."""
    renamed = {}
    for name, number in _values(body, state).items():
        if "#" in name:
            renamed[name] = (
                instead if number == gone else f"{state.name}#{number - (number > gone)}"
            )
        elif number == gone:
            renamed[name] = instead
            body.lines.remove(body.by_name()[name])
        elif number > gone:
            line = body.by_name()[name]
            line.attributes = line.attributes.replace(f"index={number}", f"index={number - 1}", 1)
    _read(body.lines, renamed)


def _read(lines: Iterable[Line], renamed: Mapping[str, str]) -> None:
    """Let lines read others under their new names, elements of tuples too."""
    for line in lines:
        line.operands = [
            renamed.get(name) or renamed_operand(name, dict(renamed)) for name in line.operands
        ]


def peel_loops(program: Program, chance: random.Random) -> set[int]:
    """Run the first iteration before the loop."""
    del chance
    touched: set[int] = set()
    for loop in list(_loops(program)):
        lines, results = _iteration(program, loop, loop.start.operands)
        start = new_line(program, "tuple", loop.start.shape, results)
        place = loop.home.lines.index(loop.line)
        loop.home.lines[place:place] = [*lines, start]
        loop.line.operands = [start.name]
        touched |= {origin for line in lines for origin in line.origins}
    return touched


def unroll_loops(program: Program, chance: random.Random) -> set[int]:
    """Run two iterations in each."""
    del chance
    touched: set[int] = set()
    for loop in list(_loops(program)):
        lines, results = _iteration(program, loop, loop.result.operands)
        place = loop.body.lines.index(loop.result)
        loop.body.lines[place:place] = lines
        loop.result.operands = results
        touched |= {origin for line in lines for origin in line.origins}
    return touched


def unroll_loops_whole(program: Program, chance: random.Random) -> set[int]:
    """Put two iterations in the place of the loop."""
    del chance
    touched: set[int] = set()
    for loop in list(_loops(program)):
        values, every = list(loop.start.operands), []
        for _ in range(2):
            lines, values = _iteration(program, loop, values)
            every += lines
        result = new_line(program, "tuple", loop.line.shape, values)
        put(loop.home, loop.line, [*every, result])
        program.bodies = [
            body for body in program.bodies if body not in (loop.body, loop.condition)
        ]
        touched |= {origin for line in every for origin in line.origins}
    return touched


def _iteration(program: Program, loop: _Loop, values: list[str]) -> tuple[list[Line], list[str]]:
    """Return the lines of one more iteration over values, and what it gives."""
    state, result = _state(loop.body), loop.result
    renamed = {name: values[number] for name, number in loop.values(loop.body).items()}
    lines = []
    for line in loop.body.lines:
        if line not in (state, result) and line.name not in renamed:
            clone = new_line(program, line.opcode, line.shape, list(line.operands))
            clone.name = program.name(line.name)
            clone.argument, clone.attributes = line.argument, line.attributes
            clone.callees, clone.origins = line.callees, line.origins
            _read([clone], renamed)
            renamed[line.name] = clone.name
            lines.append(clone)
    return lines, [renamed.get(name) or renamed_operand(name, renamed) for name in result.operands]


def split_loops(program: Program, chance: random.Random) -> set[int]:
    """Let two loops run, each of which gives a part of the results."""
    del chance
    touched: set[int] = set()
    for loop in list(_loops(program)):
        results = loop.results()
        if len(results) > 1:
            touched |= _split(program, loop, sorted(results)[::2])
    return touched


def _split(program: Program, loop: _Loop, names: list[str]) -> set[int]:
    """Let a second loop give the results of these names."""
    second = new_line(program, "while", loop.line.shape, [loop.start.name])
    second.attributes, second.origins = loop.line.attributes, loop.line.origins
    touched: set[int] = set()
    for body in (loop.condition, loop.body):
        clone = cloned(program, body)
        program.bodies.insert(0, clone)
        second.attributes = second.attributes.replace(body.name, clone.name)
        second.callees = (*second.callees, clone.name)
        touched |= {origin for line in clone.lines for origin in line.origins}
    loop.home.lines.insert(loop.home.lines.index(loop.line) + 1, second)
    for line in loop.home.lines:
        if line.name in names:
            line.operands = [second.name]
    short = {name for name in names if "#" in name}
    _read(loop.home.lines, {name: f"{second.name}#{name.rpartition('#')[2]}" for name in short})
    return touched


def move_out_of_loops(program: Program, chance: random.Random) -> set[int]:
    """Compute before a loop what is the same in every iteration."""
    del chance
    touched: set[int] = set()
    for loop in list(_loops(program)):
        outside = _constant(loop)
        moved = [line for line in loop.body.lines if _is_invariant(line, outside)][:_MOST_MOVED]
        for line in moved:
            _move_out(program, loop, line, outside)
            touched |= set(line.origins)
    return touched


def _constant(loop: _Loop) -> dict[str, str]:
    """Return what passes through the loop unchanged, with its name outside."""
    values, ends = loop.values(loop.body), loop.result.operands
    kept = {name: number for name, number in values.items() if values.get(ends[number]) == number}
    return {name: loop.start.operands[number] for name, number in kept.items()}


def _is_invariant(line: Line, outside: dict[str, str]) -> bool:
    read = [name for name in line.operands if name not in outside]
    return line.opcode in ELEMENTWISE | {"dot"} and not read and not line.is_root


def _move_out(program: Program, loop: _Loop, line: Line, outside: dict[str, str]) -> None:
    """Move a line before the loop; its value becomes one more element of the state."""
    state, number = _state(loop.body), len(loop.start.operands)
    inside = tuple_element(program, state.name, number, line.shape)
    short = any(
        name.startswith(f"{state.name}#") for other in loop.body.lines for name in other.operands
    )
    place = loop.body.lines.index(line)
    loop.body.lines[place : place + 1] = [] if short else [inside]
    name = f"{state.name}#{number}" if short else inside.name
    _read(loop.body.lines, {line.name: name})
    _read([line], outside)
    line.name = program.name(line.name)
    loop.home.lines.insert(loop.home.lines.index(loop.start), line)
    loop.start.operands.append(line.name)
    loop.result.operands.append(name)
    _reshape(loop, [*_parts(loop.line.shape), line.shape])


def _reshape(loop: _Loop, parts: list[str]) -> None:
    lines = (loop.line, loop.start, loop.result, _state(loop.body), _state(loop.condition))
    for line in lines:
        line.shape = f"({', '.join(parts)})"


def _parts(shape: str) -> list[str]:
    """Return the shapes of the elements of a tuple."""
    parts, depth = [""], 0
    for sign in shape[1:-1]:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip().rpartition("*/")[2] for part in parts]


def _loops(program: Program) -> Iterator[_Loop]:
    bodies = {body.name: body for body in program.bodies}
    calls = [name for _, line in program.places() for name in line.callees]
    for home in program.bodies:
        by_name = home.by_name()
        for line in home.lines:
            start = by_name.get(line.operands[0]) if line.opcode == "while" else None
            called = [bodies[name] for name in line.callees if calls.count(name) == 1]
            if start is not None and start.opcode == "tuple" and len(called) == 2:
                loop = _loop(home, line, start, called)
                if loop is not None:
                    yield loop


def _loop(home: Body, line: Line, start: Line, called: list[Body]) -> _Loop | None:
    condition, body = sorted(called, key=lambda called_body: _result(called_body).shape != "pred[]")
    loop = _Loop(home, line, start, body, condition)
    whole = [_state(body).name, _state(condition).name, line.name, start.name]
    others = [
        other
        for other in (*home.lines, *body.lines, *condition.lines)
        if set(whole) & set(other.operands) and other.opcode not in ("get-tuple-element", "while")
    ]
    plain = _result(body).opcode == "tuple" and not others and not line.is_root
    return loop if plain and len(_parts(line.shape)) == len(start.operands) else None


def _result(body: Body) -> Line:
    return next((line for line in body.lines if line.is_root), body.lines[-1])


def _state(body: Body) -> Line:
    return next(line for line in body.lines if line.opcode == "parameter")


def _index(line: Line) -> int:
    return int(line.attributes.partition("index=")[2].partition(",")[0])
