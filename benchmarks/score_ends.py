"""Scores what a step from the first to the final snapshot says of instructions at one end only.

Usage: `python benchmarks/score_ends.py [--show N] [--workers N] [DUMP...]`, by default the test
data and the dumps that XLAREPORT_DUMPS names, which are recorded. A dump of before and after alone
has this step and no other. In dumps of every pass, the histories over all snapshots tell whether an
instruction was removed or added, or continues: a removal or an addition is right if they agree.
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dumps import content, dumps, modules
from record import Row, record

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.roots import Relatives, find_descendants, find_roots
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

_FEWEST = 4
"""Snapshots of a module with passes in between."""
_ENDS = {"first": Kind.REMOVED, "final": Kind.ADDED}
_STAGED = frozenset({"bitcast", "copy", "get-tuple-element", "parameter", "tuple"})
"""Opcodes of additions that are not counted: the compiler adds these of its own."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of an instruction that only one snapshot has."""

    end: str
    result: str
    """`right`, `wrong` or `unknown`."""
    words: str


def main() -> None:
    """Print a row for each end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", type=Path, nargs="*")
    parser.add_argument("--show", type=int, default=0, help="print so many wrong ones of each dump")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(asked.workers) as pool:
        for verdicts in pool.map(judge_dump, asked.dumps or dumps()):
            counts.update((verdict.end, verdict.result) for verdict in verdicts)
            wrong = [verdict.words for verdict in verdicts if verdict.result == "wrong"]
            print(*wrong[: asked.show], sep="\n", end="\n" if wrong[: asked.show] else "")
    rows = [_row(end, counts) for end in _ENDS]
    for row in rows:
        print(*(f"{key}: {value}" for key, value in row.items()), sep=", ")
    if not asked.dumps:
        record("ends", rows)


def _row(end: str, counts: Mapping[tuple[str, str], int]) -> Row:
    results = ("right", "wrong", "unknown")
    return {"end": end, **{result: counts.get((end, result), 0) for result in results}}


def judge_dump(dump: Path) -> list[Verdict]:
    """Return what is said of the instructions at one end, of all modules of a dump."""
    return [verdict for files in modules(dump) for verdict in _judge_module(files)]


def _judge_module(files: ModuleFiles) -> Iterator[Verdict]:
    reader = TextReader()
    texts = (content(stage, "hlo-text") for stage in files.stages)
    read = (None if text is None else reader.read(text, files.slug) for text in texts)
    snapshots = [module for module in read if module is not None]
    if len(snapshots) < _FEWEST:
        return
    sequence = SnapshotSequence(snapshots)
    relatives = find_descendants(sequence), find_roots(sequence)
    for change in step(snapshots[0], snapshots[-1]).changes:
        for end, module, place, related in zip(
            _ENDS,
            (snapshots[0], snapshots[-1]),
            (change.before, change.after),
            relatives,
            strict=True,
        ):
            if place is not None and (change.before is None or change.after is None):
                yield from _judge(end, change, module, place, related)


def _judge(
    end: str, change: Change, module: HloModule, place: Place, related: Relatives
) -> Iterator[Verdict]:
    line = module.find(*place)
    if line is None or (end == "final" and line.opcode in _STAGED):
        return
    if change.kind is Kind.UNTRACED:
        yield Verdict(end, "unknown", "")
    elif change.kind is _ENDS[end]:
        others = related.get(place.computation, {}).get(place.instruction, ())
        words = f"{place} {change.kind}: {change.reason}; but {', '.join(map(str, others[:3]))}"
        yield Verdict(end, "wrong" if others else "right", words)


if __name__ == "__main__":
    main()
