"""A rule for operations that compute one value, once integers are folded and detours left out.

Chains of random bits begin with a seed that is put into an array and taken out again, and with keys
that are counted up. Passes compute what is known, and the chain behind it looks like another one.
So does a chain of floats of which each operation is between converts to a wider type and back.
"""

from collections.abc import Hashable, Sequence

from xlareport.analysis.matching.rules.integers import (
    folded_integer,
    is_wider_integer,
    written_integer,
)
from xlareport.analysis.matching.search.nodes import is_free, same_type
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.order_patterns import repetition_pattern, sum_pattern
from xlareport.analysis.matching.sides.pieces import piece_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES, SAME_ORDER
from xlareport.hlo.shape import is_float_type
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work
from xlareport.runtime.grouping import group_by_key

_FEWEST = 20
"""Open operations of either side; fewer are told apart by what is around them."""
_ELEMENTWISE = opcode_work().by_element
_FOLLOWED = _ELEMENTWISE | MOVES | {"concatenate", "convert", "dot", "pad", "reduce"}
"""Opcodes whose value follows from their operands, attributes and, of a reduction, its sum."""
_REASON = "the same operation on equal values, once constants are folded"
_ROUNDED = "the same operation on values computed alike, converts of floats aside"
_DIGITS = 2
"""Digits of floats that are compared where their types may differ: bf16 has so many."""


def same_folded_values(search: Search) -> None:
    """Pair the first operations of either side that compute one value, then those of floats.

    Of floats each side must have one such value, which may be computed in several types.
    """
    for rounded in (False, True):
        if any(
            sum(map(_computes, side.open())) < _FEWEST for side in (search.before, search.after)
        ):
            return
        search.evaluate()
        _pair(search, rounded=rounded)


def _pair(search: Search, *, rounded: bool) -> None:
    numbers: dict[Hashable, int] = {}
    sides = search.before, search.after
    old, new = (_Folded(search, side, numbers, rounded=rounded).by_value() for side in sides)
    for number, nodes in old.items():
        others = new.get(number, [])
        if not others or (
            rounded and not (_are_one(sides[0], nodes) and _are_one(sides[1], others))
        ):
            continue
        if is_free(nodes[0]) and is_free(others[0]):
            reason = _ROUNDED if rounded else _REASON
            search.link(nodes[0], others[0], Grade.MATCHED, reason)


def _computes(node: Node) -> bool:
    """Return whether a node is free arithmetic on other values than constants alone."""
    return is_free(node) and node.instruction.opcode in _ELEMENTWISE and not node.constant


def _are_one(side: Side, nodes: Sequence[Node]) -> bool:
    """Return whether nodes are one, or copies of one."""
    return len(nodes) == 1 or len({side.own_values.get(node) for node in nodes}) == 1


class _Folded:
    """The numbers of the values of one side; equal values of both sides have one number."""

    def __init__(
        self, search: Search, side: Side, numbers: dict[Hashable, int], *, rounded: bool
    ) -> None:
        self._search, self._side, self._numbers = search, side, numbers
        self._rounded = rounded
        """Whether floats of all types are one."""
        self._known: dict[Node, int] = {}
        self._integers: dict[int, int] = {}
        """What is known of the integers, by their number."""

    def by_value(self) -> dict[int, list[Node]]:
        """Return the operations that compute a value of their own, by its number, in order."""
        own = []
        for node in self._side.values.order:
            read = [self._number(item) for item in self._side.graph.operands(node)]
            same = self._same_as(node, read)
            self._known[node] = self._value(node, read) if same is None else same
            if same is None and _computes(node):
                own.append((self._known[node], node))
        return group_by_key(own)

    def _of(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _number(self, item: NodeElement) -> int:
        """Return the number of an operand: what it computes, or the value that both sides have."""
        node, path = item
        if path:
            return self._of(("value", self._side.value_of(item)))
        if node not in self._known:
            self._known[node] = self._value(node, ())
        return self._known[node]

    def _value(self, node: Node, read: Sequence[int]) -> int:
        """Return the number of what a node computes of operands with such numbers."""
        line = node.instruction
        integer = self._integer(node, read)
        if integer is not None:
            number = self._of(("integer", line.shape.element_type, integer))
            self._integers[number] = integer
            return number
        if not line.operands and line.opcode != "parameter":
            return self._of(self._literal(node))
        form = self._form(node) if is_free(node) and read else None
        if form is None:
            return self._of(("value", self._side.value_of((node, ()))))
        parts = sorted(read) if node.commutes else read
        return self._of((form, *parts))

    def _form(self, node: Node) -> Hashable:
        """Return what an operation does, whatever dimensions its elements are numbered by."""
        line = node.instruction
        if line.opcode not in _FOLLOWED:
            return None
        shape = self._type(node), line.shape.element_count
        if line.opcode == "reduce":
            pattern = sum_pattern(self._side.graph.module, node)
            return None if pattern is None else (*shape, pattern)
        pattern = repetition_pattern(node) if line.opcode == "broadcast" else None
        return line.opcode, *shape, pattern or self._search.forms.of(line).attributes

    def _type(self, node: Node) -> str:
        element_type = node.instruction.shape.element_type
        return "float" if self._rounded and _is_float(node) else element_type

    def _literal(self, node: Node) -> Hashable:
        """Return the literal of a constant; of a float with the digits that all types have."""
        line = node.instruction
        is_number = self._rounded and line.opcode == "constant" and _is_float(node)
        try:
            return "float", f"{float(line.argument):.{_DIGITS}g}" if is_number else literal_of(line)
        except ValueError:  # an array, or no number
            return literal_of(line)

    def _integer(self, node: Node, read: Sequence[int]) -> int | None:
        line = node.instruction
        if line.shape.element_count != 1:
            return None
        if line.opcode == "constant":
            return written_integer(line)
        known = [self._integers.get(number) for number in read]
        return folded_integer(line, [integer for integer in known if integer is not None])

    def _same_as(self, node: Node, read: Sequence[int]) -> int | None:
        """Return the number of a value that a node only passes on; None if it computes one."""
        line, operands = node.instruction, self._side.graph.operands(node)
        if not is_free(node) or not read:
            return None
        if line.opcode in SAME_ORDER:
            return read[0] if same_type(node, operands[0][0]) else None
        piece = piece_of(self._side, node) if line.opcode == "slice" else None
        if piece is not None:
            return self._number(piece)
        if line.opcode != "convert":
            return None
        if self._rounded and _is_float(node) and _is_float(operands[0][0]):
            return read[0]
        return self._behind_widening(node, operands[0][0])

    def _behind_widening(self, node: Node, inner: Node) -> int | None:
        """Return the number of an integer that was widened and is as it was again."""
        operands = self._side.graph.operands(inner)
        if inner.instruction.opcode != "convert" or not operands or operands[0][1]:
            return None
        types = [known.instruction.shape.element_type for known in (operands[0][0], inner, node)]
        same = types[0] == types[2] and is_wider_integer(types[1], types[0])
        return self._number(operands[0]) if same else None


def _is_float(node: Node) -> bool:
    return is_float_type(node.instruction.shape.element_type)
