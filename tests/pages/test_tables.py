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
