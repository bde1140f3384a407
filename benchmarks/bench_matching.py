"""Measures matching a module of 100,000 instructions with its rewritten self, on one core.

Usage: `python benchmarks/bench_matching.py [kind of rewrite ...]`.
"""

import random
import re
import sys
import time
from dataclasses import replace

from peak import peak_bytes
from program import Body, Line, Program, program_of, renamed_operand
from rewrites import REWRITES
from score_matching import modules

from xlareport.analysis.matching.match import match
from xlareport.hlo.text import TextReader

_SIZE = 100_000
_KINDS = ("rename", "several at once", "fusion", "inlining", "split", "copies put in")


def main() -> None:
    """Print CPU seconds for several rewrites of one large module, and the peak of memory so far."""
    wanted = sys.argv[1:] or _KINDS
    original = _enlarged()
    count = sum(len(body.lines) for body in original.bodies)
    print(f"matching, {count:,} instructions before")
    for kind in wanted:
        rewritten = original.copy()
        REWRITES[kind](rewritten, random.Random(0))  # noqa: S311 - repeatable on purpose
        reader = TextReader()
        before, after = original.read(reader), rewritten.read(reader)
        start = time.process_time()
        matching = match(before, after)
        seconds = time.process_time() - start
        print(
            f"{kind:<24}{after.instruction_count:>10,} after{len(matching.pairings):>10,} pairings"
            f"{seconds:>8.1f} s{peak_bytes() / 1e6:>8,.0f} MB"
        )


def _enlarged() -> Program:
    """Return the largest module at hand, all but its parameters there as often as it takes."""
    largest = max((module for _, module in modules()), key=lambda one: one.instruction_count)
    program = program_of(largest)
    entry = next(body for body in program.bodies if body.is_entry)
    inside = [line for line in entry.lines if line.opcode != "parameter" and not line.is_root]
    others = [body for body in program.bodies if body is not entry]
    size = len(inside) + sum(len(body.lines) for body in others)
    for number in range(_SIZE // size):
        mark = f".c{number}"
        bodies = [
            Body(body.name + mark, _copies(body.lines, mark), is_entry=False) for body in others
        ]
        program.bodies[:0] = bodies
        entry.lines += _copies(inside, mark)
    for number, (_, line) in enumerate(program.places()):
        line.origins = (number,)
    return program


def _copies(lines: list[Line], mark: str) -> list[Line]:
    """Return lines under other names, reading one another and calling copies."""
    renamed = {line.name: line.name + mark for line in lines}
    return [
        replace(
            line,
            name=renamed[line.name],
            operands=[renamed_operand(operand, renamed) for operand in line.operands],
            attributes=_called(line, mark),
            callees=tuple(name + mark for name in line.callees),
        )
        for line in lines
    ]


def _called(line: Line, mark: str) -> str:
    """Return the attributes of a line with the copies of what it calls."""
    attributes = line.attributes
    for name in line.callees:
        attributes = re.sub(rf"%?{re.escape(name)}(?![\w.-])", f"%{name}{mark}", attributes)
    return attributes


if __name__ == "__main__":
    main()
