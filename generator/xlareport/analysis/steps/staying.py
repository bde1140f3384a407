"""Instructions that stay where they were although a fusion holds them now: it holds a copy."""

from collections.abc import Iterable, Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import GROUPS, Matching
from xlareport.analysis.matching.sides.facts import live_computations
from xlareport.analysis.matching.sides.leftovers import dead_names


def list_staying(matching: Matching, places: Iterable[Place]) -> Iterator[Place]:
    """Yield the old places whose instruction has a live counterpart in the same computation."""
    for place in places:
        home = matching.computations.get(place.computation, place.computation)
        if home in live_computations(matching.after) and _stays(matching, place, home):
            yield place


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
