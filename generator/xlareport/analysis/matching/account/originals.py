"""Whether an instruction is the original of a copy, and what it reads where the copy reads."""

from xlareport.analysis.matching.rules.arithmetic.clamps import bounds_of
from xlareport.analysis.matching.rules.same_iotas import iota_behind
from xlareport.analysis.matching.search.nodes import origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.families import REWRITES
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.opcodes import opcode_work

_ELEMENTWISE = opcode_work().by_element
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


def does_the_same(source: Node, node: Node) -> bool:
    """Return whether an instruction before has a node's opcode, or what it was rewritten into."""
    opcodes = source.instruction.opcode, node.instruction.opcode
    if opcodes[0] == opcodes[1] or source.partner is None:
        return opcodes[0] == opcodes[1]
    rewritten = (
        opcodes in REWRITES or opcodes == ("broadcast", "iota") or _ELEMENTWISE.issuperset(opcodes)
    )
    return rewritten and source.partner.instruction.opcode == opcodes[1]


def is_padded_copy(original: Node, node: Node) -> bool:
    """Return whether a node has the framework op of its original, which is still beside it.

    Convolutions of batches in windows have more elements, of padding.
    """
    line = original.instruction
    beside = node.frame.computation.by_name.get(line.name)
    stays = beside is not None and beside.opcode == line.opcode and bool(origin(node))
    rank = len(line.shape.dimensions) == len(node.instruction.shape.dimensions)
    return stays and rank and origin(original) == origin(node)
