"""Columns and tables as payloads."""

from xlareport.pages.tables import Column, Table, lean_payloads
from xlareport.storage.payloads import decode_payload


def test_a_column_says_what_its_cells_name_and_nothing_empty() -> None:
    table = Table((Column("Opcode", "code", of="opcode"), Column("Size")), [])

    assert table.payload()["columns"] == [
        {"title": "Opcode", "kind": "code", "of": "opcode"},
        {"title": "Size", "kind": "text"},
    ]


def test_equal_columns_of_tables_are_one_payload() -> None:
    columns = (Column("Opcode", "code", of="opcode"), Column("Count", "int"))
    one, heads = lean_payloads("x", {"opcodes": Table(columns, [["dot", 1]])})
    other, again = lean_payloads("y", {"opcodes": Table(columns, [["add", 2]])})

    assert heads == again
    assert [each["title"] for each in decode_payload(heads)] == ["Opcode", "Count"]
    assert {decode_payload(each)["columns"] for each in (one, other)} == {
        heads.key.partition("/")[2]
    }


def test_the_first_rows_stand_in_the_page_as_the_script_will_show_them() -> None:
    columns = tuple(Column(str(place), "int") for place in range(9))
    rows = [[number, *range(8)] for number in range(30)]
    first = Table(columns, rows, sort=(0, "desc")).first_rows()

    assert [row[0] for row in first.rows] == list(range(29, 19, -1))
    assert len(first.columns) == len(first.rows[0]) == 7


def test_what_is_not_known_comes_last_in_the_first_rows() -> None:
    rows = [[None, "a"], [2, "b"], [1, "c"]]
    table = Table((Column("Rank", "int"), Column("Name")), rows, sort=(0, "asc"))

    assert [row[1] for row in table.first_rows().rows] == ["c", "b", "a"]
