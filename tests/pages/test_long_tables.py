"""Tables of any length as payloads of so many rows each."""

from typing import Any

from xlareport.pages.long_tables import PAGE, MadeRows, table_files
from xlareport.pages.tables import Column, Table
from xlareport.storage.payloads import read_payload

COLUMNS = (Column("Place", "int"), Column("Name"))


def payloads(table: Table) -> dict[str, Any]:
    return dict(read_payload(script) for _, script in table_files("rows", table))


def test_a_table_of_few_rows_is_one_payload() -> None:
    found = payloads(Table(COLUMNS, [[place, ""] for place in range(PAGE)]))
    assert list(found) == ["rows"]
    assert "pages" not in found["rows"]


def test_a_long_table_comes_in_its_first_order() -> None:
    number = 2 * PAGE + 1
    rows = [[place, f"row {place}"] for place in range(number)]
    found = payloads(Table(COLUMNS, rows, sort=(0, "desc")))
    assert sorted(found) == ["rows", "rows-1", "rows-2"]
    front = found["rows"]
    assert front["pages"] == {"rows": number, "size": PAGE}
    assert [*front["rows"], *found["rows-1"], *found["rows-2"]] == rows[::-1]


def test_made_rows_are_made_page_by_page_and_add_their_meanings() -> None:
    meanings: list[str] = []

    def make(place: int) -> list[str | int | float | list[str] | None]:
        meanings.append(f"meaning {place}")
        return [place, "made"]

    made = MadeRows(PAGE + 2, make)
    assert len(made) == PAGE + 2
    table = Table(COLUMNS, made, meanings=meanings)
    assert [row[0] for row in table.first_rows().rows] == list(range(10))
    front = payloads(table)["rows"]
    assert front["meanings"][-1] == f"meaning {PAGE + 1}"
    assert made[-1] == [PAGE + 1, "made"]
