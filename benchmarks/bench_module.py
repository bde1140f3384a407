"""Measures the analysis of one module by stage, beside the size of what changed in it.

Usage: `python benchmarks/bench_module.py [DUMP [part of a module's name]]`; without a dump the
largest module at hand. A second column leaves out the snapshots that equal the one before: it must
cost nearly as much as the first, because cost grows with what changed, not with the passes.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from dumps import dumps, modules

from xlareport.analysis.cost.work import Costs
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.node_timelines import build_timelines
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.passes.growth import measure_growth
from xlareport.analysis.steps.step import StepChange, step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule
from xlareport.pages.history.payload import history_payloads
from xlareport.program import read_module

T = TypeVar("T")


@dataclass(slots=True)
class Clock:
    """CPU seconds of this process by stage, in the order in which they were taken."""

    seconds: dict[str, float] = field(default_factory=dict)

    def take(self, stage: str, work: Callable[[], T]) -> T:
        """Do some work and note how long it took."""
        start = time.process_time()
        done = work()
        self.seconds[stage] = time.process_time() - start
        return done


def main() -> None:
    """Print the size of a module's changes, and the CPU seconds of each stage of its analysis."""
    wanted = [Path(sys.argv[1])] if len(sys.argv) > 1 else dumps()
    key = max(_sizes(wanted, sys.argv[2] if len(sys.argv) > 2 else ""))[1:]
    files = next(module for module in modules(key[0]) if module.key == key[1])
    for distinct in (False, True):
        _print(files, distinct=distinct)


def _sizes(wanted: Sequence[Path], part: str) -> Iterator[tuple[int, Path, str]]:
    """Yield the bytes of each module, its dump and its name."""
    for dump in wanted:
        for module in modules(dump):
            if part in module.key:
                yield sum(artifact.entry.size for artifact in module.artifacts), dump, module.key


def _print(files: ModuleFiles, *, distinct: bool) -> None:
    """Measure a module, with or without the snapshots that equal the one before."""
    clock = Clock()
    module = clock.take("reading", lambda: read_module(files))
    snapshots = [snapshot.hlo for snapshot in module.snapshots]
    if distinct:
        snapshots = list(_distinct(snapshots))
    changes = _stages(clock, snapshots)
    matchings = [change.matching for change in changes if change.matching is not None]
    pairings = sum(len(one.pairings) for one in matchings)
    lines = sum(_lines(one) for one in matchings)
    kept = "without those that change nothing" if distinct else "all"
    print(f"{files.key}: {len(snapshots)} snapshots ({kept}), {len(matchings)} steps with changes")
    print(f"  {lines:,} lines in computations that differ, {pairings:,} pairings")
    for stage, seconds in (*clock.seconds.items(), ("together", sum(clock.seconds.values()))):
        print(f"  {stage:<20}{seconds:>8.2f} s")


def _distinct(snapshots: Sequence[HloModule]) -> Iterator[HloModule]:
    yield from snapshots[:1]
    for before, after in pairwise(snapshots):
        if before.computations != after.computations:
            yield after


def _stages(clock: Clock, snapshots: Sequence[HloModule]) -> list[StepChange]:
    """Take the time of what is derived from the snapshots; matching is a part of the steps."""
    changes = clock.take("steps without it", lambda: [step(*pair) for pair in pairwise(snapshots)])
    found = {place: change.matching for place, change in enumerate(changes, 1) if change.matching}
    again = [(one.before, one.after) for one in found.values()]
    clock.take("matching", lambda: [match(*pair) for pair in again])
    clock.seconds["steps without it"] -= clock.seconds["matching"]
    clock.take("text differences", lambda: [text_diff(one) for one in found.values()])
    clock.take("growth", lambda: measure_growth(snapshots, Costs()))
    known = SnapshotSequence(snapshots, found)
    stages = [(str(number), "") for number in range(len(snapshots))]
    clock.take("histories", lambda: list(history_payloads("module", known, stages)))
    clock.take("computation timelines", lambda: build_timelines(known))
    return changes


def _lines(matching: Matching) -> int:
    """Return the lines after in computations that are not shared."""
    before = matching.before.by_name
    return sum(
        len(computation.instructions)
        for computation in matching.after.computations
        if before.get(computation.name) is not computation
    )


if __name__ == "__main__":
    main()
