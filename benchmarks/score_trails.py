"""Scores the trails of heavy instructions against unique tags.

Usage: `python benchmarks/score_trails.py [--show N] [--only TEXT] [--shown shared|none] [--ends]
[DUMP...]`, by default on the tagged dumps of the test data. A row counts the trails that end right,
wrong, or are not known: back from the optimized module to `before_optimizations`, and forward from
there; with op_names that all instructions of an opcode share and with none. `--ends` adds the first
and the last snapshot alone; `--show` prints failures and the steps at which they left the truth.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tagged import Series, Shown, series
from trails import Result, Trails, Verdict, listed

_DATA = Path(__file__).resolve().parent.parent / "tests/data"


def main() -> None:
    """Print the tables."""
    options = _options()
    total: dict[str, Counter[Result]] = defaultdict(Counter)
    for dump in options.dumps or sorted(_DATA.glob("tagged-*")):
        for title, one in _variants(dump, options):
            trails = Trails(one)
            verdicts = [*trails.verdicts()]
            _print_table(f"{one.name}, {title}", verdicts)
            _print_apart(trails)
            _print_failures(verdicts, options)
            for verdict in verdicts:
                for row in (title, f"{title}, {one.name.partition('-')[0]}"):
                    total[f"{row}, {verdict.direction}"][verdict.result] += 1
    for name in sorted(total):
        print(_row(f"all, {name}", total[name]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many failures")
    parser.add_argument("--only", default="", help="failures whose words hold this")
    parser.add_argument("--shown", choices=[one.name.lower() for one in Shown])
    parser.add_argument("--ends", action="store_true")
    return parser.parse_args()


def _variants(dump: Path, options: argparse.Namespace) -> Iterator[tuple[str, Series]]:
    for shown in Shown:
        if options.shown in (None, shown.name.lower()):
            for one in series(dump, shown):
                yield str(shown), one
                if options.ends:
                    yield f"{shown}, first and last alone", one.ends()


def _print_table(title: str, verdicts: list[Verdict]) -> None:
    for direction in dict.fromkeys(one.direction for one in verdicts):
        mine = [one for one in verdicts if one.direction is direction]
        print(_row(f"{title}, {direction}", Counter(one.result for one in mine)))
        for opcode in sorted({one.heavy.opcode for one in mine}):
            counts = Counter(one.result for one in mine if one.heavy.opcode == opcode)
            print(_row(f"    {opcode}", counts))


def _print_apart(trails: Trails) -> None:
    apart = ", ".join(f"{count} {what}" for what, count in sorted(trails.apart().items()))
    print(f"    apart: {apart or 'none'}")


def _print_failures(verdicts: list[Verdict], options: argparse.Namespace) -> None:
    failures = (_words(one) for one in verdicts if one.result is not Result.RIGHT)
    shown = [words for words in failures if options.only in words][: options.show]
    options.show -= len(shown)
    for words in shown:
        print(f"    {words}")


def _words(one: Verdict) -> str:
    start = f"{one.result.upper()} {one.direction} {one.heavy.opcode} {one.place}"
    wanted = f"[{one.heavy.tag}] wanted {listed(one.wanted)}, ended at {listed(one.ended)}"
    return f"{start} {wanted}\n      {one.broken}"


def _row(title: str, counts: Counter[Result]) -> str:
    right = counts[Result.RIGHT]
    share = f"{100 * right / counts.total():.1f}%" if counts else ""
    failed = ", ".join(f"{one} {counts[one]}" for one in (Result.WRONG, Result.LOST) if counts[one])
    return f"{title:<80}{right:>5} of {counts.total():<5}{share:>7}  {failed}".rstrip()


if __name__ == "__main__":
    main()
