"""A rule for elementwise work on one value that moves separate from it on either side.

Passes remove dimensions of one element, and repeat cheap work in each fusion that needs it: one
chain of operations before can be several after, each behind moves of its own.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice

from xlareport.analysis.matching.search.nodes import (
    is_free,
    node_after,
    origin,
    read_at,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.passed import passed_operand, scalar_of, values_behind
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import COMMUTATIVE, REARRANGEMENTS
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work
from xlareport.runtime.grouping import group_by_key

_LONGEST = 16
"""Moves in a row that are looked behind."""
_ELEMENTWISE = opcode_work().by_element - REARRANGEMENTS
_ATTRIBUTES = ("direction", "exponent_bits", "mantissa_bits")
_REASON = "the same operation on the same values, behind moves"
_COPY = "a further copy, behind moves"


def along_moves(search: Search) -> None:
    """Pair elementwise work that reads one value on both sides, and what reads that in turn."""
    sides = search.before, search.after
    old, new = ([node for node in side.open() if _is_work(side, node)] for side in sides)
    if old and new:
        search.evaluate()
        _Chains(search).follow(old)


class _Chains:
    """Follows values that continue, from users to users."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._values: dict[Node, int] = {}
        """Value numbers of new copies: those of the nodes that they are copies of."""

    def follow(self, old: Sequence[Node]) -> None:
        """Pair work on the values that open work before reads."""
        waiting = list(self._bases(old))
        seen = {node for node, _ in waiting}
        for base, others in waiting:
            for node, copies in self._pairs(base, others):
                if node in seen or not self._search.link(node, copies[0], Grade.MATCHED, _REASON):
                    continue
                seen.add(node)
                for copy in copies:
                    self._values[copy] = node.token
                for copy in copies[1:] if self._search.parted is None else ():
                    self._search.copies.setdefault(copy, (node, _COPY))
                waiting.append((node, copies))

    def _bases(self, old: Sequence[Node]) -> Iterator[tuple[Node, Sequence[Node]]]:
        """Yield the continued values that open work reads behind moves, with their counterparts."""
        side = self._search.before
        read = (operand for node in old for operand in side.graph.operands(node))
        for base in dict.fromkeys(_behind(side, operand)[0] for operand in read):
            after = None if base.constant else node_after(self._search, base)
            if after is not None:
                yield base, [after]

    def _pairs(self, base: Node, others: Sequence[Node]) -> Iterator[tuple[Node, Sequence[Node]]]:
        """Yield open work on a value, with all open work after that computes the same."""
        before, after = self._search.before, self._search.after
        old = group_by_key((self._key(before, node), node) for node in _users(before, base))
        users = dict.fromkeys(
            node for other in others for node in _users(after, other) if is_free(node)
        )
        new = group_by_key((self._key(after, node), node) for node in users) if old else {}
        for key, nodes in old.items():
            yield from _of_one_op(nodes, new.get(key, []))

    def _key(self, side: Side, node: Node) -> Hashable:
        """Return an operation and what it reads behind moves.

        A division by a constant is a product with its reciprocal.
        """
        line = node.instruction
        read = [self._read(side, operand) for operand in side.graph.operands(node)]
        opcode = line.opcode
        if opcode == "divide" and len(read) == _TWO and isinstance(read[1], float) and read[1]:
            opcode, read = "multiply", [read[0], 1 / read[1]]
        numbers = (f"{item:.6g}" if isinstance(item, float) else item for item in read)
        ordered = sorted(numbers, key=str) if opcode in COMMUTATIVE else [*numbers]
        attributes = [line.attributes.get(name, "") for name in _ATTRIBUTES]
        return (opcode, line.shape.element_type, _repetition(side, node), *attributes, *ordered)

    def _read(self, side: Side, operand: NodeElement) -> int | float | str:
        """Return what stands for an operand: a constant, or the number of a value behind moves."""
        scalar = None if operand[1] else scalar_of(side, operand[0])
        if scalar is not None:
            try:
                return float(scalar)
            except ValueError:
                return scalar
        value = _behind(side, operand)
        known = None if value[1] else self._values.get(value[0])
        return side.value_of(value) if known is None else known


_TWO = 2


def _of_one_op(
    nodes: Sequence[Node], others: Sequence[Node]
) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Yield nodes of one value with the new ones of their framework ops.

    A node that no other has the value of can be of another op than all new ones.
    """
    if len(nodes) == 1 and others and is_free(nodes[0]):
        same = [other for other in others if origin(other) == origin(nodes[0])]
        yield nodes[0], same or others
        return
    by_op = group_by_key((origin(node), node) for node in nodes)
    for op_name, alike in by_op.items():
        same = [other for other in others if origin(other) == op_name]
        if op_name and same and len(alike) == 1 and is_free(alike[0]):
            yield alike[0], same


def _users(side: Side, base: Node) -> list[Node]:
    """Return the work that reads a value, itself or behind moves."""
    users: dict[Node, None] = {}
    waiting = [base]
    for moved in waiting:
        for user, place in side.users.get(moved, ()):
            if passed_operand(side, user) == place and len(waiting) <= _LONGEST:
                waiting.append(user)
            elif _is_work(side, user):
                users[user] = None
    return [*users]


def _is_work(side: Side, node: Node) -> bool:
    """Return whether a node computes each element, or repeats its operand."""
    opcode = node.instruction.opcode
    works = opcode in _ELEMENTWISE or (opcode == "broadcast" and not node.constant)
    return works and passed_operand(side, node) is None


def _repetition(side: Side, node: Node) -> float:
    """Return how often a broadcast repeats its operand; 1 of other work."""
    source = read_at(side, node, 0) if node.instruction.opcode == "broadcast" else None
    counts = (
        node.instruction.shape.element_count,
        source and source.instruction.shape.element_count,
    )
    return counts[0] / counts[1] if counts[0] and counts[1] else 1.0


def _behind(side: Side, value: NodeElement) -> NodeElement:
    """Return what is behind what only passes a value on."""
    return [value, *islice(values_behind(side, value), _LONGEST)][-1]
