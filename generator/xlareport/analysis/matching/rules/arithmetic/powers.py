"""A rule for integer arithmetic with powers of two, which a pass does by bits: x % 8 as x & 7."""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key
from xlareport.runtime.whole_numbers import parse_whole_number

_BY_BITS = {"remainder": "and", "divide": "shift-right-logical", "multiply": "shift-left"}
_OPERANDS = 2
_REASON = "the same on the same value, by its bits"


def by_bits(search: Search) -> None:
    """Pair arithmetic with powers of two and the operation on bits that does the same."""
    old = [node for node in search.before.open() if _power(search.before, node)]
    if not old:
        return
    search.evaluate()
    new = [node for node in search.after.open() if node.instruction.opcode in _BY_BITS.values()]
    others = group_by_key(_keyed_bits(search.after, new))
    for key, nodes in group_by_key(_keyed_powers(search.before, old)).items():
        for node, other in zip(nodes, others.get(key, ()), strict=False):
            if is_free(node) and is_free(other):
                search.link(node, other, Grade.MATCHED, _REASON)


def _power(side: Side, node: Node) -> int:
    """Return the power of two that arithmetic has as its second operand; 0 of anything else."""
    if node.instruction.opcode not in _BY_BITS:
        return 0
    number = _whole_exponent(side, node)
    return number if number > 1 and not number & (number - 1) else 0


def _whole_exponent(side: Side, node: Node) -> int:
    """Return the whole number that is the second operand, or is repeated there; else -1."""
    operands = side.graph.operands(node)
    if len(operands) != _OPERANDS or operands[1][1]:
        return -1
    second = operands[1][0]
    if second.instruction.opcode == "broadcast":
        repeated = side.graph.operands(second)
        second = repeated[0][0] if repeated and not repeated[0][1] else second
    line = second.instruction
    number = parse_whole_number(line.argument) if line.opcode == "constant" else None
    return -1 if number is None else number


def _keyed_powers(side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    for node in nodes:
        opcode, power = node.instruction.opcode, _power(side, node)
        number = power - 1 if opcode == "remainder" else power.bit_length() - 1
        yield from _keyed(side, node, _BY_BITS[opcode], number)


def _keyed_bits(side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    for node in nodes:
        number = _whole_exponent(side, node)
        if number >= 0:
            yield from _keyed(side, node, node.instruction.opcode, number)


def _keyed(side: Side, node: Node, opcode: str, number: int) -> Iterator[tuple[Hashable, Node]]:
    """Yield a node with the operation, the number and its first operand's value as key."""
    token = side.value_of(side.graph.operands(node)[0])
    if token != UNKNOWN:
        yield (node.frame.number, node.instruction.shape.text, opcode, number, token), node
