"""The time that collectives hide together at most, with each piece of work beside one at a time.

A collective can hide no more than its own time, and a piece of work no more than its own. The
largest sum under both limits is the maximum flow from collectives to the work independent of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.schedule import Overlap

_MOST_COLLECTIVES = 60
"""Of a computation, the longest; the others count as if they had work of their own."""
_UNIT = 2.0**-90
"""Of seconds, in whole numbers: a flow in fractions may go on with what rounding leaves."""


class Waiting(Struct, frozen=True):
    """A collective with its modeled time."""

    seconds: float
    overlap: Overlap


def most_hidden_later(waiting: Iterable[Waiting], times: Mapping[str, float]) -> float:
    """Return the seconds of one execution that more overlap hides, each piece of work used once.

    `times` are of the work. That is the most that can be hidden less what is hidden now.
    """
    ranked = sorted(waiting, key=lambda item: -(item.overlap.hideable_seconds or 0.0))
    first, rest = ranked[:_MOST_COLLECTIVES], ranked[_MOST_COLLECTIVES:]
    limits = [item.seconds for item in first]
    most = maximum_flow(limits, [item.overlap.independent for item in first], times)
    now = maximum_flow(limits, [item.overlap.between or () for item in first], times)
    return most - now + sum(item.overlap.hideable_seconds or 0.0 for item in rest)


def maximum_flow(
    limits: Sequence[float], work: Sequence[Iterable[str]], times: Mapping[str, float]
) -> float:
    """Return the most seconds that work hides of collectives with such limits, each within both.

    Work that is independent of the same collectives counts together.
    """
    room = [round(seconds / _UNIT) for seconds in limits]
    amounts = _group_work(work, times)
    if all(len(members) == 1 for members in amounts):
        return sum(min(room[number], amount) for (number,), amount in amounts.items()) * _UNIT
    import networkx as nx  # noqa: PLC0415 - takes longer to import than most modules to analyze

    graph = nx.DiGraph()
    graph.add_edge("start", "end", capacity=0)
    for number, most in enumerate(room):
        graph.add_edge("start", number, capacity=most)
    for members, amount in amounts.items():
        graph.add_edges_from((number, members) for number in members)
        graph.add_edge(members, "end", capacity=amount)
    return float(nx.maximum_flow_value(graph, "start", "end") * _UNIT)


def _group_work(
    work: Sequence[Iterable[str]], times: Mapping[str, float]
) -> dict[tuple[int, ...], int]:
    """Return the units of work that the same collectives can hide behind, by their numbers."""
    collectives: dict[str, tuple[int, ...]] = defaultdict(tuple)
    for number, names in enumerate(work):
        for name in dict.fromkeys(names):
            collectives[name] += (number,)
    groups: dict[tuple[int, ...], float] = defaultdict(float)
    for name, members in collectives.items():
        groups[members] += times.get(name, 0.0)
    amounts = {members: round(seconds / _UNIT) for members, seconds in groups.items()}
    return {members: amount for members, amount in amounts.items() if amount}
