"""New fusions of one operand that stand between a value and what read it before.

The TPU compiler wraps the operand of a convolution in a fusion of a bitcast alone.
"""

from xlareport.analysis.matching.search.nodes import is_free, node_after, read_at
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opened_root


def inserted_fusion(search: Search, node: Node) -> str:
    """Return between what a new fusion of one operand stands now; '' where that is not known."""
    names = [*node.instruction.operand_names]
    readers = node.frame.computation.users.get(node.instruction.name, ())
    root = opened_root(node) if node.instruction.opcode == "fusion" else None
    if root is None or not is_free(root) or len(names) != 1 or len(readers) != 1:
        return ""
    given = search.after.graph.resolve(node.frame, names[0])
    for user, position in search.after.users.get(root, ()):
        read = None if user.partner is None else read_at(search.before, user.partner, position)
        beside = user.instruction is readers[0]
        if beside and read is not None and given == (node_after(search, read), ()):
            return f"inserted between %{names[0]} and %{readers[0].name}"
    return ""
