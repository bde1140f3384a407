"""Distances between floating-point numbers in units in the last place, by their bits.

The functions take whole numbers or numpy arrays of them: they use arithmetic only.
"""

from typing import Any

MANTISSA_BITS = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
"""By numpy's names: stored bits of the mantissa."""


def ordered(bits: Any, width: int) -> Any:
    """Return signed numbers in the order of the floats that have these bits; -0 and 0 are equal."""
    magnitude = bits & ((1 << (width - 1)) - 1)
    sign = (bits >> (width - 1)) & 1
    return (1 - 2 * sign) * magnitude


def ulp_distance(first: Any, second: Any, width: int) -> Any:
    """Return the distance in ULPs of two floats, given as unsigned bits of a width."""
    return abs(ordered(first, width) - ordered(second, width))


def epsilon(dtype: str) -> float:
    """Return the relative distance between 1 and the next float; 0 for what is no float."""
    bits = MANTISSA_BITS.get(dtype)
    return 0.0 if bits is None else 2.0**-bits
