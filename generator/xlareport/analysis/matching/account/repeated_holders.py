"""Further fusions that hold a copy of a former fusion: XLA fuses a producer into each consumer."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.matching.account.holders import reason_of_holding
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.sides.facts import holders_of, homes_of
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import BOUNDARIES

_Copies = Mapping[Place, Sequence[Place]]
_HOLDING = frozenset({Relation.ABSORBED, Relation.FUSED, Relation.INLINED, Relation.OUTLINED})


def add_repeated_holders(before: HloModule, after: HloModule, pairings: Sequence[Pairing]) -> None:
    """Add to each fusion that was merged into others those that hold copies of most of it.

    The first is the one that holds the most, whichever of several copies the others continue as.
    """
    absorbed = [pairing for pairing in pairings if pairing.relation is Relation.ABSORBED]
    if not absorbed:
        return
    copies: dict[Place, list[Place]] = defaultdict(list)
    for pairing in pairings:
        if pairing.relation not in _HOLDING:
            for place in pairing.before:
                copies[place] += pairing.after
    for pairing in absorbed:
        inside = _fused_places(before, pairing.before[0])
        counts = _count_copies(after, inside, copies)
        further = [place for place, count in counts.most_common() if 2 * count > len(inside)]
        places = dict.fromkeys((*pairing.after, *further))
        pairing.after = tuple(sorted(places, key=lambda place: -counts[place]))
        if counts:
            pairing.reason = reason_of_holding(counts.values(), len(inside))


def _fused_places(module: HloModule, fusion: Place) -> list[Place]:
    """Return what a fusion holds; empty if that includes fusions."""
    line = module.find(*fusion)
    if line is None or line.opcode != "fusion":
        return []
    bodies = [module.by_name[name] for _, name in line.called if name in module.by_name]
    inside = [(body.name, line) for body in bodies for line in body.instructions]
    if any(line.opcode == "fusion" for _, line in inside):
        return []
    return [Place(name, line.name) for name, line in inside if line.opcode not in BOUNDARIES]


def _count_copies(module: HloModule, inside: Sequence[Place], copies: _Copies) -> Counter[Place]:
    """Return of how many instructions each fusion of a module holds a copy."""
    counts: Counter[Place] = Counter()
    for place in inside:
        holders = (holder for copy in copies.get(place, ()) for holder in _holder(module, copy))
        counts.update(dict.fromkeys(holders, 1))
    return counts


def _holder(module: HloModule, place: Place) -> Iterator[Place]:
    """Yield the fusion that holds an instruction; nothing if it is outside of fusions."""
    holder = holders_of(module).get(place.computation)
    if holder is not None and holder.opcode == "fusion":
        yield Place(homes_of(module)[place.computation], holder.name)
