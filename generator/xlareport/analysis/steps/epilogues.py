"""Library calls that compute what instructions of their own computed behind a product.

Such as the bias of a convolution: alone it is added to a rounded product, in the call before that.
"""

import re

from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime import english

_PRODUCTS = frozenset({"convolution", "custom-call", "dot"})
_CALLS = re.compile(r"__cudnn\$conv|__cublas\$")
_FLOATS = ("f", "bf", "c")


def takes_in(
    old: Instruction, new: Instruction, homes: tuple[Computation | None, Computation | None]
) -> str | None:
    """Return what a product's call takes in that the product before it did not, in words.

    Scalars are left out, as they scale. None where there is nothing. `homes` are the computations.
    """
    target = new.attributes.get("custom_call_target", "").strip('"')
    if old.opcode not in _PRODUCTS or new.opcode != "custom-call" or not _CALLS.match(target):
        return None
    was, now = (_operands(line, home) for line, home in zip((old, new), homes, strict=True))
    if len(was) < _FACTORS or len(now) <= len(was):
        return None
    more = english.listing([f"%{name}" for name in now[len(was) :]])
    return f"takes in {more} too, before the result of the call is rounded"


_FACTORS = 2


def _operands(line: Instruction, home: Computation | None) -> list[str]:
    """Return the names of the operands that are arrays of floats."""
    known = ((name, home.by_name.get(name) if home else None) for name in line.operand_names)
    return [
        name
        for name, operand in known
        if operand is not None
        and operand.shape.dimensions
        and operand.shape.element_type.startswith(_FLOATS)
    ]
