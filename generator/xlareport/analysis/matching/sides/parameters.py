"""Which parameter can continue which, by their shapes, and which constant, by their values."""

from xlareport.hlo.model import Instruction
from xlareport.hlo.shape import Shape


def can_continue(before: Instruction, after: Instruction) -> bool:
    """Return whether `after` can continue `before`: parameters need compatible types.

    A constant can continue one of equal value, also in another shape or type, or of its name.
    """
    if before.opcode == after.opcode == "constant":
        return before.name == after.name or _literal_text(before) == _literal_text(after)
    if before.opcode != "parameter" or after.opcode != "parameter":
        return True
    old, new = before.shape, after.shape
    if old.elements or new.elements:
        return bool(old.elements and new.elements) or _has(new, old) or _has(old, new)
    if old.element_type == new.element_type:
        return old.element_count == new.element_count or is_part(old, new) or is_part(new, old)
    floats = _is_float(old.element_type) and _is_float(new.element_type)
    return floats and old.dimensions == new.dimensions


def _has(whole: Shape, array: Shape) -> bool:
    """Return whether an element of a tuple is an array of the same type, in any layout."""
    form = array.element_type, array.dimensions
    return any((element.element_type, element.dimensions) == form for element in whole.elements)


_WITHOUT_BRACES = str.maketrans("", "", "{} ")


def _literal_text(constant: Instruction) -> str:
    """Return the value text of a literal without its shape."""
    return constant.argument.translate(_WITHOUT_BRACES)


def is_part(whole: Shape, part: Shape) -> bool:
    """Whether a shape is a share of another, each dimension divided among devices."""
    if len(whole.dimensions) != len(part.dimensions):
        return False
    return all(map(divides, whole.dimensions, part.dimensions))


def divides(size: int | None, share: int | None) -> bool:
    """Whether a share is a size divided by a whole number, rounded up."""
    if not size or not share:
        return size == share
    devices = -(-size // share)
    return -(-size // devices) == share


def _is_float(element_type: str) -> bool:
    return element_type.startswith(("bf", "f"))
