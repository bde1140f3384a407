"""Instructions that stay where they were although others hold the same now: copies of them."""

from collections.abc import Iterable, Iterator

from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.result import GROUPS, Matching
from xlareport.analysis.matching.sides.facts import holders_of, live_computations
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.hlo.model import HloModule


def list_staying(matching: Matching, places: Iterable[Place]) -> Iterator[Place]:
    """Yield the old places whose instruction has a live counterpart in the same computation.

    Where that was called and is fused now, all of it went into a fusion.
    """
    for place in places:
        home = matching.computations.get(place.computation, place.computation)
        callers = _caller(matching.before, place.computation), _caller(matching.after, home)
        if callers[0] == callers[1] and home in live_computations(matching.after):
            yield from [place] if _stays(matching, place, home) else []


def _caller(module: HloModule, computation: str) -> str:
    """Return the opcode of what calls a computation; empty of the entry."""
    holder = holders_of(module).get(computation)
    return "" if holder is None else holder.opcode


def _stays(matching: Matching, place: Place, home: str) -> bool:
    pairing = matching.pairing_before(place)
    if pairing is None or pairing.relation in GROUPS:
        other = matching.partner_before(Place(home, place.instruction))
        names = [place.instruction] if other == place else []
    else:
        names = [now.instruction for now in pairing.after if now.computation == home]
    computation = matching.after.by_name.get(home)
    return computation is not None and any(
        name in computation.by_name and name not in dead_names(computation) for name in names
    )


def list_changing(matching: Matching) -> Iterator[Pairing]:
    """Yield the pairings, without those of lines that stay as they are and only lost callers.

    What calls others that hold the same instead has changed, and is told.
    """
    for pairing in matching.pairings:
        if pairing.relation is not Relation.MERGED or pairing.cause is not ChangeCause.UNCALLED:
            yield pairing
