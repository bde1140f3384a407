"""Scores which instructions of the first snapshot a step to the final one leads back to.

Usage: `python benchmarks/score_roots.py [--show N] [--workers N] [DUMP...]`, by default the test
data and the dumps that XLAREPORT_DUMPS names, which are recorded. A dump of before and after alone
has this step and no other. In dumps of every pass, the histories over all snapshots tell from which
instructions of the first one each final instruction comes. They can be wrong too, so this is no
truth; but where they differ from the single step, the single step is seldom the right one.

Instructions that both call new are not counted, nor those that carry or rearrange values.
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dumps import dumps, modules, snapshots_of
from record import Row, record

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.roots import find_roots
from xlareport.analysis.matching.search.pairing import Place
from xlareport.dump.modules import ModuleFiles

_FEWEST = 4
"""Snapshots of a module with passes in between."""
_UNCOUNTED = frozenset(
    {"bitcast", "constant", "copy", "get-tuple-element", "parameter", "reshape", "tuple"}
)
_DEVICES = ("one", "several")
_VERDICTS = ("right", "partly", "wrong", "invented", "missed")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the single step agrees with the histories about one final instruction."""

    devices: str
    opcode: str
    result: str
    """`right`, `partly`, `wrong`, `invented` (new by the histories), or `missed`."""
    words: str


def main() -> None:
    """Print a row for modules of one device, and one for those of several."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", type=Path, nargs="*")
    parser.add_argument("--show", type=int, default=0, help="print so many unequal ones of a dump")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(asked.workers) as pool:
        for verdicts in pool.map(judge_dump, asked.dumps or dumps()):
            counts.update((verdict.devices, verdict.result) for verdict in verdicts)
            unequal = [verdict.words for verdict in verdicts if verdict.result != "right"]
            print(*unequal[: asked.show], sep="\n", end="\n" if unequal[: asked.show] else "")
    rows = [_row(devices, counts) for devices in _DEVICES]
    for row in rows:
        print(*(f"{key}: {value}" for key, value in row.items()), sep=", ")
    if not asked.dumps:
        record("roots", rows)


def _row(devices: str, counts: Counter[tuple[str, str]]) -> Row:
    return {"devices": devices, **{verdict: counts[devices, verdict] for verdict in _VERDICTS}}


def judge_dump(dump: Path) -> list[Verdict]:
    """Return a verdict on each final instruction that is counted, of all modules of a dump."""
    return [verdict for files in modules(dump) for verdict in _judge_module(files)]


def _judge_module(files: ModuleFiles) -> Iterator[Verdict]:
    snapshots = snapshots_of(files)
    if len(snapshots) < _FEWEST:
        return
    final = snapshots[-1]
    known = find_roots(SnapshotSequence(snapshots))
    claimed = find_roots(SnapshotSequence([snapshots[0], final]))
    devices = _DEVICES[final.partition_count > 1]
    for computation in final.computations:
        for line in computation.instructions:
            if line.opcode in _UNCOUNTED:
                continue
            ends = [
                frozenset(roots.get(computation.name, {}).get(line.name, ()))
                for roots in (known, claimed)
            ]
            if any(ends):
                words = _words(Place(computation.name, line.name), *ends)
                yield Verdict(devices, line.opcode, compare_roots(*ends), words)


def compare_roots(known: frozenset[Place], claimed: frozenset[Place]) -> str:
    """Return how the roots by the single step agree with those by the histories."""
    if known == claimed:
        return "right"
    if not known:
        return "invented"
    if not claimed:
        return "missed"
    return "partly" if known & claimed else "wrong"


def _words(place: Place, known: frozenset[Place], claimed: frozenset[Place]) -> str:
    first, second = (
        ", ".join(str(root) for root in sorted(roots)[:_SHOWN]) or "new"
        for roots in (known, claimed)
    )
    return f"{compare_roots(known, claimed)}: {place}: {first}; the single step: {second}"


if __name__ == "__main__":
    main()
