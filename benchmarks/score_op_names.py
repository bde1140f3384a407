"""Scores the trails of heavy instructions in untagged dumps against their op_names.

Usage: `python benchmarks/score_op_names.py [DUMP...]`, by default the untagged dumps of the test
data and those that XLAREPORT_DUMPS names, which are recorded. Asked for are heavy instructions
whose op_name a heavy instruction of the other end has: a trail is right if it ends at one of these.
Recall counts trails that break off as missed, precision does not. Many instructions share an
op_name, so this is weaker than unique tags.
"""

import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dumps import content, dumps, modules
from heavy import can_become, kind
from op_names import resolved
from record import Row, record
from trails import Direction, Result, end, result

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.pairing import Place
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.text import TextReader

_METADATA = re.compile(rb',? ?metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*+")*+\}')
_Row = tuple[str, Direction, str]
"""What the matcher sees, the direction, the opcode where the trail begins."""
_Asked = dict[Direction, dict[Place, frozenset[Place]]]
"""Where the trail of each instruction may end."""


def main() -> None:
    """Print a row for each variant, direction and opcode."""
    counts: dict[_Row, Counter[Result]] = defaultdict(Counter)
    untagged = [dump for dump in dumps() if not dump.name.startswith("tagged-")]
    for dump in map(Path, sys.argv[1:]) if sys.argv[1:] else untagged:
        for files in modules(dump):
            for row, outcome in _results(files):
                counts[row][outcome] += 1
                counts[row[0], row[1], " all"][outcome] += 1
    print(f"{'':<60}{'right':>7}{'asked':>7}{'recall':>8}{'precision':>11}")
    for row in sorted(counts):
        print(_line(f"{row[0]}, {row[1]},{row[2]:>22}", counts[row]))
    if not sys.argv[1:] and "XLAREPORT_DUMPS" in os.environ:
        record("op_names", [_recorded(row, counts[row]) for row in sorted(counts)])


def _recorded(row: _Row, counts: Mapping[Result, int]) -> Row:
    right, wrong, lost = (counts[outcome] for outcome in Result)
    names = {"seen": row[0], "direction": str(row[1]), "opcode": row[2].strip()}
    return {**names, "right": right, "wrong": wrong, "lost": lost}


def _results(files: ModuleFiles) -> Iterator[tuple[_Row, Result]]:
    texts = _texts(files)
    named = _read(texts)
    if len(named) < 2:
        return
    asked = _asked(named[0], named[-1])
    bare = _read([_METADATA.sub(b"", text) for text in texts])
    for seen, chain in (("op_names", named), ("no metadata", bare)):
        yield from _judged(f"{seen}, every snapshot", chain, asked)
        yield from _judged(f"{seen}, both ends alone", [chain[0], chain[-1]], asked)


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


def _asked(first: HloModule, final: HloModule) -> _Asked:
    before, after = _heavy(first), _heavy(final)
    pairs = {
        (old, new)
        for old, (old_kind, old_names) in before.items()
        for new, (new_kind, new_names) in after.items()
        if can_become(old_kind, new_kind) and old_names & new_names
    }
    return {
        Direction.FORWARD: _by_first(pairs),
        Direction.BACK: _by_first({(new, old) for old, new in pairs}),
    }


def _by_first(pairs: set[tuple[Place, Place]]) -> dict[Place, frozenset[Place]]:
    targets: dict[Place, set[Place]] = defaultdict(set)
    for source, target in pairs:
        targets[source].add(target)
    return {source: frozenset(places) for source, places in sorted(targets.items())}


def _heavy(module: HloModule) -> dict[Place, tuple[str, frozenset[str]]]:
    every = ((place, kind(_at(module, place)), names) for place, names in resolved(module))
    return {place: (known, names) for place, known, names in every if known is not None}


def _at(module: HloModule, place: Place) -> Instruction:
    return module.by_name[place.computation].by_name[place.instruction]


def _judged(seen: str, chain: Sequence[HloModule], asked: _Asked) -> Iterator[tuple[_Row, Result]]:
    snapshots, last = SnapshotSequence(chain), len(chain) - 1
    for direction, starts in asked.items():
        module = chain[0 if direction is Direction.FORWARD else -1]
        for start, wanted in starts.items():
            ended = end(snapshots, last, start, direction)
            yield (seen, direction, _at(module, start).opcode), result(ended, wanted)


def _line(title: str, counts: Mapping[Result, int]) -> str:
    right, wrong = counts[Result.RIGHT], counts[Result.WRONG]
    asked = right + wrong + counts[Result.LOST]
    precision = f"{100 * right / (right + wrong):.1f}%" if right + wrong else ""
    return f"{title:<60}{right:>7,}{asked:>7,}{100 * right / asked:>7.1f}%{precision:>11}"


if __name__ == "__main__":
    main()
