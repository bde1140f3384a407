"""A rule for selections of the largest elements in two stages: on each device, then of all found.

The partitioner gathers what each device found, with places in the whole array, and sorts that.
"""

from xlareport.analysis.matching.search.nodes import is_free, target_of
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side

_TARGET = "TopK"
_RESULTS = 2
"""Of a selection, and operands of the sort: values, places."""


def staged(search: Search) -> None:
    """Let the new gathers and the sort of what devices found do the rest of a selection."""
    for sort in search.after.open():
        gathers = _gathers(search.after, sort)
        known = {_selection(search.after, gather, place) for place, gather in enumerate(gathers)}
        first = known.pop() if len(known) == 1 else None
        whole = None if first is None else first.partner
        if whole is not None and _selects(whole) and whole not in search.further:
            for further in (*gathers, sort):
                search.extend(whole, further)


def _gathers(side: Side, sort: Node) -> list[Node]:
    """Return the new all-gathers that a new sort of values with places reads; else none."""
    if sort.instruction.opcode != "sort" or not is_free(sort):
        return []
    gathers = [node for node, path in side.graph.operands(sort) if not path and _is_gather(node)]
    return gathers if len(gathers) == len(sort.instruction.operands) == _RESULTS else []


def _is_gather(node: Node) -> bool:
    return node.instruction.opcode == "all-gather" and is_free(node)


def _selection(side: Side, gather: Node, place: int) -> Node | None:
    """Return the selection whose result of a number is gathered, itself or as part of a sum."""
    operands = side.graph.operands(gather)
    read: list[NodeElement] = [*operands]
    if operands and operands[0][0].instruction.opcode == "add" and is_free(operands[0][0]):
        read = [*side.graph.operands(operands[0][0])]
    return next((node for node, path in read if path == (place,) and _selects(node)), None)


def _selects(node: Node) -> bool:
    return node.instruction.opcode == "topk" or target_of(node) == _TARGET
