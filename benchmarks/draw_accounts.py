"""Draws accounts of steps at random, for a person to judge with both texts beside them.

Usage: `XLAREPORT_DUMPS=... python benchmarks/draw_accounts.py SEED COUNT` prints a table: dump,
both files, the count of instructions before and after, and one sentence of the account of that
step. Sentences of changed steps are drawn evenly over dumps; tests/labels/accounts.tsv keeps
verdicts.
"""

import csv
import random
import sys
from collections.abc import Iterator

from dumps import dumps

from xlareport import api

_MOST_INSTRUCTIONS = 3_000
"""Larger modules are left out: nobody reads them beside an account."""

Row = tuple[str, str, str, int, int, str]
"""Dump, file before, file after, instructions before and after, sentence."""


def rows(module: api.Module, dump: str, chance: random.Random) -> Iterator[Row]:
    """Yield one sentence of every step of a module that changed something."""
    snapshots = module.read.snapshots
    for number, change in enumerate(module.steps, start=1):
        before, after = snapshots[number - 1], snapshots[number]
        large = max(change.before.instructions, change.after.instructions) > _MOST_INSTRUCTIONS
        if not change.identical and not large:
            files = (before.read_from.path, after.read_from.path)
            sentence = chance.choice((change.headline, *change.account))
            counts = change.before.instructions, change.after.instructions
            yield (dump, *files, *counts, sentence)


def main() -> None:
    """Print as many drawn sentences as asked for, from as many dumps as there are."""
    seed, count = map(int, sys.argv[1:])
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    pools: list[list[Row]] = []
    for dump in dumps():
        with api.read(dump) as report:
            module = chance.choice(report.modules or (None,))
            found = list(rows(module, dump.name, chance)) if module else []
            pools += [found] if found else []
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    for number in range(count):
        table.writerow(chance.choice(pools[number % len(pools)]))


if __name__ == "__main__":
    main()
