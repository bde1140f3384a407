"""The tables of verdicts in tests/labels are well-formed."""

import csv
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from xlareport.knowledge.grades import Grade

LABELS = Path(__file__).parents[1] / "labels"
TABLES = ("accounts.tsv", "histories.tsv")
REVIEWED = (*TABLES, "readings.tsv", "findings.tsv")
READINGS = {"account": "accounts", "history": "histories"}
VERDICTS = {"right", "vague", "not known", "misleading", "wrong"}


def rows_of(table: str) -> list[Mapping[str, str]]:
    with (LABELS / table).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t", strict=True)]


@pytest.mark.parametrize("table", REVIEWED)
def test_each_row_has_as_many_fields_as_the_header(table: str) -> None:
    assert all(None not in row and None not in row.values() for row in rows_of(table))


@pytest.mark.parametrize("table", REVIEWED)
def test_each_verdict_is_known(table: str) -> None:
    assert {row["verdict"] for row in rows_of(table)} <= VERDICTS


@pytest.mark.parametrize("table", TABLES)
def test_each_row_names_round_seed_dump_and_claim(table: str) -> None:
    for row in rows_of(table):
        assert row["round"].isdigit()
        assert row["seed"].isdigit()
        assert row["dump"]
        assert row["claim"]


@pytest.mark.parametrize("table", TABLES)
def test_what_is_not_right_has_a_reason(table: str) -> None:
    assert all(row["remark"] for row in rows_of(table) if row["verdict"] != "right")


@pytest.mark.parametrize("table", TABLES)
def test_packed_dumps_that_are_named_are_in_the_repository(table: str) -> None:
    packed = {row["dump"] for row in rows_of(table) if row["dump"].endswith(".tar.zst")}
    places = (LABELS.parent / "data", LABELS.parents[1] / "examples")
    assert packed <= {path.name for place in places for path in place.glob("*.tar.zst")}


def test_histories_name_direction_kind_and_grade() -> None:
    rows = rows_of("histories.tsv")
    assert {row["direction"] for row in rows} == {"back", "forward"}
    assert {row["kind"] for row in rows} == {"heavy", "other"}
    assert {row["grade"] for row in rows} <= set(Grade)
    assert all(row["line"] for row in rows if row["verdict"] != "not known")


def test_readings_name_where_they_were_drawn_what_was_read_and_its_evidence() -> None:
    rows = rows_of("readings.tsv")
    assert {row["kind"] for row in rows} == set(READINGS)
    assert {row["grade"] for row in rows} <= set(Grade)
    assert all(all(row.values()) for row in rows)
    assert all(row["round"].isdigit() and row["seed"].isdigit() for row in rows)
    drawn = [(row["round"], row["dump"], row["module"], row["what"], row["claim"]) for row in rows]
    assert len({*drawn}) == len(drawn)


def test_the_readme_counts_the_readings_of_each_round() -> None:
    readme = (LABELS / "README.md").read_text()
    rows = rows_of("readings.tsv")
    for number, kind in {(row["round"], row["kind"]) for row in rows}:
        own = [row for row in rows if (row["round"], row["kind"]) == (number, kind)]
        verdicts = Counter(row["verdict"] for row in own)
        surely = sum(row["verdict"] == "wrong" and row["grade"] == Grade.EXACT for row in own)
        counts = [verdicts[verdict] for verdict in ("right", "vague", "misleading", "wrong")]
        cells = [f"round {number}, {READINGS[kind]}", len(own), *counts, surely]
        assert f"| {' | '.join(map(str, cells))} |" in readme


def test_the_summary_of_the_guide_has_the_rates_of_its_table() -> None:
    guide = (LABELS.parents[1] / "site_src/guide/matching.md").read_text()
    row = r"^\| (step|history) \| (exact|matched) \| ([\d,]+) \| ([\d,]+) \("
    rates = {
        (kind, grade): round(100 * int(right.replace(",", "")) / int(count.replace(",", "")))
        for kind, grade, count, right in re.findall(row, guide, re.MULTILINE)
    }
    for grade in ("exact", "matched"):
        steps, histories = rates["step", grade], rates["history", grade]
        assert f"| {steps}% of step descriptions, {histories}% of histories |" in guide


def test_each_public_dump_has_an_address_a_commit_a_half_and_a_reason() -> None:
    lines = (LABELS / "public_mains.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    assert len({row[0] for row in rows}) == len(rows) >= 30
    for _, answers, address, commit, half, reason in rows:
        assert answers
        assert reason
        assert address.startswith("github.com/")
        assert len(commit) == 40
        assert half in {"tune", "held"}
