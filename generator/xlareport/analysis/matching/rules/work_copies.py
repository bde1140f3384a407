"""A rule for the same work on the same values, whose shapes differ and moves are seen through.

A compilation copies cheap work into each fusion that reads it, in the shape that the fusion needs.
"""

from collections.abc import Callable, Hashable

from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES
from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opcode_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import COMMUTATIVE
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work

_ELEMENTWISE = opcode_work().by_element
_WHICH = ("direction", "dimension", "is_host_transfer")
"""Attributes that tell elementwise work of one opcode apart."""
_REASON = "the same work on values with known counterparts"
_COPY = "a further copy, on values with known counterparts"


def same_work(search: Search) -> None:
    """Pair work on equal values by opcode, or note it as a further copy of the old work."""
    values = _WorkValues(search)
    for node in search.after.values.order:
        is_known = not is_free(node) or node in search.copies
        if is_known or node.constant or opcode_of(node) in MOVES:
            continue
        old = values.same_before(node)
        if old is not None and is_free(old):
            search.link(old, node, Grade.MATCHED, _REASON)
        elif old is not None and old.partner is not node:
            search.copies[node] = old, _COPY


class _WorkValues:
    """Numbers of the values of nodes: of opcodes and operands, whatever the shapes."""

    def __init__(self, search: Search) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[Node, int] = {}
        self._first: dict[int, Node | None] = {}
        """The first old node of each value; None where several may be meant."""
        self._note_all(search.before, lambda _: None)
        for node in search.before.values.order:
            number = self._known[node]
            is_other = number in self._first and opcode_of(node) not in _ELEMENTWISE
            self._first[number] = None if is_other else self._first.get(number, node)
        self._note_all(search.after, lambda node: node.partner)

    def same_before(self, node: Node) -> Node | None:
        """Return the old node with the value of a new one."""
        return self._first.get(self._known[node])

    def _note_all(self, side: Side, partner_of: Callable[[Node], Node | None]) -> None:
        for node in side.values.order:
            partner = partner_of(node)
            known = None if partner is None else self._known.get(partner)
            self._known[node] = self._number(side, node) if known is None else known

    def _number(self, side: Side, node: Node) -> int:
        return self._numbers.setdefault(self._key(side, node), len(self._numbers))

    def _key(self, side: Side, node: Node) -> Hashable:
        line = node.instruction
        if line.opcode == "constant":
            return literal_of(line)
        if not line.operands:
            return node.token
        read = [self._of(side, operand) for operand in side.graph.operands(node)]
        if line.opcode in COMMUTATIVE:
            read.sort()
        if line.opcode in _ELEMENTWISE:
            which = tuple(line.attributes.get(name, "") for name in _WHICH)
            return (line.opcode, which, *read)
        message = origin(node)
        return (line.opcode, message, *read) if message else (node.token, "alone")

    def _of(self, side: Side, operand: NodeElement) -> int:
        node, path = operand
        known = self._known.get(node)
        if path or known is None:
            return self._numbers.setdefault(("value", side.value_of(operand)), len(self._numbers))
        return known
