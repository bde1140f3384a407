"""Findings inside and outside of loops of unknown trip count, which the estimated time counts once.

Where such a loop takes much of that time, what runs beside it is a smaller part of the true time,
by an unknown factor, and what runs in it takes its time in each iteration.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.looped import list_counted_once
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import InstructionKey
from xlareport.runtime.english import first_few

_LEAST_SHARE = 0.1
"""Of the roofline time; loops that take less hardly change a share."""
_MOST_NAMED = 3
_OPEN = "trip count not known"


class UnknownLoops(Struct, frozen=True):
    """The outermost loops of unknown trip count that take much of a module's time."""

    runs: Mapping[str, frozenset[str]]
    """The computations that each runs, by its name."""
    most: Mapping[str, int]
    """The most iterations of those that have a bound."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the loops."""
        return tuple(self.runs)

    @property
    def inside(self) -> frozenset[str]:
        """The computations that they run."""
        return frozenset[str]().union(*self.runs.values())


def find_unknown_loops(case: Case) -> UnknownLoops | None:
    """Return the loops whose trip count would change shares; None without any."""
    outermost = list_counted_once(case.module, case.cost.trip_counts)
    run = frozenset[str]().union(*outermost.values())
    spent = sum(case.least(cost) for place, _, cost in case.scheduled if place.name in run)
    if not outermost or case.share(spent) < _LEAST_SHARE:
        return None
    trips = case.cost.trip_counts
    most = {key[1]: bound for key in outermost if (bound := trips[key].most) is not None}
    return UnknownLoops({name: run for (_, name), run in outermost.items()}, most)


def qualify_shares(case: Case, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; those of a time with such loops and a sentence on them.

    Those beside the loops weigh nothing: their true share is not known.
    """
    loops = find_unknown_loops(case)
    for finding in findings:
        counted = [place for place in finding.places if place in case.cost.instructions]
        if loops is None or not finding.any_seconds or not counted:
            yield finding
        elif any(home in loops.inside for home, _ in counted):
            yield _qualify_inside(case, loops, finding, counted)
        else:
            yield _beside(loops, finding)


def _beside(loops: UnknownLoops, finding: Finding) -> Finding:
    which = "loops" if len(loops.names) > 1 else "the loop"
    counts = "whose trip counts are" if len(loops.names) > 1 else "whose trip count is"
    return replace(
        finding,
        evidence=(
            f"{finding.evidence} It runs outside of {which} {join_names(loops.names)}, {counts}"
            " not known and counted as 1: with more iterations its share is smaller."
        ),
        weight=0.0,
        beside_loops=loops.names,
    )


def _qualify_inside(
    case: Case, loops: UnknownLoops, finding: Finding, counted: Sequence[InstructionKey]
) -> Finding:
    """Return a finding of which at least a part runs in such a loop, with that part of its time."""
    names = tuple(
        name for name, run in loops.runs.items() if any(home in run for home, _ in counted)
    )
    times = {place: case.least(case.cost.instructions[place]) for place in counted}
    part = sum(seconds for (home, _), seconds in times.items() if home in loops.inside)
    whole = sum(times.values())
    outside = any(home not in loops.inside for home, _ in counted)
    subject = "A part of it" if outside else "It"
    return replace(
        finding,
        evidence=f"{finding.evidence} {subject} runs in {_iterations(loops, names)}.",
        in_loops=names,
        seconds_in_loops=finding.any_seconds * (part / whole if whole else 1.0),
    )


def _iterations(loops: UnknownLoops, names: Sequence[str]) -> str:
    """Return the loops with their most iterations, and what the times of their findings are."""
    bounds = [
        f"`{name}` ({f'at most {loops.most[name]:,} iterations' if name in loops.most else _OPEN})"
        for name in names
    ]
    return f"{first_few(bounds, _MOST_NAMED)}, counted once: the times are those of one iteration"
