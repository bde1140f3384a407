"""Known rewrites of collectives: combined, split, and made asynchronous."""

import random
import re

from elementwise import SHARE
from program import Body, Line, Program
from rewriting import (
    metadata_of,
    new_line,
    put,
    put_in_place,
    read_instead,
    shape_like,
    sizes_of,
    tuple_element,
)

_COMBINED = ("all-reduce", "all-gather", "reduce-scatter", "collective-permute")
_STARTED = {
    "all-reduce": "{after}",
    "all-gather": "({before}, {after})",
    "collective-permute": "({before}, {after}, u32[], u32[])",
}
"""The shapes of the first halves of asynchronous collectives."""


def combine_collectives(program: Program, chance: random.Random) -> set[int]:
    """Make one collective of two neighbors that nothing joins."""
    touched: set[int] = set()
    for body in program.bodies:
        waiting: dict[tuple[str, str], Line] = {}
        for line in list(body.lines):
            key = (line.opcode, re.sub(r"channel_id=\d+|metadata=\{[^{}]*\}", "", line.attributes))
            plain = line.opcode in _COMBINED and not line.shape.startswith("(")
            first = waiting.pop(key, None) if plain and chance.random() < 2 * SHARE else None
            if first is not None and not _joined(body, first, line):
                touched |= {*first.origins, *line.origins}
                _combine(program, body, first, line)
            elif plain:
                waiting[key] = line
    return touched


def _joined(body: Body, first: Line, last: Line) -> bool:
    """Whether anything up to the second reads the first, so that they cannot be one."""
    between = body.lines[body.lines.index(first) : body.lines.index(last) + 1]
    return any(first.name in line.operands for line in between) or first.is_root


def _combine(program: Program, body: Body, first: Line, last: Line) -> None:
    operands = [*first.operands, *last.operands]
    made = new_line(program, last.opcode, f"({first.shape}, {last.shape})", operands)
    made.attributes, made.callees = last.attributes, last.callees
    made.origins = (*first.origins, *last.origins)
    early = tuple_element(program, made.name, 0, first.shape)
    put(body, last, [made, early, tuple_element(program, made.name, 1, last.shape)])
    body.lines.remove(first)
    read_instead(body.lines, {first.name: early.name})


def split_collectives(program: Program, chance: random.Random) -> set[int]:
    """Let two all-reduces do the work of one, each on half of it."""
    return put_in_place(program, {"all-reduce"}, chance, _split_in_two)


def _split_in_two(program: Program, body: Body, line: Line) -> list[Line] | None:
    del body
    sizes = sizes_of(line.shape)
    if not sizes or sizes[0] % 2 or len(line.operands) != 1:
        return None
    half = sizes[0] // 2
    shape = shape_like(line.shape, [half, *sizes[1:]])
    lines: list[Line] = []
    for start in (0, half):
        part = new_line(program, "slice", shape, list(line.operands))
        ranges = [f"[{start}:{start + half}]", *(f"[0:{size}]" for size in sizes[1:])]
        part.attributes = f"slice={{{', '.join(ranges)}}}"
        reduced = new_line(program, line.opcode, shape, [part.name])
        reduced.attributes, reduced.callees = line.attributes, line.callees
        reduced.origins = line.origins
        lines += [part, reduced]
    whole = new_line(program, "concatenate", line.shape, [lines[1].name, lines[3].name])
    whole.attributes = "dimensions={0}"
    return [*lines, whole]


def start_collectives(program: Program, chance: random.Random) -> set[int]:
    """Let pairs of a start and an end do the work of collectives."""
    return put_in_place(program, set(_STARTED), chance, _started)


def _started(program: Program, body: Body, line: Line) -> list[Line] | None:
    before = next((other.shape for other in body.lines if other.name == line.operands[0]), None)
    if before is None or len(line.operands) != 1:
        return None
    shape = _STARTED[line.opcode].format(before=before, after=line.shape)
    start = new_line(program, f"{line.opcode}-start", shape, list(line.operands))
    start.attributes, start.callees, start.origins = line.attributes, line.callees, line.origins
    done = new_line(program, f"{line.opcode}-done", line.shape, [start.name])
    done.attributes, done.origins = metadata_of(line).removeprefix(", "), line.origins
    return [start, done]
