"""Scores the verdict and the first cause of comparisons of which it is known what changed.

Usage: `python benchmarks/score_compare.py [-v] [FOLDER]`. The pairs are those of compare_pairs.tsv.
Their dumps are in pairs.tar.zst and pairs-unseen.tar.zst in tests/data, which were made after the
rules, or in FOLDER. Pairs whose dumps are not there are left out. The exit status is 1 if any is
wrong.
"""

import csv
import os
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import zstandard

from xlareport.compare import compare
from xlareport.records.compare import ComparisonRecord
from xlareport.report import BuildOptions

ROOT = Path(__file__).resolve().parent.parent
PAIRS = Path(__file__).with_name("compare_pairs.tsv")
PACKED = tuple(ROOT / "tests/data" / name for name in ("pairs.tar.zst", "pairs-unseen.tar.zst"))
_NOTES = frozenset({"modules"})
"""Kinds of causes that are no alarm: one side has further small modules."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of the table."""

    kind: str
    """What was changed; `null` where nothing was that has an effect."""
    base: str
    head: str
    time: str
    """`more`, `less` or `same`, by XLA's own count of bytes accessed; `-` where it says nothing."""
    memory: str
    """The same, by the memory analysis of XLA."""
    cause: str
    """The kind of the first cause."""
    subject: str
    """What the first cause has to name; `-` where nothing."""


def pairs() -> Iterator[Pair]:
    """Yield the rows of the table."""
    with PAIRS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield Pair(**row)


def mistakes(pair: Pair, view: ComparisonRecord) -> list[str]:
    """Return what of a comparison is not as the table has it."""
    verdict, causes = view.verdict, view.causes
    seen = str(verdict.time.direction), str(verdict.memory.direction)
    wrong = [
        f"{name} is {wanted}, judged {judged}"
        for name, wanted, judged in zip(
            ("time", "memory"), (pair.time, pair.memory), seen, strict=True
        )
        if wanted not in ("-", judged)
    ]
    if pair.kind == "null":
        alarms = [each.sentence for each in causes if each.kind not in _NOTES]
        return wrong + [f"an alarm: {alarm}" for alarm in alarms]
    first = causes[0] if causes else None
    if first is None or first.kind != pair.cause:
        wrong.append(f"first cause {pair.cause}: {first.sentence if first else 'none'}")
    elif pair.subject not in ("-", first.subject) and pair.subject not in first.sentence:
        wrong.append(f"does not name {pair.subject}: {first.sentence}")
    return wrong


@contextmanager
def folder() -> Iterator[Path]:
    """Yield the folder of the dumps."""
    named = [Path(argument) for argument in sys.argv[1:] if argument != "-v"]
    if named:
        yield named[0]
        return
    with TemporaryDirectory(prefix="pairs-") as unpacked:
        for packed in PACKED:
            _unpack(packed, Path(unpacked))
        yield Path(unpacked)


def _unpack(packed: Path, place: Path) -> None:
    """Write the folders of an archive below a folder, without the one that holds them all."""
    with (
        packed.open("rb") as file,
        zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        archive.extractall(place / packed.stem, filter="data")
    (whole,) = (place / packed.stem).iterdir()
    for folder_of_pair in whole.iterdir():
        folder_of_pair.rename(place / folder_of_pair.name)


def main() -> None:
    """Print a line for each pair and the sums."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    with folder() as dumps:
        for pair in pairs():
            base, head = dumps / pair.base, dumps / pair.head
            if not (base.is_dir() and head.is_dir()):
                continue
            options = BuildOptions(jobs=os.cpu_count() or 1)
            view = compare(base, head, options, site=False).view
            wrong = mistakes(pair, view)
            right[pair.kind == "null"].append(not wrong)
            print(f"{pair.kind:14}{pair.base:>9} {pair.head:14} {'; '.join(wrong) or 'right'}")
            if "-v" in sys.argv:
                _print_all(view)
    changed, null = right[False], right[True]
    print(f"verdict and first cause: {sum(changed)}/{len(changed)}")
    print(f"without effect and without alarm: {sum(null)}/{len(null)}")
    sys.exit(not all((*changed, *null)))


def _print_all(view: ComparisonRecord) -> None:
    for judged in (view.verdict.time, view.verdict.memory):
        quantity = judged.quantity
        change = f"{quantity.change:+.2%}" if quantity and quantity.change is not None else "-"
        print(f"    {judged.direction} {change} by {judged.basis} ({judged.grade})")
    for cause in view.causes:
        print(f"    {cause.kind}: {cause.sentence} [{cause.grade}]")


if __name__ == "__main__":
    main()
