"""A rule for reshapes of a result that several operations in a row now take on their operands.

`reshape(max(add(x, y), z))` becomes `max(add(reshape(x), reshape(y)), z)`, where the reshapes may
be outside of the fusion of the operations. Past a single operation, `swaps` knows it.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, read_at, same_count
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.opcode_groups import SAME_ORDER
from xlareport.knowledge.grades import Grade

_FURTHER = "a further copy, of another operand"
_MOST = 32
"""Operations in a row that are looked through."""


def raised(search: Search) -> None:
    """Pair a reshape of a result with the new one of an operand, and the others as its copies."""
    moves = [node for node in search.before.open() if _is_move(node) and is_free(node)]
    if not moves or not any(map(_is_move, search.after.open())):
        return
    search.evaluate()
    for move in moves:
        passed = read_at(search.before, move, 0)
        if passed is None or passed.partner is None or not _has_its_shape(passed.partner, move):
            continue
        taken = sorted(_taken(search, passed), key=lambda node: not same_count(move, node))
        if taken and same_count(move, taken[0]):
            alike = move.instruction.opcode == taken[0].instruction.opcode
            relation = Relation.SWAPPED if alike else Relation.SAME
            search.link(move, taken[0], Grade.MATCHED, Past(passed.instruction.name), relation)
            for other in taken[1:]:
                search.copies[other] = move, _FURTHER


def _is_move(node: Node) -> bool:
    return node.instruction.opcode in SAME_ORDER and bool(node.instruction.operands)


def _has_its_shape(node: Node, move: Node) -> bool:
    """Return whether a node has the dimensions that a move of its former result had."""
    line = node.instruction
    former = None if node.partner is None else node.partner.instruction.shape.dimensions
    return line.shape.dimensions == move.instruction.shape.dimensions != former


def _taken(search: Search, passed: Node) -> Iterator[Node]:
    """Yield the free moves that the counterparts of elementwise operations in a row read now."""
    waiting, seen = [passed], {passed}
    for node in waiting:
        if node.partner is None or not _is_elementwise(search, node) or len(waiting) > _MOST:
            continue
        ours = search.before.graph.operands(node)
        theirs = search.after.graph.operands(node.partner)
        for (operand, path), (other, there) in zip(ours, theirs, strict=False):
            if path or there or operand in seen:
                continue
            seen.add(operand)
            if is_free(other) and _is_move(other) and _reads(search, other, operand):
                yield other
            elif operand.partner is other:
                waiting.append(operand)


def _is_elementwise(search: Search, node: Node) -> bool:
    """Return whether an operation gives an element for each of its operands, or repeats one."""
    if node.instruction.opcode == "broadcast":
        return True
    operands = search.before.graph.operands(node)
    return bool(operands) and all(same_count(node, operand) for operand, _ in operands)


def _reads(search: Search, move: Node, operand: Node) -> bool:
    """Return whether a move reads what an operand was."""
    search.before.values.value_of(operand)
    return search.after.values.read(move)[:1] == [operand.token]
