"""Draws accounts of steps at random, for a person to judge with both texts beside them.

Usage: `XLAREPORT_DUMPS=... python benchmarks/draw_accounts.py SEED COUNT [PATTERN...]` prints a
table: dump, both files, the count of instructions before and after, and one sentence of the
account of that step. COUNT rows come from each dump whose name a pattern fits (all without one);
a module is drawn by the size of its snapshots, then one of its steps that changed something.
tests/labels/accounts.tsv keeps verdicts.
"""

import csv
import random
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from drawing import is_readable
from dumps import dumps

from xlareport import api
from xlareport.analysis.module_steps import step_at
from xlareport.analysis.passes.step_boundaries import find_boundaries

_TRIES = 12
"""Draws for one row, after which a dump is given up."""

Row = tuple[str, str, str, int, int, str]
"""Dump, file before, file after, instructions before and after, sentence."""


def draw(modules: list[api.Module], dump: str, chance: random.Random) -> Row | None:
    """Return one sentence of a changed step of a module; None where the draw hit no such step."""
    (module,) = chance.choices(modules, [_size(module) for module in modules])
    boundaries = list(find_boundaries(module.read))
    if not boundaries:
        return None
    boundary = chance.choice(boundaries)
    before, after = module.read.snapshots[boundary.number - 1 : boundary.number + 1]
    counts = before.hlo.instruction_count, after.hlo.instruction_count
    if not (is_readable(before.hlo) and is_readable(after.hlo)):
        return None
    change = step_at(module.read, boundary)
    if change.identical:
        return None
    sentence = chance.choice((change.headline, *change.account))
    return (dump, before.read_from.path, after.read_from.path, *counts, sentence)


def _size(module: api.Module) -> int:
    """Return the bytes of the files of all snapshots."""
    return sum(artifact.entry.size for stage in module.files.stages for artifact in stage.artifacts)


def rows(dump: Path, seed: str, count: int) -> Iterator[Row]:
    """Yield as many rows of a dump as asked for, each of another step; fewer where it has few."""
    chance = random.Random(f"{seed} {dump.name}")  # noqa: S311 - repeatable on purpose
    seen: set[tuple[str, str]] = set()
    with api.read(dump) as report:
        modules = [module for module in report.modules if len(module.files.stages) > 1]
        for _ in range(_TRIES * count if modules else 0):
            row = draw(modules, dump.name, chance)
            if row is None or row[1:3] in seen:
                continue
            seen.add(row[1:3])
            yield row
            if len(seen) == count:
                return


def main() -> None:
    """Print the drawn sentences, dump by dump."""
    seed, count, *patterns = sys.argv[1:]
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    for dump in dumps():
        if any(fnmatch(dump.name, pattern) for pattern in patterns or ["*"]):
            table.writerows(rows(dump, seed, int(count)))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
