"""Builds reports of broken dumps and counts faults: `python fuzz/mutate.py --count 10000`.

A fault is an exception, a problem that says "a fault of xlareport", a file that is not listed, or a
dump that takes more than a minute. What is found is printed with its number, which `--first` takes.
"""

import argparse
import json
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec import to_builtins
from mutations import Broken, broken, fixtures, write

from xlareport import report
from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.worker_pool import Task, WorkerPool

if TYPE_CHECKING:
    from xlareport.pages.pictures.requests import PictureChoice

_SECONDS = 60
_LARGE = 200_000
"""Bytes of a module."""
_SMALL = 60_000
"""Bytes of a module in complete builds."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class Score:
    """What came of all dumps."""

    dumps: int = 0
    broken_files: int = 0
    problems: int = 0
    """Listed on the coverage pages."""
    by_mutation: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    refused: int = 0
    """Ended with a clear message instead of a report."""
    slowest: float = 0.0
    """Seconds of one dump."""


class TooSlowError(Exception):
    """A dump took too long."""


class InThisProcess(WorkerPool):
    """Works at once and here, where an exception is seen."""

    def __enter__(self) -> Self:
        """Begin no process."""
        return self

    def submit(self, work: Callable[[T], R], thing: T, died: Callable[[T], R]) -> Task[T, R]:
        """Do the work."""
        del died
        future: Future[R] = Future()
        future.set_result(work(thing))
        return Task(thing, future, future.result)


def faults_of(files: Sequence[Broken], *, html: bool, score: Score) -> list[str]:
    """Build the report of a broken dump and return what is wrong with that."""
    with tempfile.TemporaryDirectory(prefix="xlareport-broken-") as folder:
        dump, out = Path(folder) / "dump", Path(folder) / "out"
        write(files, dump)
        pictures: PictureChoice = "changed" if html else "none"
        cost_options = CostOptions(with_source=True)
        options = BuildOptions(out, html=html, pictures=pictures, cost_options=cost_options)
        signal.alarm(_SECONDS * (10 if html else 1))
        try:
            built = build(dump, options)
        except UnreadableInputError:
            score.refused += 1
            return []
        except Exception:  # noqa: BLE001 - any exception is what is looked for
            return [traceback.format_exc(limit=-4)]
        finally:
            signal.alarm(0)
    problems = built.report.problems
    score.problems += len(problems)
    found = [f"{one}" for one in problems if "a fault of xlareport" in one.message]
    if len(built.report.files) < len(files):
        found.append(f"{len(files)} files, {len(built.report.files)} listed")
    return found


def run(first: int, count: int, *, html: bool) -> Score:
    """Build as many dumps as are asked for, one after the other."""
    score = Score()
    with fixtures() as dumps:
        for number in range(first, first + count):
            _score(number, dumps(number), html=html, score=score)
            if score.dumps % 500 == 0:
                said = f"{score.dumps} dumps, {len(score.faults)} faults"
                print(said, file=sys.stderr, flush=True)
    return score


def _score(number: int, dump: Path, *, html: bool, score: Score) -> None:
    """Build the dump of a number and note what came of it."""
    luck = random.Random(number)  # noqa: S311 - the same dumps every time are what is wanted
    files = broken(dump, luck, _SMALL if html else _LARGE)
    began = time.monotonic()
    found = faults_of(files, html=html, score=score)
    score.slowest = max(score.slowest, time.monotonic() - began)
    score.dumps += 1
    changed = Counter(one.mutation for one in files if one.mutation)
    score.broken_files += changed.total()
    score.by_mutation = dict(Counter(score.by_mutation) + changed)
    for fault in found:
        score.faults.append(f"{number} {dump.name}: {fault}")
        print(score.faults[-1], flush=True)


def _too_slow(*_: object) -> None:
    raise TooSlowError


def main() -> None:
    """Say what came of it, as JSON; end with 1 where there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--html", action="store_true", help="complete builds, of small modules")
    chosen = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_slow)
    if not chosen.html:
        setattr(report, "WorkerPool", InThisProcess)  # noqa: B010 - it is not its own name
    score = run(chosen.first, chosen.count, html=chosen.html)
    print(json.dumps(to_builtins(score), indent=1))
    sys.exit(1 if score.faults else 0)


if __name__ == "__main__":
    main()
