"""New fusions of one operand that stand between a value and what read it before.

The TPU compiler wraps the operand of a convolution in a fusion of a bitcast alone.
"""

from xlareport.analysis.matching.search.nodes import is_free, node_after, same_shape
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opened_root


def inserted_fusion(search: Search, node: Node) -> str:
    """Return between what a new fusion of one operand stands now; '' where that is not known."""
    names = [*node.instruction.operand_names]
    readers = node.frame.computation.users.get(node.instruction.name, ())
    root = opened_root(node) if node.instruction.opcode == "fusion" else None
    if root is None or not is_free(root) or len(names) != 1 or len(readers) != 1:
        return ""
    given = search.after.graph.resolve(node.frame, names[0])
    for user, position in search.after.users.get(root, ()):
        beside = user.instruction is readers[0]
        if beside and given is not None and _was_read(search, user, position, given):
            return f"inserted between %{names[0]} and %{readers[0].name}"
    return ""


def _was_read(search: Search, user: Node, position: int, given: NodeElement) -> bool:
    """Return whether the counterpart of a user read a value, such as an element of a loop."""
    read = () if user.partner is None else search.before.graph.operands(user.partner)
    if position >= len(read):
        return False
    (node, element), (now, element_now) = read[position], given
    same_elements = not element or same_shape(search, node, now)  # else they have other numbers
    return element == element_now and same_elements and node_after(search, node) is now
