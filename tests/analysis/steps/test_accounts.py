"""Accounts that a reader found not right, in the words that are right."""

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from xlareport import api
from xlareport.analysis.steps.step import step

TESTS = Path(__file__).parents[2]
with (TESTS / "labels" / "mended.tsv").open(encoding="utf-8", newline="") as table:
    ROWS = [*csv.DictReader(table, delimiter="\t")]
SMALL = [row for row in ROWS if (TESTS / "data" / row["dump"]).exists()]
LARGE = [row for row in ROWS if row not in SMALL]


def check(dump: Path, row: dict[str, str]) -> None:
    """Check the account of the step that leads to a file of a dump."""
    with api.read(dump) as report:
        for module in report.modules:
            snapshots = module.read.snapshots
            for before, after in pairwise(snapshots):
                if row["file_after"] in after.read_from.path:
                    change = step(before.hlo, after.hlo)
                    account = " ".join((change.headline, *change.account))
                    assert row["said"] in account
                    assert row["not_said"] not in account
                    return
    pytest.fail(f"no file {row['file_after']}")


@pytest.mark.parametrize("row", SMALL, ids=lambda row: f"{row['dump']} {row['file_after'][:4]}")
def test_an_account_says_what_is_right(row: dict[str, str]) -> None:
    check(TESTS / "data" / row["dump"], row)


@pytest.mark.parametrize("row", LARGE, ids=lambda row: row["file_after"][:40])
def test_an_account_of_a_large_dump_says_what_is_right(row: dict[str, str], dumps: Path) -> None:
    check(dumps / row["dump"] / row["dump"], row)
