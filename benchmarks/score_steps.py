"""Checks the accounts of steps and the histories of heavy instructions against what must hold.

Usage: `python benchmarks/score_steps.py [--show N] [--check] [DUMP...]`, by default the test data
and the dumps that XLAREPORT_DUMPS names; both are recorded. With `--check` nothing is recorded, and
the exit status is 1 if the test data break more than was recorded of them.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from dumps import large_dumps, modules, test_data
from invariants import Failure, history_failures, step_failures
from record import Row, record, recorded

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.steps.step import step
from xlareport.program import ParsedModule, read_module

_SMALL = "steps_of_test_data"
_TITLES = {
    "steps": "steps that change something",
    "histories": "modules with histories",
    "count": "  count of instructions is not what was added less what was removed",
    "nothing": "  said to change nothing, and do",
    "gone": "  heavy instructions gone though the last snapshot has their op_name",
    "reasons": "  reasons that name a use which is not in the texts",
    "holds": "  fusions told as exact whose sources are not what they hold",
    "inlined": "  computations with more calls told as inlined than are gone",
    "crosses": "  pairs that shapes, places, attributes or start values contradict",
    "equals": "  merged or cloned, and an equal one is what readers read",
    "lengths": "  float sums of a new length, and no change of numerics is named",
    "made": "  said to be the program's, and not in the first snapshot",
}


def main() -> None:
    """Print the counts of failures and as many of them as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many failures of each kind")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.dumps:
        _print(_counts(options.dumps, options.show))
        return
    small = _counts(test_data(), options.show)
    _print(small)
    if options.check:
        sys.exit(any(small[row["of"]] > int(row["count"]) for row in recorded(_SMALL)[2:]))
    record(_SMALL, _rows(small))
    if "XLAREPORT_DUMPS" in os.environ:
        every = small + _counts(large_dumps(), options.show)
        _print(every)
        record("steps", _rows(every))


def _counts(paths: Iterable[Path], show: int) -> Counter[str | int]:
    counts: Counter[str | int] = Counter()
    for dump in paths:
        for files in modules(dump):
            for place, failure in _checked(read_module(files), counts):
                counts[failure.invariant] += 1
                if counts[failure.invariant] <= show:
                    print(f"{failure.invariant}: {dump.name}/{files.key}, {place}: {failure.words}")
    return counts


def _print(counts: Counter[str | int]) -> None:
    for key, title in _TITLES.items():
        print(f"{title:<75}{counts[key]:>8,}")


def _rows(counts: Counter[str | int]) -> list[Row]:
    """Return the counts as rows: what was checked, then what failed."""
    return [{"of": key, "count": counts[key]} for key in _TITLES]


def _checked(module: ParsedModule, counts: Counter[str | int]) -> Iterator[tuple[str, Failure]]:
    texts = [snapshot.hlo for snapshot in module.snapshots]
    matchings = {}
    for number, (before, after) in enumerate(pairwise(texts), start=1):
        made = step(before, after)
        counts["steps"] += not made.identical
        if made.matching is not None:
            matchings[number] = made.matching
        stage = module.snapshots[number].stage.label
        yield from ((stage, failure) for failure in step_failures(before, after, made))
    if module.final is not None and len(texts) > 1:
        counts["histories"] += 1
        last = module.snapshots.index(module.final)
        for failure in history_failures(SnapshotSequence(texts, matchings), last):
            yield "history", failure


if __name__ == "__main__":
    main()
