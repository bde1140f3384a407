"""Scores the trails of heavy instructions against unique tags.

Usage: `python benchmarks/score_trails.py [--show N] [--only TEXT] [--shown shared|none] [--ends]
[--check] [DUMP...]`, by default the tagged dumps of the test data, which are recorded, and then,
recorded apart, those in the folder that XLAREPORT_UNSEEN names: of programs for which no rule was
made (`tests/data/programs/tagged_unseen.py`).
A row counts
the trails that end right, wrong, or are not known: back from the optimized module to
`before_optimizations`, and forward from there; with op_names that all instructions of an opcode
share, and with none. A trail has the grade of its weakest step, and the line below a row counts
each grade apart; what is graded exact and ends wrong is recorded. `--ends` adds the first and the
last snapshot alone, which the record has too; `--show` prints failures and the steps at which they
left the truth. With `--check` nothing is recorded, and the exit status is 1 if fewer trails end
right than was recorded, or if one that is graded exact ends wrong.
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from record import Row, record, recorded
from tagged import Series, Shown, series
from trails import Direction, Result, Trails, Verdict, listed

from xlareport.knowledge.grades import Grade

_DATA = Path(__file__).resolve().parent.parent / "tests/data"
_Row = tuple[str, str, Direction]
"""What the matcher sees, the backend, the direction."""
_Ending = tuple[Result, Grade]


def main() -> None:
    """Print the tables."""
    options = _options()
    rows = _scored(options.dumps or sorted(_DATA.glob("tagged-*")), options)
    if options.check:
        sys.exit(not _reaches(rows, recorded("trails")))
    if options.dumps or options.shown:
        return
    record("trails", rows)
    if "XLAREPORT_UNSEEN" in os.environ:
        unseen = [
            dump / dump.name for dump in Path(os.environ["XLAREPORT_UNSEEN"]).glob("tagged-*")
        ]
        record("unseen_trails", _scored(sorted(unseen), options))


def _scored(dumps: Sequence[Path], options: argparse.Namespace) -> list[Row]:
    """Print the trails of each dump and of all; return the counts."""
    total: dict[_Row, Counter[_Ending]] = defaultdict(Counter)
    for dump in dumps:
        for seen, variant in _variants(dump, options):
            trails = Trails(variant)
            verdicts = [*trails.verdicts()]
            _print_table(f"{variant.name}, {seen}", verdicts)
            _print_apart(trails)
            _print_failures(verdicts, options)
            for verdict in verdicts:
                for backend in (variant.backend, "all"):
                    total[seen, backend, verdict.direction][verdict.result, verdict.grade] += 1
    for row in sorted(total):
        print(_row(", ".join(row), _results(total[row])))
        print(_grades(total[row]))
    return [_recorded(row, total[row]) for row in sorted(total)]


def _reaches(rows: Sequence[Row], known: Sequence[Row]) -> bool:
    """Whether as many trails as recorded, or more, end right, all backends together."""
    right = {(row["seen"], row["direction"]): row["right"] for row in _of_all(rows)}
    least = {(row["seen"], row["direction"]): row["right"] for row in _of_all(known)}
    enough = all(int(right.get(key, -1)) >= int(count) for key, count in least.items())
    return enough and not any(row["exact_wrong"] for row in rows)


def _of_all(rows: Sequence[Row]) -> Iterator[Row]:
    return (row for row in rows if row["backend"] == "all")


def _recorded(row: _Row, counts: Counter[_Ending]) -> Row:
    right, wrong, lost = (_results(counts)[result] for result in Result)
    seen, backend, direction = row
    names = {"seen": seen, "backend": backend, "direction": str(direction)}
    exact_wrong = counts[Result.WRONG, Grade.EXACT]
    return {**names, "right": right, "wrong": wrong, "lost": lost, "exact_wrong": exact_wrong}


def _results(counts: Counter[_Ending]) -> Counter[Result]:
    return Counter(result for result, _ in counts.elements())


def _grades(counts: Counter[_Ending]) -> str:
    """Return how many trails of each grade end right, wrong and not at all."""
    cells = (
        f"{grade} {', '.join(f'{counts[result, grade]} {result}' for result in Result)}"
        for grade in Grade
    )
    return f"    {'; '.join(cells)}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many failures")
    parser.add_argument("--only", default="", help="failures whose words hold this")
    parser.add_argument("--shown", choices=[choice.name.lower() for choice in Shown])
    parser.add_argument("--ends", action="store_true")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def _variants(dump: Path, options: argparse.Namespace) -> Iterator[tuple[str, Series]]:
    for shown in Shown:
        if options.shown in (None, shown.name.lower()):
            for module in series(dump, shown):
                yield f"{shown}, every snapshot", module
                if options.ends or not options.dumps:
                    yield f"{shown}, both ends alone", module.ends()


def _print_table(title: str, verdicts: list[Verdict]) -> None:
    for direction in dict.fromkeys(verdict.direction for verdict in verdicts):
        mine = [verdict for verdict in verdicts if verdict.direction is direction]
        print(_row(f"{title}, {direction}", Counter(verdict.result for verdict in mine)))
        for opcode in sorted({verdict.heavy.opcode for verdict in mine}):
            counts = Counter(verdict.result for verdict in mine if verdict.heavy.opcode == opcode)
            print(_row(f"    {opcode}", counts))


def _print_apart(trails: Trails) -> None:
    apart = ", ".join(f"{count} {what}" for what, count in sorted(trails.apart().items()))
    print(f"    apart: {apart or 'none'}")


def _print_failures(verdicts: list[Verdict], options: argparse.Namespace) -> None:
    failures = (_words(verdict) for verdict in verdicts if verdict.result is not Result.RIGHT)
    shown = [words for words in failures if options.only in words][: options.show]
    options.show -= len(shown)
    for words in shown:
        print(f"    {words}")


def _words(verdict: Verdict) -> str:
    result = f"{verdict.result.upper()}, {verdict.grade},"
    start = f"{result} {verdict.direction} {verdict.heavy.opcode} {verdict.place}"
    wanted = (
        f"[{verdict.heavy.tag}] wanted {listed(verdict.wanted)}, ended at {listed(verdict.ended)}"
    )
    return f"{start} {wanted}\n      {verdict.broken}"


def _row(title: str, counts: Counter[Result]) -> str:
    right = counts[Result.RIGHT]
    share = f"{100 * right / counts.total():.1f}%" if counts else ""
    failed = ", ".join(
        f"{result} {counts[result]}" for result in (Result.WRONG, Result.LOST) if counts[result]
    )
    return f"{title:<80}{right:>5} of {counts.total():<5}{share:>7}  {failed}".rstrip()


if __name__ == "__main__":
    main()
