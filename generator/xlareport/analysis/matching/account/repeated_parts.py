"""New instructions in fusions that compute again what a part of an expanded instruction computes.

XLA fuses a producer into each consumer. Where an instruction was expanded before that, each fusion
holds copies of its parts, and only the parts of one lead to its result.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

from xlareport.analysis.matching.search.nodes import has_same_origin, is_fused, place_of
from xlareport.analysis.matching.search.pairing import Pairing, Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.opcode_groups import BOUNDARIES, REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_LITERALS = REARRANGEMENTS | {"broadcast", "constant", "convert"}
"""Opcodes of constants and of what only moves them."""


def add_repeated_parts(
    search: Search, new: Mapping[Node, Pairing], expanded: Collection[Pairing]
) -> Iterator[Pairing]:
    """Add copies of parts to the pairings of what was expanded; yield those of the additions.

    `new` are the pairings of new nodes that are told as added so far.
    """
    copies = [node for node in new if _may_repeat(node)]
    parts = _parts(search, expanded) if copies and expanded else {}
    for node in copies if parts else ():
        part, pairing = parts.get(search.after.own_values.get(node), (None, None))
        if part is None or pairing is None or not has_same_origin(node, part):
            continue
        place, name = place_of(node), part.instruction.name
        pairing.after = (*pairing.after, place)
        reason = f"a further copy of %{name}, into which it was expanded"
        pairing.add_evidence((pairing.before[0], place), Grade.MATCHED, reason)
        yield new[node]


def _parts(search: Search, expanded: Iterable[Pairing]) -> Mapping[Hashable, tuple[Node, Pairing]]:
    """Return the parts of expanded instructions by value, of several equal ones the first."""
    pairings = {
        place: pairing
        for pairing in expanded
        if pairing.relation is Relation.EXPANDED
        for place in pairing.after
    }
    values, parts = search.after.own_values, dict[Hashable, tuple[Node, Pairing]]()
    for node in search.after.nodes:
        pairing = pairings.get(place_of(node))
        if pairing is not None and _may_repeat(node):
            parts.setdefault(values.get(node), (node, pairing))
    parts.pop(None, None)
    return parts


def _may_repeat(node: Node) -> bool:
    """Return whether a node is fused and computes: that literals are equal says nothing."""
    boundary = node.instruction.opcode in BOUNDARIES
    return is_fused(node) and not boundary and not is_literal(node)


def is_literal(node: Node) -> bool:
    """Return whether a node is a constant, or only moves or repeats one."""
    return node.constant and node.instruction.opcode in _LITERALS
