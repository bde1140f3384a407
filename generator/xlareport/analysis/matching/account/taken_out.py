"""New slices that take the result of one of several joined operations out of their whole."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from xlareport.analysis.matching.account.led_to import readers_of_value
from xlareport.analysis.matching.search.nodes import node_after, place_of, read_at
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import TakenOut
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.hlo.opcode_groups import SAME_ORDER

_SLICE = "slice"
_PASSING = SAME_ORDER | {"tuple"}
_DEEPEST = 8
"""Slices of slices that are followed to what they are of, and new moves to their readers."""
_MOST_READERS = 100


def list_joined(links: Iterable[NodePair]) -> Mapping[Node, Node]:
    """Return what each of the joined operations became, where several became one."""
    return {link.before: link.after for link in links if link.relation is Relation.COMBINED}


def taken_out(search: Search, joined: Mapping[Node, Node], node: Node) -> TakenOut | None:
    """Return which former result a new slice takes out of what; None if that is not known.

    A reader of the slice read the result before, and its operation was joined with others.
    """
    whole = _sliced(search, node) if joined else None
    for user, position in search.after.users.get(node, ())[:_MOST_READERS] if whole else ():
        read = None if user.partner is None else read_at(search.before, user.partner, position)
        if whole is not None and read is not None and joined.get(read) is whole:
            return TakenOut(*place_of(read), whole.instruction.name)
    return None


def element_taken_out(search: Search, node: Node) -> TakenOut | None:
    """Return which array a new slice takes out of what gave a tuple of arrays before, if known.

    `all-reduce-contiguous` reduces one array of all operands: each slice gives one of the results.
    """
    whole = _sliced(search, node)
    former = None if whole is None else whole.partner
    if whole is None or former is None or not former.instruction.shape.elements:
        return None
    if whole.instruction.shape.elements:
        return None
    for source, path in _elements_read(search, search.after.users.get(node, ())):
        name = _name_of_element(source, path)
        if name and node_after(search, source) is whole:
            return TakenOut(source.frame.computation.name, name, whole.instruction.name)
    return None


def _elements_read(
    search: Search, readers: Iterable[tuple[Node, int]], moves: int = _DEEPEST
) -> Iterator[NodeElement]:
    """Yield what known readers read before, also behind new reshapes and tuples."""
    for user, position in islice(readers, _MOST_READERS):
        if user.partner is not None:
            read = search.before.graph.operands(user.partner)[position : position + 1]
            yield from ((source, (*path, *user.partner.element)) for source, path in read)
        elif moves and user.instruction.opcode in _PASSING:
            further = readers_of_value(search.after, user, position)
            yield from _elements_read(search, further, moves - 1)


def _name_of_element(source: Node, path: tuple[int, ...]) -> str:
    """Return the name of the get-tuple-element that takes an element; '' where there is none."""
    users = source.frame.computation.users.get(source.instruction.name, ())
    taken = (user for user in users if user.opcode == "get-tuple-element")
    return next((user.name for user in taken if (user.taken_element,) == path), "")


def _sliced(search: Search, node: Node) -> Node | None:
    """Return what a slice is of, behind other slices; None of other nodes."""
    for _ in range(_DEEPEST):
        operands = search.after.graph.operands(node)
        if node.instruction.opcode != _SLICE or len(operands) != 1 or operands[0][1]:
            return None
        node = operands[0][0]
        if node.instruction.opcode != _SLICE:
            return node
    return None
