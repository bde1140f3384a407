"""Further fusions that hold a copy of a former fusion: XLA fuses a producer into each consumer."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.sides.facts import holders_of, homes_of
from xlareport.hlo.model import HloModule

_Copies = Mapping[Place, Sequence[Place]]


def add_repeated_holders(before: HloModule, after: HloModule, pairings: Sequence[Pairing]) -> None:
    """Add to each fusion that was merged into others those that hold copies of most of it."""
    absorbed = [pairing for pairing in pairings if pairing.relation is Relation.ABSORBED]
    if not absorbed:
        return
    copies: dict[Place, list[Place]] = defaultdict(list)
    for pairing in pairings:
        if pairing.relation is Relation.CLONED:
            for place in pairing.before:
                copies[place] += pairing.after
    for pairing in absorbed:
        further = _holders_of_copies(before, after, pairing.before[0], copies)
        pairing.after = tuple(dict.fromkeys((*pairing.after, *further)))


def _holders_of_copies(
    before: HloModule, after: HloModule, fusion: Place, copies: _Copies
) -> Iterator[Place]:
    """Yield the fusions after that hold copies of more than half of a fusion before."""
    line = before.find(*fusion)
    if line is None or line.opcode != "fusion":
        return
    bodies = [before.by_name[name] for _, name in line.called if name in before.by_name]
    inside = [
        Place(body.name, instruction.name)
        for body in bodies
        for instruction in body.instructions
        if instruction.opcode != "parameter"
    ]
    counts: Counter[Place] = Counter()
    for place in inside:
        holders = (holder for copy in copies.get(place, ()) for holder in _holder(after, copy))
        counts.update(dict.fromkeys(holders, 1))
    yield from (holder for holder, count in counts.most_common() if 2 * count > len(inside))


def _holder(module: HloModule, place: Place) -> Iterator[Place]:
    """Yield the fusion that holds an instruction; nothing if it is outside of fusions."""
    holder = holders_of(module).get(place.computation)
    if holder is not None and holder.opcode == "fusion":
        yield Place(homes_of(module)[place.computation], holder.name)
