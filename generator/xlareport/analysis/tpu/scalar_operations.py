"""The semantics of the scalar operations of a TPU core: 32-bit registers, predicates.

Derived from listings of libtpu and verified: the cycles that follow from them equal the closed form
of counted loops. An operation that is not in the table has an unknown result.
"""

import operator
from collections.abc import Callable, Mapping

Value = int | bool | None
"""A register's content; None where it is not known."""

_MASK = 0xFFFFFFFF
_SIGN = 0x80000000


def signed(value: int) -> int:
    """Return a 32-bit number as a signed one."""
    return ((value & _MASK) ^ _SIGN) - _SIGN


def unsigned(value: int) -> int:
    """Return a 32-bit number as an unsigned one."""
    return value & _MASK


def _shift_left(value: int, by: int) -> int:
    return value << by if 0 <= by < 32 else 0


def _shift_right(value: int, by: int) -> int:
    return unsigned(value) >> by if 0 <= by < 32 else 0


def _shift_right_signed(value: int, by: int) -> int:
    return signed(value) >> min(max(by, 0), 31)


_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "sadd": operator.add,
    "ssub": operator.sub,
    "smul": operator.mul,
    "sshll": _shift_left,
    "sshrl": _shift_right,
    "sshra": _shift_right_signed,
    "sand": operator.and_,
    "sor": operator.or_,
    "sxor": operator.xor,
    "smin": min,
    "smax": max,
    "scalar_lea": operator.add,
}
_LOGIC: Mapping[str, Callable[[bool, bool], bool]] = {
    "pand": lambda a, b: a and b,
    "por": lambda a, b: a or b,
    "pxor": lambda a, b: a is not b,
    "pnand": lambda a, b: not (a and b),
    "pnor": lambda a, b: not (a or b),
}
_FLOATS = ("f32", "bf16")


def compute(opcode: str, values: list[Value]) -> Value:
    """Return the result of an operation on two operands; None where it is not known."""
    name, *words = opcode.split(".")
    if any(word in _FLOATS for word in words) or len(values) != 2:
        return None
    first, second = values
    if name in _LOGIC:
        return _logic(name, first, second)
    if first is None or second is None:
        return None
    if name == "scmp":
        return _compare(words, int(first), int(second))
    wide = unsigned if "u32" in words and name in {"smin", "smax"} else signed
    function = _ARITHMETIC.get(name)
    return signed(function(wide(int(first)), wide(int(second)))) if function else None


def _compare(words: list[str], first: int, second: int) -> Value:
    wide = unsigned if "u32" in words else signed
    function = _COMPARISONS.get(words[0]) if words else None
    return function(wide(first), wide(second)) if function else None


def _logic(name: str, first: Value, second: Value) -> Value:
    """Return a predicate; one known operand can decide: false and anything is false."""
    results = {_LOGIC[name](bool(a), bool(b)) for a in _choices(first) for b in _choices(second)}
    return results.pop() if len(results) == 1 else None


def _choices(value: Value) -> tuple[bool, ...]:
    return (False, True) if value is None else (bool(value),)
