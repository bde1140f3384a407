"""Sentences on the loops of unknown trip count that take much of the time."""

from collections.abc import Iterator

from xlareport.analysis.cost.looped import CountedOnce, time_at_most
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.runtime import units
from xlareport.runtime.english import listing

_LEAST_SHARE = 0.01
"""Of the module's time, one iteration of a loop that is named."""
_MOST_NAMED = 2


def loops_counted_once(cost: CostReport) -> tuple[CountedOnce, ...]:
    """Return the loops of unknown trip count that take time, the longest first."""
    whole = cost.whole_seconds or 0.0
    loops = [
        CountedOnce(row.instruction, row.seconds or 0.0, row.trip_count.most)
        for row in cost.loops
        if row.trip_count.count is None and (row.seconds or 0.0) > _LEAST_SHARE * whole
    ]
    return tuple(sorted(loops, key=lambda loop: -loop.seconds))


def iterations_words(cost: CostReport) -> str:
    """Return a sentence for each of the longest such loops; empty without any."""
    return " ".join(_sentences(cost))


def _sentences(cost: CostReport) -> Iterator[str]:
    whole = cost.whole_seconds or 0.0
    for loop in loops_counted_once(cost)[:_MOST_NAMED]:
        share = units.share(min(1.0, loop.seconds / whole))
        once = (
            f"an iteration takes {units.seconds(loop.seconds)}, counted once, {share} of the time"
        )
        if loop.most is None:
            yield f"`%{loop.name}`: unknown trip count; {once}.{_longer(loop, whole)}"
            continue
        most = time_at_most(loop.seconds, loop.seconds, whole, [loop])
        bound = units.plural(loop.most, "iteration")
        at_most = f"; at {loop.most:,} it is {units.share(most.share)}" * (loop.most > 1)
        yield f"`%{loop.name}`: at most {bound}; {once}{at_most}."


def _longer(loop: CountedOnce, whole: float) -> str:
    """Return from how many iterations on a loop takes longer than all else together."""
    others = max(0.0, whole - loop.seconds)
    count = int(others / loop.seconds) + 1
    if count == 1:
        return ""
    return (
        f" From {count:,} iterations on, it takes longer than all else ({units.seconds(others)})."
    )


def with_one_iteration(cost: CostReport) -> str:
    """Return what a division of the time assumes: ` with one iteration of %loop`; else nothing."""
    names = [f"%{loop.name}" for loop in loops_counted_once(cost)]
    if len(names) > _MOST_NAMED:
        return f" with one iteration of {len(names):,} loops"
    return f" with one iteration of {listing(names)}" if names else ""


def named_loops(cost: CostReport) -> int:
    """Return how many loops have a sentence."""
    return len(loops_counted_once(cost)[:_MOST_NAMED])
