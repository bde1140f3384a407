"""The tables of the page on shardings."""

from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.sharding_changes import ShardingChange
from xlareport.analysis.shardings.sharding_report import ShardedEntryValue
from xlareport.pages.shardings.tables import tabulate_shardings
from xlareport.pages.tables import Table
from xlareport.records.shardings import ShardingsRecord

VALUE = ShardedEntryValue(0, "a.1", "a", "f32[8]", 32, 8, "{devices=[4]<=[4]}", "in 4 parts")
CHANGE = ShardingChange(
    computation="main",
    instruction="add",
    opcode="add",
    operands=("a", "b"),
    shape="f32[8]",
    bytes=32,
    from_sharding="F",
    to_sharding="T",
    received_bytes=8,
    received_by_all=32,
    op_name="f/add",
    source="t.py:1",
    collectives=("g",),
    from_words="from",
    to_words="to",
)
WHOLE = Rematerialization(
    computation="main",
    gathers=("g", "h"),
    slice="s",
    value="add",
    shape="f32[8]",
    dimensions=(8,),
    bytes=32,
    part_bytes=8,
    from_tiles=(2,),
    to_tiles=(4,),
    from_sharding="F",
    to_sharding="T",
    op_name="f/add",
    source="",
    grade="exact",
    is_fresh=True,
    from_words="from",
    to_words="to",
)


def record(
    changes: tuple[ShardingChange, ...] | None,
    values: tuple[Rematerialization, ...] | None,
) -> ShardingsRecord:
    return ShardingsRecord(4, "GSPMD", None, (), (VALUE,), (), changes, "", values, "", "")


def named(table: Table) -> dict[str, object]:
    return dict(zip([column.title for column in table.columns], table.rows[0], strict=True))


def test_each_row_says_what_its_columns_promise() -> None:
    tables = tabulate_shardings(record((CHANGE,), (WHOLE,)))
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
    assert list(tabulate_shardings(record(None, None))) == ["sharded-parameters"]
