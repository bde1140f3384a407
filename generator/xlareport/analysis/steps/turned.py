"""Values whose equally long dimensions were exchanged, which looks like another layout.

A transpose that moves in front of arithmetic turns what the arithmetic makes; where the dimensions
are equally long, only the layout says so, and no byte is elsewhere.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.cost.tiling import minor_to_major
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.details import AttributesChange, Difference, ShapeChange
from xlareport.analysis.steps.differences import compare
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.reducers import apply_the_same
from xlareport.analysis.steps.shape_changes import shortened
from xlareport.analysis.steps.summed_dimensions import compare_sums
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.hlo.shape import Shape
from xlareport.runtime import english

_MOST = 24
"""Pairs behind a pair that are looked at."""
_Pair = tuple[Place, Place]
_Lines = tuple[Instruction, Instruction]
_Order = tuple[int, ...]
"""Where each dimension is now."""


def compare_turned(
    matching: Matching, before: tuple[Place, Instruction], after: tuple[Place, Instruction]
) -> dict[Kind, Difference]:
    """Return the kinds of difference between two lines, as `compare`; turned is another shape."""
    result = compare(before[1], after[1], matching.computations)
    attributes = result.get(Kind.ATTRIBUTES)
    applied = isinstance(attributes, AttributesChange) and attributes.names == ("to_apply",)
    if applied and apply_the_same(matching, before[1], after[1]):
        del result[Kind.ATTRIBUTES]
    change = turned(matching, before[0], after[0]) if Kind.LAYOUT in result else None
    if change is not None:
        del result[Kind.LAYOUT]
        result[Kind.SHAPE] = change
    return result | compare_sums(matching, before, after)


def turned(matching: Matching, before: Place, after: Place) -> ShapeChange | None:
    """Return both shapes of a value whose dimensions were exchanged; None if it is not known to be.

    It is where the layouts agree, and a transpose or a broadcast behind the value shows it.
    """
    lines = _lines(matching, (before, after))
    order = None if lines is None else _new_order(lines[0].shape, lines[1].shape)
    if lines is None or order is None or not _is_shown(matching, (before, after), order):
        return None
    shapes = shortened(lines[0].shape.text, lines[1].shape.text)
    return replace(shapes, tail=f", dimensions {_moved_words(order)} exchanged")


def _is_shown(matching: Matching, pair: _Pair, order: _Order) -> bool:
    """Return whether something behind two values shows that dimensions were put in an order."""
    waiting = [pair]
    for here, there in waiting:
        lines = _lines(matching, (here, there))
        if lines is None or not _are_alike(*lines) or _new_order(*_shapes(lines)) != order:
            continue
        if _repeats_along(*lines, order):
            return True
        for read in _operands(here, there, lines):
            if _is_transposed(matching, read, order):
                return True
            if matching.partner_before(read[1]) == read[0] and read not in waiting[:_MOST]:
                waiting.append(read)
        del waiting[_MOST:]
    return False


def _lines(matching: Matching, pair: _Pair) -> _Lines | None:
    old, new = matching.before.find(*pair[0]), matching.after.find(*pair[1])
    return None if old is None or new is None else (old, new)


def _shapes(lines: _Lines) -> tuple[Shape, Shape]:
    return lines[0].shape, lines[1].shape


def _are_alike(old: Instruction, new: Instruction) -> bool:
    """Return whether two lines are one operation, which is no move and calls nothing."""
    return old.opcode == new.opcode not in REARRANGEMENTS and not old.called


def _operands(here: Place, there: Place, lines: _Lines) -> list[_Pair]:
    """Return the operands of two lines in the same positions."""
    names = zip(lines[0].operand_names, lines[1].operand_names, strict=False)
    return [(Place(here.computation, name), Place(there.computation, now)) for name, now in names]


def _repeats_along(old: Instruction, new: Instruction, order: _Order) -> bool:
    """Return whether two broadcasts are along other dimensions, which are those of an order."""
    if old.opcode != "broadcast":
        return False
    kept, now = ({*_dimensions(line)} for line in (old, new))
    return kept != now == {order[number] for number in kept if number < len(order)}


def _is_transposed(matching: Matching, read: _Pair, order: _Order) -> bool:
    """Return whether the new operand is a transpose of what continues the old one."""
    move = matching.after.find(*read[1])
    if move is None or move.opcode != "transpose" or not _puts_in(move, order):
        return False
    source = Place(read[1].computation, next(iter(move.operand_names), ""))
    return matching.partner_before(source) == read[0]


def _puts_in(move: Instruction, order: _Order) -> bool:
    """Return whether a transpose puts dimensions in an order."""
    numbers = _dimensions(move)
    return len(numbers) == len(order) and all(
        number < len(order) and order[number] == place for place, number in enumerate(numbers)
    )


def _dimensions(line: Instruction) -> Sequence[int]:
    return parse_integers(line.attributes.get("dimensions", ""))


def _moved_words(order: _Order) -> str:
    return english.listing([str(place) for place, now in enumerate(order) if place != now])


def _new_order(old: Shape, new: Shape) -> _Order | None:
    """Return where each dimension is now if no byte is elsewhere; None if none was exchanged."""
    if old.dimensions != new.dimensions or not (old.layout and new.layout):
        return None
    if old.layout.partition(":")[2] != new.layout.partition(":")[2]:
        return None  # in other tiles
    ours, theirs = minor_to_major(old), minor_to_major(new)
    rank = len(old.dimensions)
    if ours == theirs or not sorted(ours) == sorted(theirs) == [*range(rank)]:
        return None
    moved = dict(zip(ours, theirs, strict=True))
    sizes = old.dimensions
    if any(sizes[place] != sizes[now] for place, now in moved.items()):
        return None
    order = tuple(moved[place] for place in range(rank))
    return order if any(sizes[place] != 1 for place, now in moved.items() if place != now) else None
