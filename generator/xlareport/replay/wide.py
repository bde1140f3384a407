"""A program in double precision: the reference that tells rounding from a difference."""

import re
from dataclasses import replace

from xlareport.hlo.shape import parse_shape
from xlareport.replay.programs import Body, Line, RunnableProgram, plain_shape

_FLOATS = re.compile(r"\b(?:bf16|f16|f32)\[")
_COMPLEX = re.compile(r"\bc64\[")
_BITS = frozenset({"bitcast-convert", "reduce-precision", "custom-call"})
"""Opcodes that depend on the width of their floats."""


def widened(program: RunnableProgram) -> RunnableProgram | None:
    """Return the program with all floats as f64; None where it depends on their widths."""
    if any(line.opcode in _BITS for body in program.bodies for line in body.lines):
        return None
    bodies = [
        Body(body.name, [_wide(line) for line in body.lines], body.is_entry)
        for body in program.bodies
    ]
    return replace(program, bodies=bodies)


def _wide(line: Line) -> Line:
    text = _COMPLEX.sub("c128[", _FLOATS.sub("f64[", plain_shape(line.shape)))
    return replace(line, shape=parse_shape(text))
