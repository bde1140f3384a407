"""Checks the accounts of steps and the histories of heavy instructions against what must hold.

Usage: `python benchmarks/score_steps.py [--show N] [--strict] [DUMP...]`, by default the test data
and the dumps that XLAREPORT_DUMPS names. With `--strict` a failure is an exit status of 1.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from dumps import dumps, modules
from invariants import Failure, history_failures, step_failures

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.steps.step import step
from xlareport.program import ParsedModule, read_module

_TITLES = {
    "steps": "steps that change something",
    "count": "  count of instructions is not what was added less what was removed",
    "nothing": "  said to change nothing, and do",
    "histories": "modules with histories",
    "gone": "  heavy instructions gone though the last snapshot has their op_name",
    "made": "  said to be the program's, and not in the first snapshot",
}


def main() -> None:
    """Print the counts of failures and as many of them as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many failures of each kind")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for dump in options.dumps or dumps():
        for files in modules(dump):
            for place, found in _checked(read_module(files), counts):
                counts[found.invariant] += 1
                if counts[found.invariant] <= options.show:
                    print(f"{found.invariant}: {dump.name}/{files.key}, {place}: {found.words}")
    for key, title in _TITLES.items():
        print(f"{title:<75}{counts[key]:>8,}")
    if options.strict and any(counts[key] for key in ("count", "nothing", "gone", "made")):
        sys.exit(1)


def _checked(module: ParsedModule, counts: Counter[str]) -> Iterator[tuple[str, Failure]]:
    texts = [one.hlo for one in module.snapshots]
    matchings = {}
    for number, (before, after) in enumerate(pairwise(texts), start=1):
        made = step(before, after)
        counts["steps"] += not made.identical
        if made.matching is not None:
            matchings[number] = made.matching
        stage = module.snapshots[number].stage.label
        yield from ((stage, one) for one in step_failures(before, after, made))
    if module.final is not None and len(texts) > 1:
        counts["histories"] += 1
        last = module.snapshots.index(module.final)
        for one in history_failures(SnapshotSequence(texts, matchings), last):
            yield "history", one


if __name__ == "__main__":
    main()
