"""Tells anew what was read by hand, and prints what is no longer told so.

Usage: `python benchmarks/reread.py OUT FOLDER... [--against OLD] [--only TEXT] [--accounts]` takes
the rows of tests/labels/readings.tsv whose dump lies in a folder (`<name>/<name>/<files>`), works
out each account or history as the code has it now, and writes all of it to OUT, a row each. A row
that was judged right and whose claim is not in that text is printed: what was right may have been
lost. With OLD, written by an earlier run, every row whose text differs is printed, as a difference.
"""

import argparse
import csv
import difflib
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from draw_readings import Drawing, history_claim

from xlareport import api
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.module_steps import step_at
from xlareport.analysis.passes.step_boundaries import find_boundaries

_READINGS = Path(__file__).resolve().parent.parent / "tests/labels/readings.tsv"
_CUT = "…"
_WAYS = {"forward": ">", "back": "<"}
_STEP = re.compile(r"(?:step )?(\d+)\b")
"""How the table names the step of an account, before the name of its snapshot."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A row of the table: what was told, and what a reader said of it."""

    dump: str
    module: str
    what: str
    verdict: str
    claim: str

    @property
    def key(self) -> str:
        """Return what names the claim: dump, module, step or instruction."""
        known = "" if self.step else self.claim.partition(f" {self._way} ")[0]
        return " ".join(filter(None, (self.dump, self.module, self.what, known)))

    @property
    def _way(self) -> str:
        return _WAYS.get(self.what.partition(" ")[0], "")

    @property
    def step(self) -> int:
        """The number of the step of an account; 0 of a history."""
        numbered = _STEP.match(self.what)
        return int(numbered[1]) if numbered is not None else 0

    @property
    def is_forward(self) -> bool:
        """Whether a history starts at the first snapshot."""
        return self.what.startswith("forward")

    @property
    def place(self) -> Place | None:
        """Return whose history it is; None of an account, and where the table cut the name."""
        name, found, _ = self.claim.partition(f" {self._way} ")
        computation, _, instruction = name.partition("/%")
        return Place(computation, instruction) if self._way and found else None


def readings() -> Iterator[Reading]:
    """Yield the rows of the table."""
    with _READINGS.open(newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            yield Reading(*(row[name] for name in ("dump", "module", "what", "verdict", "claim")))


def told(task: tuple[Path, list[Reading], bool]) -> list[tuple[Reading, str]]:
    """Return what is told now of the rows of one dump."""
    dump, rows, only_accounts = task
    known: list[tuple[Reading, str]] = []
    with api.read(dump) as report:
        for module in report.modules:
            own = [row for row in rows if _names(row.module, module.key)]
            known += [(row, text) for row, text in _accounts(module, own)]
            histories = [row for row in own if row.place is not None]
            if histories and not only_accounts:
                known += _histories(module, dump.name, histories)
    return known


def _names(cut: str, name: str) -> bool:
    return name.startswith(cut.removesuffix(_CUT)) if cut.endswith(_CUT) else name == cut


def _accounts(module: api.Module, rows: Iterable[Reading]) -> Iterator[tuple[Reading, str]]:
    boundaries = list(find_boundaries(module.read))
    for row in rows:
        if not 0 < row.step <= len(boundaries):
            continue
        change = step_at(module.read, boundaries[row.step - 1])
        yield row, "\n".join((change.headline, *change.account))


def _histories(
    module: api.Module, dump: str, rows: Iterable[Reading]
) -> Iterator[tuple[Reading, str]]:
    stages = module.stages
    sequence = SnapshotSequence([stage.hlo for stage in stages])
    drawing = Drawing(dump, module.key, sequence, tuple(stage.key for stage in stages))
    for row in rows:
        end = sequence.modules[0 if row.is_forward else -1]
        if row.place is not None and end.find(*row.place):
            yield row, history_claim(drawing, row.place, forward=row.is_forward)[0]


def holds(text: str, claim: str) -> bool:
    """Return whether a text has the sentences of a claim, in their order, as far as it goes."""
    left = " ".join(claim.removesuffix(_CUT).replace('"', "'").split())
    for sentence in text.replace('"', "'").split("\n"):
        line = " ".join(sentence.split())
        if line.startswith(left):
            return True
        if left.startswith(line):
            left = left.removeprefix(line).strip()
    return False


def _report(rows: list[tuple[Reading, str]], old: dict[str, str]) -> None:
    lost = [(row, text) for row, text in rows if row.verdict == "right"]
    lost = [(row, text) for row, text in lost if not holds(text, row.claim)]
    print(f"{len(rows)} of the readings told anew, {len(lost)} right claims not told so")
    for row, text in lost:
        print(f"\n{row.key}\n  - {row.claim}\n  + {text[:600]}")
    changed = [(row, text) for row, text in rows if old.get(row.key, text) != text]
    print(f"{len(changed)} texts differ" if old else "")
    for row, text in changed:
        print(f"\n### {row.verdict} {row.key}")
        was, now = (re.split(r"\n|; (?=\d{4})", told) for told in (old[row.key], text))
        lines = difflib.unified_diff(was, now, lineterm="", n=0)
        print("\n".join(line for line in lines if not line.startswith(("---", "+++", "@@"))))


def main() -> None:
    """Print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--accounts", action="store_true")
    options = parser.parse_args()
    by_dump: dict[str, list[Reading]] = defaultdict(list)
    for row in readings():
        by_dump[row.dump].append(row)
    dumps = [dump for folder in options.folders for dump in sorted(folder.iterdir())]
    dumps = [dump for dump in dumps if dump.name in by_dump and options.only in dump.name]
    dumps = [inner if (inner := dump / dump.name).is_dir() else dump for dump in dumps]
    tasks = [(dump, by_dump[dump.name], options.accounts) for dump in dumps]
    with ProcessPoolExecutor(2) as workers:
        rows = [row for part in workers.map(told, tasks) for row in part]
    csv.field_size_limit(sys.maxsize)
    old: dict[str, str] = {}
    if options.against is not None:
        with options.against.open(newline="") as table:
            old = {row[0]: row[1] for row in csv.reader(table, delimiter="\t")}
    with options.out.open("w", newline="") as table:
        csv.writer(table, delimiter="\t").writerows((row.key, text) for row, text in rows)
    _report(rows, old)


if __name__ == "__main__":
    main()
