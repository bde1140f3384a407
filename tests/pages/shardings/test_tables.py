"""The tables of the page on shardings."""

from xlareport.analysis.shardings.report import ShardedEntryValue
from xlareport.pages.shardings.tables import sharding_tables
from xlareport.pages.tables import Table
from xlareport.records.shardings import (
    RematerializationRecord,
    ShardingChangeRecord,
    ShardingsRecord,
)

VALUE = ShardedEntryValue(0, "a.1", "a", "f32[8]", 32, 8, "{devices=[4]<=[4]}", "in 4 parts")
CHANGE = ShardingChangeRecord(
    "main",
    "add",
    ("a", "b"),
    "f32[8]",
    32,
    "F",
    "from",
    "T",
    "to",
    8,
    32,
    "f/add",
    "t.py:1",
    ("g",),
)
WHOLE = RematerializationRecord(
    "main", "add", ("g", "h"), "s", "f32[8]", 32, 8, "F", "from", "T", "to", "f/add", "exact"
)


def record(
    changes: tuple[ShardingChangeRecord, ...] | None,
    values: tuple[RematerializationRecord, ...] | None,
) -> ShardingsRecord:
    return ShardingsRecord(4, "GSPMD", None, (), (VALUE,), (), changes, "", values, "", "")


def named(table: Table) -> dict[str, object]:
    return dict(zip([column.title for column in table.columns], table.rows[0], strict=True))


def test_each_row_says_what_its_columns_promise() -> None:
    tables = sharding_tables(record((CHANGE,), (WHOLE,)))
    assert list(tables) == ["sharded-parameters", "sharding-changes", "full-rematerializations"]
    assert named(tables["sharded-parameters"]) == {
        "Number": 0,
        "Parameter": "a",
        "Sharding": "in 4 parts",
        "Bytes per device": 8,
        "Shape": "f32[8]",
        "Bytes": 32,
        "As written": "{devices=[4]<=[4]}",
    }
    change = named(tables["sharding-changes"])
    assert (change["From"], change["To"], change["Received per device"]) == ("from", "to", 8)
    assert (change["Operands"], change["Source"], change["Collectives"]) == ("a, b", "t.py:1", "g")
    assert (change["From, as written"], change["To, as written"]) == ("F", "T")
    whole = named(tables["full-rematerializations"])
    assert (whole["Gathered per device"], whole["Kept"], whole["Grade"]) == (32, 8, "exact")
    assert (whole["All-gathers"], whole["Slice"]) == ("g, h", "s")


def test_what_was_not_checked_has_no_table() -> None:
    assert list(sharding_tables(record(None, None))) == ["sharded-parameters"]
