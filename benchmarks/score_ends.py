"""Scores what a step from the first to the final snapshot says of instructions at one end only.

Usage: `python benchmarks/score_ends.py [--show N] [--workers N] [DUMP...]`, by default the test
data and the dumps that XLAREPORT_DUMPS names, which are recorded. A dump of before and after alone
has this step and no other. In dumps of every pass, the histories over all snapshots tell whether an
instruction was removed or added, or continues: a removal or an addition is right if they agree.

They say more than that in three cases, which count as right: a removal whose reason names what is
read now in its place, which is what the histories lead to; a reduction of dimensions of one
element, which did nothing; and a fill whose history leads to one of another constant alone, such as
that of 1 and of -1, where a subtraction became an addition. What is read in place of a removed
instruction does not continue it. New constants are not counted: every module has equal ones.
"""

import argparse
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dumps import dumps, modules, snapshots_of
from record import Row, record

from xlareport.analysis.history.instruction import SnapshotSequence, continuing
from xlareport.analysis.history.roots import Relatives, find_descendants, find_roots
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import Literal, literal_of
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule

_FEWEST = 4
"""Snapshots of a module with passes in between."""
_ENDS = {"first": Kind.REMOVED, "final": Kind.ADDED}
_STAGED = frozenset({"bitcast", "constant", "copy", "get-tuple-element", "parameter", "tuple"})
"""Opcodes of additions that are not counted: the compiler adds these of its own."""
_READ_INSTEAD = re.compile(r"uses (?:the value of )?(?:another )?%(\S+) (?:instead|now)")
_DID_NOTHING = "it only reduced dimensions of one element"


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
    snapshots = snapshots_of(files)
    if len(snapshots) < _FEWEST:
        return
    sequence = SnapshotSequence(snapshots)
    relatives = find_descendants(sequence, continuing), find_roots(sequence)
    ends = snapshots[0], snapshots[-1]
    for change in step(*ends).changes:
        for end, modules_of_end, place, related in zip(
            _ENDS, (ends, ends[::-1]), (change.before, change.after), relatives, strict=True
        ):
            if place is not None and (change.before is None or change.after is None):
                yield from _judge(end, change, modules_of_end, place, related)


def _judge(
    end: str,
    change: Change,
    modules_of_end: tuple[HloModule, HloModule],
    place: Place,
    related: Relatives,
) -> Iterator[Verdict]:
    """Yield a verdict on a place of the first of two modules, by the places of the other."""
    module, far = modules_of_end
    line = module.find(*place)
    if line is None or (end == "final" and line.opcode in _STAGED):
        return
    if change.kind is Kind.UNTRACED:
        yield Verdict(end, "unknown", "")
    elif change.kind is _ENDS[end]:
        others = related.get(place.computation, {}).get(place.instruction, ())
        others = _telling(str(change.reason), _filled(module, place), far, others)
        words = f"{place} {change.kind}: {change.reason}; but {', '.join(map(str, others[:3]))}"
        yield Verdict(end, "wrong" if others else "right", words)


def _telling(
    reason: str, filled: Literal | None, far: HloModule, others: tuple[Place, ...]
) -> tuple[Place, ...]:
    """Return the relatives that contradict a removal or an addition; empty if none does."""
    read = _READ_INSTEAD.search(reason)
    named = {place.instruction for place in others}
    if reason == _DID_NOTHING or (read is not None and read[1] in named):
        return ()
    fills = (_filled(far, place) for place in others)
    return () if filled and all(fill and fill != filled for fill in fills) else others


def _filled(module: HloModule, place: Place) -> Literal | None:
    """Return the constant that a broadcast repeats; None of anything else."""
    line, home = module.find(*place), module.by_name[place.computation]
    source = home.operand(line) if line is not None and line.opcode == "broadcast" else None
    return literal_of(source) if source is not None and source.opcode == "constant" else None


if __name__ == "__main__":
    main()
