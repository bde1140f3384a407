"""New instructions in fusions that compute what another instruction of their framework op computes.

XLA fuses a producer into each consumer. Values of iotas alone, such as masks, are equal in all
layers of a model: the framework op says which is the original of a copy.
"""

from collections.abc import Hashable, Mapping
from functools import cached_property

from xlareport.analysis.matching.account.originals import does_the_same
from xlareport.analysis.matching.search.nodes import is_fused, origin
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.opcode_groups import BOUNDARIES, REARRANGEMENTS, SAME_ORDER

_PASSED_ON = REARRANGEMENTS | {"broadcast", "convert"}
"""Opcodes that move or repeat a constant."""
_MOST_MOVES = 16


class FusedCopies:
    """Finds the originals of copies in fusions by their value and their framework op."""

    def __init__(self, search: Search) -> None:
        """Keep the search; links are read when they are first needed."""
        self._search = search

    def original(self, node: Node) -> Node | None:
        """Return the instruction before of an equal node of the same framework op."""
        moves = node.instruction.opcode in BOUNDARIES | SAME_ORDER
        if moves or not is_fused(node) or not origin(node) or self._is_literal(node):
            return None
        known = self._linked.get(self._key(node))
        source = None if known is None else known.partner
        return source if source is not None and does_the_same(source, node) else None

    def _is_literal(self, node: Node) -> bool:
        """Return whether a node is a constant, or only moves or repeats one."""
        for _ in range(_MOST_MOVES):
            operands = self._search.after.graph.operands(node)
            if not operands or node.instruction.opcode not in _PASSED_ON:
                break
            node = operands[0][0]
        return node.instruction.opcode == "constant"

    def _key(self, node: Node) -> Hashable:
        value = self._search.after.own_values.get(node)
        return value, node.instruction.opcode, origin(node)

    @cached_property
    def _linked(self) -> Mapping[Hashable, Node]:
        """The first linked node of each value, opcode and framework op."""
        values, linked = self._search.after.own_values, dict[Hashable, Node]()
        for link in self._search.links:
            if link.relation is not Relation.COMBINED and link.after in values:
                linked.setdefault(self._key(link.after), link.after)
        return linked
