"""A rule for reductions that became windows over a whole dimension, as in TPU fusions.

The window repeats the result in the shape of the operand, so that no broadcast is needed.
"""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Instruction
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs


def windowed(search: Search) -> None:
    """Pair reductions with windows that reduce the same value with the same operation."""
    windows = [node for node in search.after.open() if _repeats(search.after, node)]
    if not windows:
        return
    reduces = [node for node in search.before.open() if node.instruction.opcode == "reduce"]
    search.evaluate()
    old = _keyed(search.before, reduces)
    for node, other in sole_pairs(old, _keyed(search.after, windows)):
        reason = f"%{other.instruction.name} reduces the same values, and repeats the result"
        search.link(node, other, Grade.MATCHED, reason)


def _repeats(side: Side, node: Node) -> bool:
    """Return whether a window has as many results as operand elements."""
    if node.instruction.opcode != "reduce-window":
        return False
    operands = side.graph.operands(node)
    count = node.instruction.shape.element_count
    return bool(operands) and count == operands[0][0].instruction.shape.element_count


def _keyed(side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield reductions, with operand value and operation as key."""
    for node in nodes:
        read = side.values.read(node)
        operation = _operation(side, node.instruction)
        if read and operation:
            yield (read[0], operation), node


def _operation(side: Side, line: Instruction) -> str:
    """Return the root opcode of a reduction's computation; empty if unknown."""
    called = side.graph.module.callee(line)
    return "" if called is None or called.root is None else called.root.opcode
