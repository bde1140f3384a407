"""Why pads and maximums that take the place of a concatenate were added."""

from collections.abc import Hashable, Iterable

from xlareport.analysis.matching.search.nodes import node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.pad_joins import find_pad_joins
from xlareport.runtime.grouping import group_by_key


def list_joined_pads(search: Search) -> dict[Node, str]:
    """Return why new pads, the instructions that join them and their constants were added."""
    gone = search.before.open() if search.parted is None else []
    former = group_by_key(
        (_operands_now(search, node), node)
        for node in gone
        if node.instruction.opcode == "concatenate"
    )
    former.pop(None, None)
    reasons: dict[Node, str] = {}
    for join in find_pad_joins(search.after) if former else ():
        for node in former.get(_key(join.sources), ())[:1]:
            words = f"part of what took the place of %{node.instruction.name}"
            reasons.update(dict.fromkeys(join.parts, f"{words}: its operands, padded and joined"))
    return reasons


def _operands_now(search: Search, node: Node) -> Hashable:
    """Return the counterparts of what a concatenate reads; None where one is not known."""
    read = search.before.graph.operands(node)
    now = [(known, path) for given, path in read if (known := node_after(search, given))]
    return _key(now) if len(now) == len(node.instruction.operands) else None


def _key(elements: Iterable[NodeElement]) -> Hashable:
    return tuple((id(node), path) for node, path in elements)
