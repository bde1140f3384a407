"""Scores the matching on real steps, pass by pass.

First what is placed: the share of instructions that got a partner or a stated fate at the grades
exact and matched, beside the share that names alone would place. Then real truth: in the protos of
jaxlib 0.4.13 instruction ids are identities, later they are not; dumps where they hold are used,
as they are and with all names of the snapshot after replaced.
Usage: `python benchmarks/score_passes.py [dump ...]`, XLAREPORT_DUMPS naming a folder of more.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dumps import dumps, modules
from proto_truth import Kept, Truth, ids_of, judge, judge_nameless
from real_steps import Step, steps

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.knowledge.grades import Grade

_PASSES = 24
_HOLDS = 0.95
"""Share of surviving names that keep their id from which ids are taken for identities."""


@dataclass
class Placed:
    """Instructions on both sides of the steps of one pass, in computations that differ."""

    total: int = 0
    by_name: int = 0
    by_grade: Counter[Grade | None] = field(default_factory=Counter)
    """None: the line is unchanged."""

    def add(self, other: "Placed") -> None:
        """Add another's counts."""
        self.total += other.total
        self.by_name += other.by_name
        self.by_grade += other.by_grade

    @property
    def placed(self) -> int:
        """Unchanged, exact or matched."""
        return self.total - self.by_grade[Grade.GUESSED]


@dataclass
class Tables:
    """What was counted, by the pass that ran."""

    placed: dict[str, Placed] = field(default_factory=lambda: defaultdict(Placed))
    truth: dict[str, Truth] = field(default_factory=lambda: defaultdict(Truth))
    nameless: dict[str, Truth] = field(default_factory=lambda: defaultdict(Truth))


def placed(step: Step, matching: Matching) -> Placed:
    """Count what is placed, on both sides."""
    score = Placed()
    for here, there, said in (
        (step.before, step.after, matching.pairing_before),
        (step.after, step.before, matching.pairing_after),
    ):
        for computation in here.computations:
            other = there.by_name.get(computation.name)
            if other is computation:
                continue
            for line in computation.instructions:
                pairing = said(Place(computation.name, line.name))
                score.total += 1
                score.by_name += other is not None and line.name in other.by_name
                score.by_grade[None if pairing is None else pairing.grade] += 1
    return score


def score(dump: Path, tables: Tables) -> None:
    """Count the steps of a dump; say how far ids are identities in it."""
    kept = Kept()
    for step in _steps(dump):
        tables.placed[step.ran].add(placed(step, match(step.before, step.after)))
        ids = ids_of(step)
        if ids is not None:
            kept.count(*ids)
    if kept.names:
        print(f"{dump.name}: {100 * kept.share:.1f}% of surviving names keep their id")
    if kept.share >= _HOLDS:
        _score_ids(dump, tables)


def _score_ids(dump: Path, tables: Tables) -> None:
    for step in _steps(dump):
        ids = ids_of(step)
        if ids is not None:
            tables.truth[step.ran].add(judge(step, match(step.before, step.after), ids))
            tables.nameless[step.ran].add(judge_nameless(step, ids))


def _steps(dump: Path) -> Iterator[Step]:
    for files in modules(dump):
        yield from steps(files)


def main() -> None:
    """Print the tables."""
    wanted = sys.argv[1:]
    tables = Tables()
    for dump in dumps():
        if not wanted or dump.name.removesuffix(".tar.zst") in wanted:
            score(dump, tables)
    _print_placed(tables.placed)
    _print_truth("by instruction ids", tables.truth)
    _print_truth("by ids, names replaced", tables.nameless)


def _print_placed(found: dict[str, Placed]) -> None:
    print(_row("pass", "lines", "placed", "by name", "same", "exact", "matched", "guessed"))
    ranked = sorted(found.items(), key=lambda one: -one[1].total)
    total = Placed()
    for _, one in ranked:
        total.add(one)
    for name, one in [*ranked[:_PASSES], ("all passes", total)]:
        shares = [one.by_grade[grade] for grade in (None, *Grade)]
        figures = (_percent(count, one.total) for count in (one.placed, one.by_name, *shares))
        print(_row(name, f"{one.total:,}", *figures))


def _print_truth(title: str, truth: dict[str, Truth]) -> None:
    print(_row(title, "to find", "recall", "exact", "matched", "guessed", "open", "apart"))
    total = Truth()
    for one in truth.values():
        total.add(one)
    ranked = sorted(truth.items(), key=lambda one: -one[1].to_find)
    for name, one in [*ranked[:_PASSES], ("all passes", total)]:
        figures = [
            _percent(one.right[grade], one.right[grade] + one.wrong[grade]) for grade in Grade
        ]
        recall = _percent(one.found, one.to_find)
        apart = f"{one.told_apart}/{one.taken_over}"
        print(_row(name, f"{one.to_find:,}", recall, *figures, f"{one.unjudged:,}", apart))


def _row(name: str, *cells: str) -> str:
    return f"{name[:38]:<39}" + "".join(f"{cell:>9}" for cell in cells)


def _percent(part: int, total: int) -> str:
    return f"{100 * part / total:.1f}%" if total else ""


if __name__ == "__main__":
    main()
