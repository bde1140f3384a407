"""Loops that carry more or fewer elements: what follows of it is told with the loop.

Its tuples and the parameters of its body and condition have as many elements as the loop itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import ElementsChange
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.runtime import english

_LOOP = "while"
_MOST_NAMED = 4
"""Kinds of elements of which a loop carries more or fewer; more are not listed."""
_FOLLOWING = frozenset({("parameter", "parameter"), ("tuple", "tuple")})


def with_carried_elements(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; loops with more or fewer elements are told as such."""
    rows = list(changes)
    counted = [_counted(matching, change) for change in rows]
    parts = {
        place
        for change, elements in zip(rows, counted, strict=True)
        if elements is not None and change.opcodes == (_LOOP, _LOOP)
        for place in _parts(matching.before, change.before)
    }
    return [
        _carrying(change, elements)
        if elements is not None and (change.opcodes == (_LOOP, _LOOP) or change.before in parts)
        else change
        for change, elements in zip(rows, counted, strict=True)
    ]


def _counted(matching: Matching, change: Change) -> ElementsChange | None:
    """Return the elements of a loop, or of what may belong to one; None if as many as before."""
    is_loop = change.opcodes == (_LOOP, _LOOP)
    has_shape = Kind.SHAPE in change.kinds and (is_loop or change.opcodes in _FOLLOWING)
    if not has_shape or change.before is None or change.after is None:
        return None
    old, new = matching.before.find(*change.before), matching.after.find(*change.after)
    if old is None or new is None or not (_is_flat(old.shape) and _is_flat(new.shape)):
        return None
    counts = len(old.shape.elements), len(new.shape.elements)
    if counts[0] == counts[1]:
        return None
    return _named(ElementsChange(*counts), _kinds(old.shape), _kinds(new.shape))


_Sizes = Counter[tuple[str, int | None]]
"""Numbers of elements by type and sizes, and by how many numbers each has."""


def _kinds(shape: Shape) -> _Sizes:
    return Counter((element.plain, element.element_count) for element in shape.elements)


def _named(change: ElementsChange, old: _Sizes, new: _Sizes) -> ElementsChange:
    """Return the change of a loop that carries more now, with what it carries more and less of.

    An element of another shape, of as many numbers, may be one that stayed: none was dropped.
    """
    more, fewer = new - old, old - new
    if change.after < change.before or len(more) + len(fewer) > _MOST_NAMED:
        return change
    words = [
        f"{count} {word} of {shape}"
        for kinds, word in ((more, "more"), (fewer, "fewer"))
        for (shape, _), count in kinds.items()
    ]
    may_have_stayed = {count for _, count in more} & {count for _, count in fewer}
    dropped = 0 if may_have_stayed else fewer.total()
    return replace(change, words=f", with {english.listing(words)}", dropped=dropped)


def _is_flat(shape: Shape) -> bool:
    """Return whether a shape is a tuple of arrays."""
    return bool(shape.elements) and not any(element.elements for element in shape.elements)


def _parts(module: HloModule, place: Place | None) -> Iterator[Place]:
    """Yield what has the elements of a loop: its operand, parameters and the result of its body."""
    loop = None if place is None else module.find(*place)
    if place is None or loop is None:
        return
    for name in loop.operand_names:
        yield Place(place.computation, name)
    for role, name in loop.called:
        called = module.by_name.get(name)
        lines: Sequence[Instruction] = () if called is None else called.instructions
        yield from (Place(name, line.name) for line in lines if line.opcode == "parameter")
        if role == "body" and called is not None and called.root is not None:
            yield Place(name, called.root.name)


def _carrying(change: Change, elements: ElementsChange) -> Change:
    """Return a change whose shape is told as the number of elements that a loop carries."""
    number = change.kinds.index(Kind.SHAPE)
    kinds, details = [*change.kinds], [*change.details]
    kinds[number], details[number] = Kind.CARRIED, elements
    kind = Kind.CARRIED if change.kind is Kind.SHAPE else change.kind
    return replace(change, kind=kind, kinds=tuple(kinds), details=tuple(details))
