"""Elements of a loop that were counted in it, and that are computed from its other counter now."""

from itertools import permutations

from xlareport.analysis.matching.search.reasons import ComputedElement
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.elements import loop_of
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.loop_results import loop_side
from xlareport.analysis.matching.sides.side import Side

_OPERANDS = 2


def computed_element(search: Search, node: Node) -> ComputedElement | None:
    """Return which element of a loop a sum computes from another one; None if it computes none.

    It adds a multiple of the other one to the first value, which the loop only passes on now.
    """
    operands = search.after.graph.operands(node)
    if node.instruction.opcode != "add" or len(operands) != _OPERANDS:
        return None
    for (start, path), (product, inside) in permutations(operands):
        loop = loop_of(search.after, start)
        other = None if inside else _multiplied(search.after, product)
        if loop is None or other is None or other[0] is not start or len(path) != 1:
            continue
        if other[1] != path and _is_passed_on_now(search, loop, path):
            return ComputedElement(loop.instruction.name, path[0], other[1][0])
    return None


def _multiplied(side: Side, product: Node) -> NodeElement | None:
    """Return the tuple element of which a node is a multiple by a constant; None of others."""
    operands = side.graph.operands(product)
    if product.instruction.opcode != "multiply" or len(operands) != _OPERANDS:
        return None
    for element, factor in permutations(operands):
        if factor[0].constant and len(element[1]) == 1:
            return element
    return None


def _is_passed_on_now(search: Search, loop: Node, path: tuple[int, ...]) -> bool:
    """Return whether a loop only passes an element on that it gave another value before."""
    former = loop.partner
    if former is None:
        return False
    counts = (len(known.instruction.shape.elements) for known in (former, loop))
    if len({*counts}) > 1:
        return False
    return _passes_on(search.after, loop, path) and not _passes_on(search.before, former, path)


def _passes_on(side: Side, loop: Node, path: tuple[int, ...]) -> bool:
    """Return whether the body of a loop gives an element as it was given it."""
    results = loop_side(side, loop).results
    if path[0] >= len(results):
        return False
    node, known = results[path[0]]
    return known == path and node.instruction.opcode == "parameter" and loop_of(side, node) is loop
