"""New instructions in a chain between a value and what read it before.

A pass that packs, lays out or pads a value puts several instructions there.
"""

from xlareport.analysis.matching.account.led_to import known_reader
from xlareport.analysis.matching.search.nodes import is_free, node_after, read_at, reader_beside
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node

_MOST_NODES = 100
"""Limit on new instructions that are followed back to the value."""


def inserted_chain(search: Search, node: Node, user: Node, position: int) -> str:
    """Return between what the chain of a new node stands, which a user reads; '' if none."""
    known = (user, position) if user.partner else known_reader(search.after, user, position)
    partner = None if known is None else known[0].partner
    if known is None or partner is None:
        return ""
    read = read_at(search.before, partner, known[1])
    value = None if read is None else node_after(search, read)
    name = "" if value is None else _name_behind(search, value, node)
    reader = reader_beside(node, known[0])
    return f"inserted between %{name} and %{reader.instruction.name}" if name else ""


def _name_behind(search: Search, value: Node, node: Node) -> str:
    """Return the operand, in a new node's computation, by which it is computed from a value.

    Of a value outside of a fusion, the parameter; '' where what leads to it is not new alone.
    """
    waiting, seen = [(node, "")], {node}
    for new, entered in waiting:
        names = [*new.instruction.operand_names]
        for (operand, _), name in zip(search.after.graph.operands(new), names, strict=False):
            inside = operand.frame is node.frame
            known = entered or ("" if inside else name)
            if operand is value:
                return known or name
            if operand not in seen and is_free(operand) and len(seen) < _MOST_NODES:
                seen.add(operand)
                waiting.append((operand, known))
    return ""
