"""Which rewrites of arithmetic may round otherwise, and which are exact for every input."""

import re
from collections.abc import Iterable
from math import frexp

from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import MANTISSA_BITS

_ROUNDING = frozenset(
    {
        "add",
        "atan2",
        "cbrt",
        "cosine",
        "divide",
        "erf",
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "logistic",
        "multiply",
        "power",
        "remainder",
        "rsqrt",
        "sine",
        "sqrt",
        "subtract",
        "tan",
        "tanh",
    }
)
"""Elementwise opcodes whose result is rounded."""
_SIGNS = frozenset({"add", "negate", "subtract"})
"""Operations that become one another where only a sign moves, which is exact."""
_EXPONENTS = {"f64": 11, "f32": 8, "f16": 5, "bf16": 8}
_SMALL = re.compile(r"f\d++e(\d++)m(\d++)")
_NUMBER = re.compile(r"-?\d++(?:\.\d++)?(?:e[+-]?\d++)?\Z")


def is_rounded(line: Instruction) -> bool:
    """Return whether an instruction is elementwise arithmetic whose result is rounded."""
    return line.opcode in _ROUNDING


def rounds_otherwise(old: Instruction, new: Instruction, after: Computation | None) -> bool:
    """Return whether one elementwise operation in the place of another may round otherwise.

    Factors that are powers of two are exact; where no constant is in reach, it may.
    """
    opcodes = {old.opcode, new.opcode}
    if old.opcode == new.opcode or not opcodes <= _ROUNDING or opcodes <= _SIGNS:
        return False
    scaled = opcodes in ({"divide", "multiply"}, {"add", "multiply"})
    return not (scaled and any(_is_power_of_two(value) for value in _constants(new, after)))


def unscaled(line: Instruction, home: Computation | None) -> Instruction:
    """Return the operand behind scalings by powers of two, which are exact."""
    for _ in range(_MOST_SCALES):
        if line.opcode not in _SCALES or home is None:
            break
        factors = [_is_power_of_two(value) for value in _constants(line, home)]
        if factors != [True]:
            break
        operands = (home.by_name.get(name) for name in line.operand_names)
        values = [operand for operand in operands if operand and not _is_filled(operand, home)]
        if len(values) != 1 or (line.opcode == "divide" and line.operands[0] != values[0].name):
            break
        line = values[0]
    return line


def _is_filled(line: Instruction, home: Computation) -> bool:
    """Return whether an instruction is a constant, broadcast at most."""
    if line.opcode == "broadcast":
        operand = home.operand(line)
        return operand is not None and operand.opcode == "constant"
    return line.opcode == "constant"


_SCALES = frozenset({"divide", "multiply"})
_MOST_SCALES = 8
"""Scalings in a row that are looked behind."""


def _constants(line: Instruction, home: Computation | None) -> Iterable[str]:
    """Yield the literals that an instruction uses, directly or broadcast."""
    for name in line.operand_names:
        operand = home.by_name.get(name) if home else None
        if operand is not None and operand.opcode == "broadcast" and home is not None:
            operand = home.operand(operand)
        if operand is not None and operand.opcode == "constant":
            yield operand.argument


def _is_power_of_two(literal: str) -> bool:
    """Return whether a scalar literal is a power of two; what is not a plain number is none."""
    return bool(_NUMBER.match(literal)) and abs(frexp(float(literal))[0]) == _HALF


_HALF = 0.5
"""The fraction of every power of two, as frexp gives it."""


def narrows(before: str, after: str) -> bool:
    """Return whether a conversion between two element types may lose digits or range."""
    if not before.startswith(("f", "bf")) or not after.startswith(("f", "bf")):
        return False
    old, new = _digits(before), _digits(after)
    return old is None or new is None or new[0] < old[0] or new[1] < old[1]


def _digits(element_type: str) -> tuple[int, int] | None:
    """Return the bits of exponent and mantissa; None for a type that is not known."""
    if element_type in MANTISSA_BITS:
        return _EXPONENTS[element_type], MANTISSA_BITS[element_type]
    small = _SMALL.match(element_type)
    return (int(small[1]), int(small[2])) if small else None
