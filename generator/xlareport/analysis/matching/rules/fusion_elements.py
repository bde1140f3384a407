"""Which fusions, and which elements of fusions, give other results than those before."""

from xlareport.analysis.matching.search.nodes import is_free, node_after, node_before
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opened_results
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


def give_other_results(node: Node, other: Node) -> bool:
    """Return whether two fusions are known to give the results of other instructions.

    A fusion that another takes in is no longer its root, or one of its results, though both may be
    of one framework op.
    """
    old, new = opened_results(node), opened_results(other)
    known = [result.partner for result in new if result.partner is not None]
    if not old or not new or len(known) < len(new) or any(map(is_free, old)):
        return False
    return all(source.frame is not old[0].frame for source in known)
