"""Loops of unknown trip count, which the totals count once, and times at their most iterations."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from xlareport.analysis.cost.loops import TripCount
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import HloModule, InstructionKey

_MOST = 200
"""Loops of unknown trip count; of more, none is named."""


def list_counted_once(
    module: HloModule, trip_counts: Mapping[InstructionKey, TripCount]
) -> Mapping[InstructionKey, frozenset[str]]:
    """Return the outermost loops of unknown trip count, with the computations that each runs."""
    unknown = [key for key, trips in trip_counts.items() if trips.count is None]
    if len(unknown) > _MOST:
        return {}
    runs = {
        key: frozenset(called_computations(module, [loop]))
        for key in unknown
        if (loop := module.find(*key)) is not None
    }
    return {
        key: run
        for key, run in runs.items()
        if not any(key[0] in others for others in runs.values())
    }


class CountedOnce(Struct, frozen=True):
    """A loop of unknown trip count."""

    name: str
    seconds: float
    """Of one iteration, for all times that the loop is entered."""
    most: int | None
    """The most iterations; None without a bound."""


class MostTime(Struct, frozen=True):
    """What a time and its share become at the most iterations of the loops around it."""

    seconds: float | None
    """None where a loop has no bound."""
    share: float
    """Of the time of the module with as many iterations; the limit where there is no bound."""
    highest: float
    """The highest share from one iteration to the most."""


def time_at_most(
    seconds: float, inside: float, whole: float, loops: Iterable[CountedOnce]
) -> MostTime:
    """Return a time at the most iterations; `inside` is the part that runs in the loops."""
    loops = tuple(loops)
    bounds = [loop.most for loop in loops if loop.most is not None]
    spent = sum(loop.seconds for loop in loops)
    counted = seconds / whole if whole else 0.0
    if not bounds or len(bounds) < len(loops):
        limit = inside / spent if spent else 0.0
        return MostTime(None, min(1.0, limit), min(1.0, max(counted, limit)))
    most = seconds + (max(bounds) - 1) * inside
    longest = whole + sum((loop.most or 1) * loop.seconds - loop.seconds for loop in loops)
    share = most / longest if longest else 0.0
    return MostTime(most, min(1.0, share), min(1.0, max(counted, share)))
