from xlareport.readers.llo.utilization import read_utilization

HEADER = b"== CAPACTIY:\nMXU, VLOAD, VLOAD:FILL\n    4     3   3\n== UTILIZATION:\n"


def test_a_table() -> None:
    table, problems = read_utilization(HEADER + b"0 1 0\n4 3 2\n", "t.txt")
    assert table is not None
    assert problems == []
    assert table.units == ("MXU", "VLOAD", "VLOAD:FILL")
    assert table.capacity == {"MXU": 4, "VLOAD": 3, "VLOAD:FILL": 3}
    assert (table.rows, table.used("MXU"), table.used("VLOAD"), table.used("EUP")) == (
        2,
        4,
        4,
        None,
    )


def test_a_corrected_spelling_and_columns_that_nobody_knows() -> None:
    text = b"== CAPACITY:\nMXU, NEW\n2 1\n== UTILIZATION:\n2 1\n"
    table, problems = read_utilization(text, "t.txt")
    assert table is not None
    assert problems == []
    assert table.used("NEW") == 1


def test_rows_that_are_broken() -> None:
    for row in (b"0 1", b"0 1 x", b"0 1 999", b"0 -1 0", b"0 1 0 0"):
        table, problems = read_utilization(HEADER + b"0 1 0\n" + row + b"\n1 1 1\n", "t.txt")
        assert table is not None
        assert (table.is_whole, table.rows) == (False, 1)
        assert [(problem.line, problem.message[:5]) for problem in problems] == [(6, "It is")]


def test_what_is_no_table() -> None:
    for data in (b"", b"\xff" * 99, HEADER.replace(b"    4     3   3", b"4 3"), HEADER[:30]):
        table, problems = read_utilization(data, "t.txt")
        assert table is None
        assert len(problems) == 1
