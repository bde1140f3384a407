"""What is said of an operand that another one took the place of: names, types, moves, copies."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.details import Difference, ShapeChange
from xlareport.hlo.opcode_groups import DENSE_PRODUCTS
from xlareport.runtime import english

SAME_TYPE = ("", "")
_FOLDED: Mapping[str, Collection[str]] = {
    **dict.fromkeys(DENSE_PRODUCTS, frozenset({"pad", "reverse", "transpose"})),
    "reduce": frozenset({"bitcast", "reshape", "transpose"}),
}
"""By reader, what passes fold into its dimension numbers or its window."""


class Operand(Struct, frozen=True):
    """An operand: the place of the instruction and the tuple element."""

    place: Place
    element: str
    """`2` of `%while#2`; '' where the whole is read."""


def operand_name(operand: Operand) -> str:
    """Return the name of an operand, with the element where it is one: `while.1#2`."""
    element = f"#{operand.element}" if operand.element else ""
    return f"{operand.place.instruction}{element}"


def instead(was: Operand, now: Operand, types: tuple[str, str] = SAME_TYPE, move: str = "") -> str:
    """Return `%b instead of %a`, with element types that differ, or what move of `%b` `%a` was."""
    old, new = operand_name(was), operand_name(now)
    before, after = (f" ({name})" if name else "" for name in types)
    if old == new:
        return f"another %{new}{after}"
    return f"%{new}{after} instead of {f'its {move} ' if move else ''}%{old}{before}"


def types_of(matching: Matching, was: Operand, now: Operand) -> tuple[str, str]:
    """Return the element types of an operand before and after, '' where they are the same."""
    old, new = matching.before.find(*was.place), matching.after.find(*now.place)
    if old is None or new is None or old.shape.element_type == new.shape.element_type:
        return SAME_TYPE
    return old.shape.element_type, new.shape.element_type


def named_types(matching: Matching, was: Operand, now: Operand) -> tuple[str, str]:
    """Return the types of an operand, as `types_of`; elements of tuples are not looked at."""
    return SAME_TYPE if was.element or now.element else types_of(matching, was, now)


def folded_move(matching: Matching, was: Operand, now: Operand, reader: str) -> str:
    """Return which move of what a product or sum reads now it read before: `transpose`; '' if none.

    `reader` is its opcode. Its dimension numbers or its window say the same as the move did.
    """
    line = matching.before.find(*was.place)
    if line is None or was.element or line.opcode not in _FOLDED.get(reader, ()):
        return ""
    source = next(iter(line.operand_names), "")
    goes_on = matching.partner_after(Place(was.place.computation, source)) == now.place
    return line.opcode if goes_on and not now.element else ""


def turned_result(old: str, new: str, through: str) -> Difference:
    """Return the shapes of a transposed result; the two dimensions may have the same size.

    `through` precedes them: what is said of the operands in the other order.
    """
    if old == new:
        return f"{through}the result has the same shape"
    return ShapeChange(old, new, lead=through)


def through_new(matching: Matching, read: Sequence[Operand], turned: Sequence[Operand]) -> str:
    """Return what is read through a new instruction: `%b through the new %c; `; '' if nothing.

    `turned` are the operands after in the order that those before had.
    """
    named = [
        f"%{operand_name(was)} through the new %{operand_name(now)}"
        for was, now in zip(read, turned, strict=True)
        if _is_new_move(matching, was, now)
    ]
    return f"{english.listing(named)}; " if named else ""


def reads_other_copy(matching: Matching, was: Operand, now: Operand) -> bool:
    """Return whether a copy is of another copy now, though what it was of is there as before.

    Not so of a new copy, which is told as what was put between.
    """
    lines = matching.before.find(*was.place), matching.after.find(*now.place)
    stays = matching.partner_after(was.place)
    left = None if stays is None else matching.after.find(*stays)
    is_copy = lines[1] is not None and lines[1].opcode == "copy" and not now.element
    if not is_copy or matching.partner_before(now.place) is None:
        return False
    return left is not None and lines[0] is not None and left.opcode == lines[0].opcode


def _is_new_move(matching: Matching, was: Operand, now: Operand) -> bool:
    """Return whether a new instruction reads what was read before, which goes on."""
    pairing, line = matching.pairing_after(now.place), matching.after.find(*now.place)
    if pairing is None or pairing.before or line is None or was.element:
        return False
    stays = matching.partner_after(was.place)
    names = [Place(now.place.computation, name) for name in line.operand_names]
    return stays is not None and stays in names
