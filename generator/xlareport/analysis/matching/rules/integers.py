"""Arithmetic of integers of a fixed width, as XLA's constant folding does it."""

from collections.abc import Callable, Mapping, Sequence

from xlareport.hlo.model import Instruction
from xlareport.runtime.whole_numbers import parse_whole_number

_BITS: Mapping[str, int] = {"s32": 32, "s64": 64, "u32": 32, "u64": 64}
_TWO = 2
_PASSING = frozenset({"bitcast", "broadcast", "convert", "copy", "reshape"})
_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda left, right: left + right,
    "and": lambda left, right: left & right,
    "multiply": lambda left, right: left * right,
    "or": lambda left, right: left | right,
    "subtract": lambda left, right: left - right,
    "xor": lambda left, right: left ^ right,
}


def written_integer(line: Instruction) -> int | None:
    """Return the integer of a constant of one element; None of other types and texts."""
    text = line.argument.strip("{} ")
    number = parse_whole_number(text.removeprefix("-"))
    if number is None:
        return None
    return _wrapped(line.shape.element_type, -number if text.startswith("-") else number)


def folded_integer(line: Instruction, read: Sequence[int]) -> int | None:
    """Return what an operation on one element gives for known integers; None if that is not known.

    Signed ones are only converted and moved: what a shift of these gives depends on the sign.
    """
    opcode, element_type = line.opcode, line.shape.element_type
    if not read or len(read) != len(line.operands):
        return None
    if opcode in _PASSING:
        return _wrapped(element_type, read[0])
    if len(read) != _TWO or not element_type.startswith("u"):
        return None
    if opcode.startswith("shift"):
        return _shifted(opcode, element_type, *read)
    operation = _OPERATIONS.get(opcode)
    return None if operation is None else _wrapped(element_type, operation(*read))


def _shifted(opcode: str, element_type: str, value: int, count: int) -> int | None:
    bits = _BITS.get(element_type)
    if bits is None or opcode == "shift-right-arithmetic":
        return None
    if count >= bits:
        return 0
    return _wrapped(element_type, value << count if opcode == "shift-left" else value >> count)


def _wrapped(element_type: str, value: int) -> int | None:
    """Return an integer as a type holds it, without what its bits have no place for."""
    bits = _BITS.get(element_type)
    if bits is None:
        return None
    value %= 1 << bits
    return value - (1 << bits) if element_type.startswith("s") and value >> bits - 1 else value


def is_wider_integer(wide: str, narrow: str) -> bool:
    """Return whether every integer of a type is one of another that has more bits."""
    bits = _BITS.get(wide), _BITS.get(narrow)
    return bits[0] is not None and bits[1] is not None and bits[0] > bits[1]
