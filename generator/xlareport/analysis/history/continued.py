"""Which places a history goes on with: live clones, and computations that fusions go on with."""

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import holders_of, homes_of, live_computations


def without_dead_clones(matching: Matching, pairing: Pairing, after: Place) -> Pairing:
    """Return a pairing without the clones in computations that no live instruction calls.

    Fusion passes leave such computations behind; a sole live clone only continues the original.
    """
    if pairing.relation is not Relation.CLONED:
        return pairing
    live = live_computations(matching.after)
    kept = tuple(place for place in pairing.after if place.computation in live)
    if after not in kept or len(kept) == len(pairing.after):
        return pairing
    relation = Relation.CLONED if len(kept) > 1 else Relation.SAME
    return replace(pairing, after=kept, relation=relation)


def without_left(pairing: Pairing) -> Pairing:
    """Return a pairing without the original that its replacements left behind without users."""
    if pairing.relation is not Relation.CLONED or pairing.before[0] not in pairing.after[1:]:
        return pairing
    kept = tuple(place for place in pairing.after if place != pairing.before[0])
    relation = Relation.CLONED if len(kept) > 1 else Relation.REPLACED
    return replace(pairing, after=kept, relation=relation)


def is_in_continued_computation(matching: Matching, before: Place, after: Place) -> bool:
    """Return whether the computation of a new place continues that of the old one.

    A fusion can continue with a clone of its computation, while the original is left uncalled.
    One that was merged into another does not.
    """
    if matching.computations.get(before.computation, before.computation) == after.computation:
        return True
    former = holders_of(matching.before).get(before.computation)
    holder = holders_of(matching.after).get(after.computation)
    if former is None or holder is None or {former.opcode, holder.opcode} != {"fusion"}:
        return False
    pairing = matching.pairing_before(
        Place(homes_of(matching.before)[before.computation], former.name)
    )
    continued = Place(homes_of(matching.after)[after.computation], holder.name)
    if pairing is None or pairing.relation is Relation.ABSORBED:
        return False
    return len(pairing.before) == 1 and continued in pairing.after
