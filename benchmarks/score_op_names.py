"""Scores the trails of heavy instructions in untagged dumps against their op_names.

Usage: `python benchmarks/score_op_names.py [--show N] [--only TEXT] [--workers N] [DUMP...]`, by
default the untagged dumps of the test data and those that XLAREPORT_DUMPS names, which are
recorded. Asked for are heavy instructions whose op_name a heavy instruction of the other end has: a
trail is right if it ends at one of these. Recall counts trails that break off as missed, precision
does not. A trail that ends at a heavy instruction of the kind from which the compiler dropped the
op_name is not judged, but counted. Many instructions share an op_name, so this is weaker than
unique tags. `--show` prints failures and the step at which a trail broke off.
"""

import argparse
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dumps import content, dumps, modules
from heavy import can_become, kind
from op_names import resolved
from record import Row, record
from trails import Direction, Result, listed, moved, result, way

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.search.pairing import Place
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.text import TextReader

_METADATA = re.compile(rb',? ?metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*+")*+\}')
_Row = tuple[str, Direction, str]
"""What the matcher sees, the direction, the opcode where the trail begins."""
_Targets = dict[Place, frozenset[Place]]
"""Where the trail of each instruction may end."""
_Heavy = dict[Place, tuple[str, str, frozenset[str]]]
"""Heavy instructions: opcode, kind, op_names."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of the trails in one direction."""

    direction: Direction
    starts: _Heavy
    ends: _Heavy
    targets: _Targets

    def judge(self, start: Place, ended: frozenset[Place]) -> Result | None:
        """Return whether a trail ended right; None where op_names do not say."""
        outcome = result(ended, self.targets[start])
        known = [self.ends[place] for place in ended if place in self.ends]
        nameless = [there for _, there, names in known if not names and self._fits(start, there)]
        return None if outcome is Result.WRONG and nameless else outcome

    def _fits(self, start: Place, kind_there: str) -> bool:
        kinds = self.starts[start][1], kind_there
        return can_become(*(kinds if self.direction is Direction.FORWARD else kinds[::-1]))


@dataclass(frozen=True, slots=True)
class _Outcome:
    row: _Row
    result: Result | None
    """None where it cannot be judged."""
    words: str
    """Where the trail began and where it ended or broke off."""


def main() -> None:
    """Print a row for each variant, direction and opcode."""
    options = _options()
    counts: dict[_Row, Counter[Result | None]] = defaultdict(Counter)
    untagged = [dump for dump in dumps() if not dump.name.startswith("tagged-")]
    with ProcessPoolExecutor(options.workers) as pool:
        for outcomes in pool.map(_outcomes, options.dumps or untagged):
            for outcome in outcomes:
                seen, direction, _ = outcome.row
                counts[outcome.row][outcome.result] += 1
                counts[seen, direction, " all"][outcome.result] += 1
            _print_failures(outcomes, options)
    print(f"{'':<60}{'right':>7}{'asked':>7}{'recall':>8}{'precision':>11}{'not judged':>12}")
    for row in sorted(counts):
        print(_line(f"{row[0]}, {row[1]},{row[2]:>22}", counts[row]))
    if not options.dumps and "XLAREPORT_DUMPS" in os.environ:
        record("op_names", [_recorded(row, counts[row]) for row in sorted(counts)])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many failures")
    parser.add_argument("--only", default="", help="failures whose words hold this")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    return parser.parse_args()


def _outcomes(dump: Path) -> list[_Outcome]:
    return [outcome for files in modules(dump) for outcome in _results(dump, files)]


def _print_failures(outcomes: Sequence[_Outcome], options: argparse.Namespace) -> None:
    failures = [outcome.words for outcome in outcomes if outcome.result not in (Result.RIGHT, None)]
    shown = [words for words in failures if options.only in words][: options.show]
    options.show -= len(shown)
    for words in shown:
        print(f"    {words}")


def _recorded(row: _Row, counts: Counter[Result | None]) -> Row:
    right, wrong, lost = (counts[outcome] for outcome in Result)
    names = {"seen": row[0], "direction": str(row[1]), "opcode": row[2].strip()}
    return {**names, "right": right, "wrong": wrong, "lost": lost, "unnamed": counts[None]}


def _results(dump: Path, files: ModuleFiles) -> Iterator[_Outcome]:
    texts = _texts(files)
    named = _read(texts)
    if len(named) < 2:
        return
    questions = _questions(named[0], named[-1])
    name = f"{dump.name}/{files.key}"
    bare = _read([_METADATA.sub(b"", text) for text in texts])
    for seen, chain in (("op_names", named), ("no metadata", bare)):
        for part, part_chain in (
            ("every snapshot", chain),
            ("both ends alone", [chain[0], chain[-1]]),
        ):
            snapshots, last = SnapshotSequence(part_chain), len(part_chain) - 1
            for question in questions:
                yield from _judged(f"{seen}, {part}", snapshots, last, question, name)


def _texts(files: ModuleFiles) -> list[bytes]:
    """Return the snapshots up to the optimized one; none where an end is missing."""
    names = [stage.name for stage in files.stages]
    if "before_optimizations" not in names[:1] or "after_optimizations" not in names:
        return []
    until = files.stages[: names.index("after_optimizations") + 1]
    return [text for stage in until if (text := content(stage, "hlo-text")) is not None]


def _read(texts: Sequence[bytes]) -> list[HloModule]:
    reader = TextReader()
    modules = (reader.read(text, "snapshot") for text in texts)
    return [module for module in modules if module is not None]


def _questions(first: HloModule, final: HloModule) -> tuple[_Question, _Question]:
    before, after = _heavy(first), _heavy(final)
    pairs = {
        (old, new)
        for old, (_, old_kind, old_names) in before.items()
        for new, (_, new_kind, new_names) in after.items()
        if can_become(old_kind, new_kind) and old_names & new_names
    }
    back = _by_first({(new, old) for old, new in pairs})
    return (
        _Question(Direction.FORWARD, before, after, _by_first(pairs)),
        _Question(Direction.BACK, after, before, back),
    )


def _by_first(pairs: set[tuple[Place, Place]]) -> _Targets:
    targets: dict[Place, set[Place]] = defaultdict(set)
    for source, target in pairs:
        targets[source].add(target)
    return {source: frozenset(places) for source, places in sorted(targets.items())}


def _heavy(module: HloModule) -> _Heavy:
    """Return the heavy instructions with their op_names, and those of what only moves them.

    A pass that folds a transpose into the dot that it reads gives the dot its op_name.
    """
    heavy: _Heavy = {}
    for computation in module.computations:
        for line in computation.instructions:
            known = kind(line)
            if known is not None:
                heavy[Place(computation.name, line.name)] = line.opcode, known, frozenset()
    for place, own in resolved(module):
        source = moved(module.by_name[place.computation], _at(module, place))
        origin = Place(place.computation, source.name)
        if origin in heavy:
            opcode, known, names = heavy[origin]
            heavy[origin] = opcode, known, names | own
    return heavy


def _at(module: HloModule, place: Place) -> Instruction:
    return module.by_name[place.computation].by_name[place.instruction]


def _judged(
    seen: str, snapshots: SnapshotSequence, last: int, question: _Question, name: str
) -> Iterator[_Outcome]:
    direction = question.direction
    for start, wanted in question.targets.items():
        begin = (last + 1, frozenset({start}))
        steps = [begin, *_until_broken(snapshots, last, start, direction)]
        (_, before), (stage, ended) = steps[-2:][0], steps[-1]
        opcode, _, _ = question.starts[start]
        outcome = question.judge(start, ended)
        words = (
            f"{str(outcome).upper()} {name}: {seen}, {direction}, {opcode} {start}, wanted"
            f" {listed(wanted)[:200]}, step {stage}: {listed(before)} to {listed(ended)}"
        )
        yield _Outcome((seen, direction, opcode), outcome, words)


def _until_broken(
    snapshots: SnapshotSequence, last: int, start: Place, direction: Direction
) -> Iterator[tuple[int, frozenset[Place]]]:
    """Yield the steps of a trail up to where it ends or breaks off."""
    for stage, there in way(snapshots, last, start, direction):
        yield stage, there
        if not there:
            return


def _line(title: str, counts: Counter[Result | None]) -> str:
    right, wrong = counts[Result.RIGHT], counts[Result.WRONG]
    asked = right + wrong + counts[Result.LOST]
    recall = f"{100 * right / asked:.1f}%" if asked else ""
    precision = f"{100 * right / (right + wrong):.1f}%" if right + wrong else ""
    return f"{title:<60}{right:>7,}{asked:>7,}{recall:>8}{precision:>11}{counts[None]:>12,}"


if __name__ == "__main__":
    main()
