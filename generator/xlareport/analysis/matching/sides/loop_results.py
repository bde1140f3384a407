"""Pairs the elements of a loop's carried tuple by what its body gives for them next."""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement
from xlareport.runtime.grouping import group_by_key

if TYPE_CHECKING:
    from xlareport.analysis.matching.search.search import Search
    from xlareport.analysis.matching.sides.side import Side

_MOST_COPIES = 4
"""Copies of copies that are looked behind."""


class LoopSide(Struct, frozen=True):
    """What a loop starts with and what its body gives next, behind calls, fusions and copies."""

    loop: Node
    starts: Sequence[NodeElement]
    results: Sequence[NodeElement]
    """Of each element; empty where the body returns no tuple, or nothing in it differs."""


def loop_side(side: "Side", loop: Node) -> LoopSide:
    """Return what a loop starts with and what its body gives, by element."""
    single = next(iter(side.graph.operands(loop)), None)
    holder = single[0] if single is not None else loop
    starts = side.graph.operands(holder) if holder.instruction.opcode == "tuple" else ()
    frame = side.homes.get(dict(loop.instruction.called).get("body", ""))
    names = _results_named(frame)
    given = [None if frame is None else side.graph.resolve(frame, name) for name in names]
    results = [behind_copies(side, element) for element in given if element is not None]
    count = len(loop.instruction.shape.elements)
    known = len(results) == len(starts) == count
    copied = [behind_copies(side, start) for start in starts]
    return LoopSide(loop, copied if known else (), results if known else ())


def _results_named(frame: Frame | None) -> Sequence[str]:
    root = None if frame is None else frame.computation.root
    return root.operands if root is not None and root.opcode == "tuple" else ()


def given_next(side: "Side", parameter: Node, element: int) -> NodeElement | None:
    """Return what a loop's body computes for an element; None where it gives it on as it is."""
    names = _results_named(parameter.frame)
    if element >= len(names):
        return None
    result = side.graph.resolve(parameter.frame, names[element])
    given = None if result is None else behind_copies(side, result)
    return None if given == (parameter, (element,)) else given


def behind_copies(side: "Side", element: NodeElement) -> NodeElement:
    """Return the value that a copy has, itself no copy; anything else as it is."""
    for _ in range(_MOST_COPIES):
        operands = side.graph.operands(element[0])
        if element[1] or element[0].instruction.opcode != "copy" or len(operands) != 1:
            break
        element = operands[0]
    return element


def pair_results(
    search: "Search", old: LoopSide, new: LoopSide, known: Mapping[int, int], merged: Sequence[int]
) -> Iterator[tuple[list[list[int]], list[list[int]]]]:
    """Yield elements left over that correspond in order, before and after, with their equals.

    They are of one shape and of one opcode, between the same two known elements, as many on both
    sides, and none starts with what another one started with. Equals are merged where the loop
    carries fewer elements now.
    """
    if not (old.results and new.results) or [*known.values()] != sorted(known.values()):
        return
    taken = {*known.values(), *merged}
    ours = _grouped(search, old, [n for n in range(len(old.results)) if n not in taken], known)
    own = {number: number for number in known}
    theirs = _grouped(search, new, [n for n in range(len(new.results)) if n not in known], own)
    fewer = len(new.results) < len(old.results)
    for key, numbers in theirs.items():
        firsts = [[number] for number in ours.get(key, [])]
        others = [[number] for number in numbers]
        if fewer and len(firsts) != len(others):
            firsts = _equals(search.before, old, ours.get(key, []))
            others = _equals(search.after, new, numbers)
        if len(firsts) == len(others) and not _crosses(old, new, firsts, others):
            yield firsts, others


def equal_results(side: "Side", old: LoopSide, kept: Collection[int]) -> Mapping[int, int]:
    """Return the kept elements of a loop that others, which it dropped, start with and equal."""
    equals = _equals(side, old, range(len(old.results)))
    firsts = ((next((n for n in group if n in kept), None), group) for group in equals)
    return {
        number: first
        for first, group in firsts
        for number in group
        if first is not None and number not in kept
    }


def _grouped(
    search: "Search", of: LoopSide, numbers: Sequence[int], known: Mapping[int, int]
) -> Mapping[Hashable, list[int]]:
    """Return elements by the known ones before them, their shape, and the opcode that gives them.

    `known` are the numbers on this side, by those after.
    """
    shapes = of.loop.instruction.shape.elements
    return group_by_key(
        (
            (
                sum(place < number for place in known.values()),
                search.forms.shape(shapes[number]),
                of.results[number][0].instruction.opcode,
            ),
            number,
        )
        for number in numbers
    )


def _equals(side: "Side", of: LoopSide, numbers: Sequence[int]) -> list[list[int]]:
    """Return elements with those that start with equal values and are computed alike.

    Each from its own former value.
    """
    return [*group_by_key((_computed(side, of, number), number) for number in numbers).values()]


def _computed(side: "Side", of: LoopSide, number: int) -> Hashable:
    node, path = of.results[number]
    read = [_read(operand, number) for operand in side.graph.operands(node)]
    if path or not read:
        return number
    start = _read(of.starts[number], number)
    return start, side.values.forms.of(node.instruction), *read


def _read(operand: NodeElement, number: int) -> Hashable:
    """Return what is read: a constant by its value, the element's own value by none."""
    node, path = operand
    if node.instruction.opcode == "constant":
        return literal_of(node.instruction)
    is_own = node.instruction.opcode == "parameter" and path == (number,)
    return "" if is_own else operand


def _crosses(
    old: LoopSide, new: LoopSide, firsts: Sequence[list[int]], others: Sequence[list[int]]
) -> bool:
    """Return whether an element starts with the counterpart of what another started with."""
    starts = {node.partner: number for number, (node, _) in enumerate(new.starts) if node.partner}
    for (first, *_), (other, *_) in zip(firsts, others, strict=True):
        node = old.starts[first][0]
        if node in starts and starts[node] != other:
            return True
    return False
