"""What the original of a copied instruction reads where the copy reads a new one."""

from xlareport.analysis.matching.rules.arithmetic.clamps import bounds_of
from xlareport.analysis.matching.rules.same_iotas import iota_behind
from xlareport.analysis.matching.search.nodes import origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side

_AGAIN = "rematted_computation"
"""What jax.checkpoint adds to the path of an op where its backward pass computes it again."""


def read_by_original(search: Search, known: Node, user: Node, position: int) -> Node | None:
    """Return what an instruction reads where its counterpart or copy reads at a position.

    Of a clamp, the bounds of the minimum and the maximum that it was. Of a function that several
    calls share, what gives its result.
    """
    clamps = user.instruction.opcode == "clamp" != known.instruction.opcode
    bounds = bounds_of(search.before, known) if clamps else None
    if bounds is not None:
        return {0: bounds[0], 2: bounds[1]}.get(position)
    operands = search.before.graph.operands(known)
    if position >= len(operands):
        return None
    read, path = operands[position]
    return _called_result(search.before, read, path) or read


def _called_result(side: Side, call: Node, path: tuple[int, ...]) -> Node | None:
    """Return what gives the result, or an element, of a function that several calls share."""
    opcode = call.instruction.opcode
    computation = side.graph.module.callee(call.instruction) if opcode == "call" else None
    root = None if computation is None else computation.root
    if computation is None or root is None or len(path) > 1:
        return None
    names = [*root.operand_names] if path and root.opcode == "tuple" else [root.name]
    number = path[0] if path else 0
    line = computation.by_name.get(names[number]) if number < len(names) else None
    return None if line is None else side.graph.home(computation).node(line)


def same_iota(search: Search, read: Node, node: Node) -> Node | None:
    """Return the iota that is read behind moves, if a node is an equal one."""
    if node.instruction.opcode != "iota":
        return None
    iota = iota_behind(search.before, read)
    alike = iota is not None and (
        search.forms.of(iota.instruction) == search.forms.of(node.instruction)
    )
    return iota if alike else None


def has_same_op(node: Node, other: Node) -> bool:
    """Return whether two nodes are of one framework op, computed again or not."""
    names = [
        [word for word in origin(known).split("/") if word != _AGAIN] for known in (node, other)
    ]
    return node.instruction.opcode == other.instruction.opcode and names[0] == names[1] != [""]
