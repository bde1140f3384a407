"""Rows of values as two lists, and back."""

from xlareport.storage.rows import flat, split_rows


def test_rows_come_back() -> None:
    rows = [["a", "b"], [], ["c"]]
    assert flat(rows) == [[2, 0, 1], ["a", "b", "c"]]
    assert split_rows(*flat(rows)) == rows
