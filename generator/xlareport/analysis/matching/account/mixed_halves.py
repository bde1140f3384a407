"""New fused instructions on 32-bit integers where a framework op computed 64-bit ones before.

TPUs compute 64-bit integers as two halves. No single pass both splits and fuses them: where fusions
hold halves that nothing explains, several passes ran, and which operation they are of is not known.
"""

from collections.abc import Collection, Iterable, Mapping

from xlareport.analysis.matching.account.repeated_parts import is_literal
from xlareport.analysis.matching.account.word_halves import is_complex, is_wide
from xlareport.analysis.matching.search.nodes import is_fused, origin, place_of
from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.knowledge.grades import Grade

_REASON = "no counterpart was found; its framework op computed 64-bit integers before"
_HALF = frozenset({"pred", "s32", "u32"})
"""Types of halves, and of the comparisons that tell whether the low half carries."""


def mark_mixed_halves(search: Search, pairings: Collection[Pairing]) -> None:
    """Say of fused halves of 64-bit integers that no counterpart was found, if they look added."""
    added = {
        pairing.after[0]: pairing
        for pairing in pairings
        if pairing.relation is Relation.ADDED and pairing.cause is None
    }
    halves = _halves(search, added) if added else {}
    wide = _wide(search) if halves else set()
    for node, pairing in halves.items():
        if origin(node) in wide:
            pairing.grade, pairing.reason = Grade.GUESSED, _REASON
            pairing.cause = ChangeCause.UNTRACED


def _halves(search: Search, added: Mapping[Place, Pairing]) -> Mapping[Node, Pairing]:
    """Return what was added in fusions and computes integers of the size of a half."""
    fused = (node for node in search.after.nodes if is_fused(node) and not is_literal(node))
    halves = (node for node in fused if node.instruction.shape.element_type in _HALF)
    return {node: added[place_of(node)] for node in halves if place_of(node) in added}


def _wide(search: Search) -> set[str]:
    """Return the framework ops that computed 64-bit integers outside of fusions, and no longer do.

    CPUs and GPUs compute them whole.
    """
    ours, theirs = _integers(search.before.nodes), _integers(search.after.nodes)
    fused = {origin(node) for node in ours if is_fused(node)}
    return {*map(origin, ours)} - fused - {*map(origin, theirs)} - {""}


def _integers(nodes: Iterable[Node]) -> list[Node]:
    wide = (node for node in nodes if is_wide(node.instruction))
    return [node for node in wide if not is_complex(node)]
