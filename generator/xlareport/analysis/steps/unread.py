"""Instructions that a step left without users: it bypassed them, and the next pass removes them."""

from collections.abc import Iterator

from xlareport.analysis.matching.leftovers import ACTING
from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.matching.result import Matching
from xlareport.hlo.model import Computation


def left_unread(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Yield, before and after, what something used and nothing uses now."""
    for computation in matching.after.computations:
        old = matching.before.by_name.get(matching.computation_before(computation.name))
        if old is not None and old is not computation:
            for name in _unread(computation):
                place = Place(computation.name, name)
                known = matching.partner_before(place)
                if known is not None and _was_read(matching, known):
                    yield known, place


def _unread(computation: Computation) -> Iterator[str]:
    for line in computation.instructions:
        idle = line.opcode not in ACTING and line.opcode != "parameter"
        if idle and line is not computation.root and line.name not in computation.users:
            yield line.name


def _was_read(matching: Matching, place: Place) -> bool:
    return bool(matching.before.by_name[place.computation].users.get(place.instruction))
