"""A rule for the same work on the same values, whose shapes differ and moves are seen through.

A compilation copies cheap work into each fusion that reads it, in the shape that the fusion needs.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence

from xlareport.analysis.matching.rules.movement.sliced import cut_limits
from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES
from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opcode_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import COMMUTATIVE
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work

_ELEMENTWISE = opcode_work().by_element
_WHICH = ("direction", "dimension", "is_host_transfer")
"""Attributes that tell elementwise work of one opcode apart."""
_SLICE = "slice"
_TWO = 2
_NO_ATTRIBUTES = ("",) * len(_WHICH)
_INVERSES: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "divide": ("multiply", lambda number: 1 / number),
    "subtract": ("add", lambda number: -number),
}
"""By opcode, what XLA makes of it where the second operand is a constant, and of which constant."""
_REASON = "the same work on values with known counterparts"
_COPY = "a further copy, on values with known counterparts"


def same_work(search: Search) -> None:
    """Pair work on equal values by opcode, or note it as a further copy of the old work.

    Of values that only guesses show, pairs are guesses, and no copies are noted.
    """
    values = _WorkValues(search)
    guessed = {link.after for link in search.links if link.grade is Grade.GUESSED}
    for node in search.after.values.order:
        if node.partner is None and not guessed.isdisjoint(node.inputs):
            guessed.add(node)
        is_known = not is_free(node) or node in search.copies
        if is_known or node.constant or opcode_of(node) in MOVES:
            continue
        old = values.same_before(node)
        if old is not None and is_free(old):
            grade = Grade.GUESSED if node in guessed else Grade.MATCHED
            search.link(old, node, grade, _REASON)
        elif old is not None and node not in guessed:
            search.copies[node] = old, _COPY


class _WorkValues:
    """Numbers of the values of nodes: of opcodes and operands, whatever the shapes."""

    def __init__(self, search: Search) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[Node, int] = {}
        self._first: dict[int, Node] = {}
        """The first old node of each value."""
        self._shared: set[int] = set()
        """Values that several old nodes have, such as the slices of one array."""
        for node in search.before.values.order:
            number = self._numbered(self._key(search.before, node))
            if number in self._first and _is_one_of_several(node):
                self._shared.add(number)
                number = self._numbered(("value", node.token))
            self._first.setdefault(number, node)
            self._known[node] = number
        for node in search.after.values.order:
            known = None if node.partner is None else self._known.get(node.partner)
            self._known[node] = self._number_after(search.after, node) if known is None else known

    def same_before(self, node: Node) -> Node | None:
        """Return the old node with the value of a new one."""
        return self._first.get(self._known[node])

    def _number_after(self, side: Side, node: Node) -> int:
        number = self._numbered(self._key(side, node))
        is_unclear = number in self._shared and _is_one_of_several(node)
        return self._numbered(("value", node.token)) if is_unclear else number

    def _numbered(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _key(self, side: Side, node: Node) -> Hashable:
        line = node.instruction
        if line.opcode == "constant":
            return _constant_key(line)
        if not line.operands:
            return ("value", node.token)
        operands = side.graph.operands(node)
        read = [self._of(side, operand) for operand in operands]
        inverse = _by_inverse(line.opcode, operands)
        if inverse is not None:
            opcode, number = inverse
            return (opcode, _NO_ATTRIBUTES, *sorted([read[0], self._numbered(number)]))
        if line.opcode in COMMUTATIVE:
            read.sort()
        if line.opcode in _ELEMENTWISE:
            which = tuple(line.attributes.get(name, "") for name in _WHICH)
            return (line.opcode, which, *read)
        if line.opcode == _SLICE:
            limits = cut_limits(line, node.frame.computation.operand(line))
            return (line.opcode, *limits, *read)
        return (line.opcode, origin(node) or node, *read)

    def _of(self, side: Side, operand: NodeElement) -> int:
        node, path = operand
        known = self._known.get(node)
        if path or known is None:
            return self._numbered(("value", side.value_of(operand)))
        return known


def _is_one_of_several(node: Node) -> bool:
    """Return whether equal opcodes, op_names and operands do not make an equal value."""
    return opcode_of(node) not in _ELEMENTWISE | {_SLICE} and bool(node.instruction.operands)


def _by_inverse(opcode: str, operands: Sequence[NodeElement]) -> tuple[str, Hashable] | None:
    """Return the opcode and the constant by which XLA writes a division or a subtraction."""
    inverse = _INVERSES.get(opcode)
    if inverse is None or len(operands) != _TWO:
        return None
    line = operands[1][0].instruction
    number = _number_of(line)
    return None if not number else (inverse[0], _number_key(line, inverse[1](number)))


def _constant_key(line: Instruction) -> Hashable:
    number = _number_of(line)
    return literal_of(line) if number is None else _number_key(line, number)


def _number_of(line: Instruction) -> float | None:
    """Return the number of a constant; None of any other instruction, array or text."""
    try:
        return float(line.argument) if line.opcode == "constant" else None
    except ValueError:
        return None


def _number_key(constant: Instruction, number: float) -> Hashable:
    """Return what equal numbers have in common: of floats, in whatever precision they are."""
    is_float = constant.shape.element_type.startswith(("bf", "f"))
    return ("number", f"{number:.4g}" if is_float else number)
