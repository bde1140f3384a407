"""Which results of fusions of several results cannot continue one another."""

from xlareport.analysis.matching.search.nodes import node_after, node_before
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side


def are_other_results(search: Search, node: Node, other: Node) -> bool:
    """Return whether two elements of fusions are computed by what continues otherwise.

    The first element of a fusion that got a second result is new, though nothing else may be of
    its shape and framework op.
    """
    if not (node.element and other.element):
        return False
    result, now = _result(search.before, node), _result(search.after, other)
    if result is None or now is None:
        return False
    known, former = node_after(search, result), node_before(search, now)
    return known not in (None, now) or former not in (None, result)


def _result(side: Side, element: Node) -> Node | None:
    """Return what computes an element of a fusion's tuple; None of other tuples."""
    operands = side.graph.operands(element)
    root = operands[0][0] if len(operands) == len(element.element) == 1 else None
    if root is None or root.instruction.opcode != "tuple" or root.frame is element.frame:
        return None
    names = [*root.instruction.operand_names][element.element[0] :]
    line = root.frame.computation.by_name.get(names[0]) if names else None
    return None if line is None else root.frame.node(line)
