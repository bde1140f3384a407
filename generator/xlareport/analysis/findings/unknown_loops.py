"""Findings outside of loops of unknown trip count: their share of the time is known as a bound.

The roofline time counts such a loop once. Where it takes much of that time, what runs beside it is
a smaller part of the true time, by an unknown factor.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import InstructionKey

_LEAST_SHARE = 0.1
"""Of the roofline time; loops that take less hardly change a share."""
_MOST = 200
"""Loops of unknown trip count; with more, no share is qualified."""


class UnknownLoops(Struct, frozen=True):
    """The outermost loops of unknown trip count that take much of a module's time."""

    names: tuple[str, ...]
    inside: frozenset[str]
    """The computations that they run."""


def find_unknown_loops(case: Case) -> UnknownLoops | None:
    """Return the loops whose trip count would change shares; None without any."""
    unknown = [key for key, trips in case.cost.trip_counts.items() if trips.count is None]
    if len(unknown) > _MOST:
        return None
    loops = [(key, _run_by(case, key)) for key in unknown]
    outermost = [
        (key, run) for key, run in loops if not any(key[0] in others for _, others in loops)
    ]
    run = frozenset[str]().union(*(run for _, run in outermost))
    spent = sum(case.least(cost) for place, _, cost in case.scheduled() if place.name in run)
    if not outermost or case.share(spent) < _LEAST_SHARE:
        return None
    return UnknownLoops(tuple(name for (_, name), _ in outermost), run)


def _run_by(case: Case, key: InstructionKey) -> frozenset[str]:
    computation = case.module.by_name.get(key[0])
    loop = computation.by_name.get(key[1]) if computation else None
    return frozenset(called_computations(case.module, [loop]) if loop else ())


def qualify_shares(case: Case, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; those of a time beside such loops with the loops and a sentence on them.

    They weigh nothing beside the others, because their true share is not known.
    """
    loops = find_unknown_loops(case)
    for finding in findings:
        if loops is None or not finding.seconds or not _is_beside(case, loops, finding):
            yield finding
            continue
        which = "loops" if len(loops.names) > 1 else "the loop"
        counts = "whose trip counts are" if len(loops.names) > 1 else "whose trip count is"
        yield replace(
            finding,
            evidence=(
                f"{finding.evidence} It runs outside of {which} {join_names(loops.names)}, {counts}"
                " not known and counted as 1: with more iterations its share is smaller."
            ),
            weight=0.0,
            beside_loops=loops.names,
        )


def _is_beside(case: Case, loops: UnknownLoops, finding: Finding) -> bool:
    counted = [place for place in finding.places if place in case.cost.instructions]
    return bool(counted) and not any(home in loops.inside for home, _ in counted)
