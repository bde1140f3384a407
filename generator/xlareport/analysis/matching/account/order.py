"""The order of pairings: by old position, then additions by new position."""

from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Pairing, Place
from xlareport.analysis.matching.search.search import Search
from xlareport.hlo.model import HloModule


def in_order(search: Search, pairings: list[Pairing]) -> list[Pairing]:
    """Return the pairings sorted by old position, then additions sorted by new position."""
    old = _positions(search.before.graph.module)
    new = _positions(search.after.graph.module)

    def order(pairing: Pairing) -> tuple[bool, tuple[int, int]]:
        if pairing.before:
            return False, old(pairing.before[0])
        return True, new(pairing.after[0])

    return sorted(pairings, key=order)


def _positions(module: HloModule) -> Callable[[Place], tuple[int, int]]:
    """Return a function from a place to its position; each computation is indexed once."""
    computations = {
        computation.name: number for number, computation in enumerate(module.computations)
    }
    lines: dict[str, dict[str, int]] = {}

    def position(place: Place) -> tuple[int, int]:
        name = place.computation
        if name not in lines:
            computation = module.by_name[name]
            lines[name] = {
                line.name: number for number, line in enumerate(computation.instructions)
            }
        return computations[name], lines[name][place.instruction]

    return position
