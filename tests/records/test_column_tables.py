"""Columns by name, and what becomes of what is not known in a data frame."""

import pytest

from xlareport.records import column_tables
from xlareport.records.column_tables import ColumnTable, MissingPackageError

TABLE = ColumnTable({"opcode": ["dot", "add"], "flops": [8, None], "fused": [True, None]})


def test_rows_are_values_by_column() -> None:
    assert len(TABLE) == 2
    assert list(TABLE)[1] == {"opcode": "add", "flops": None, "fused": None}
    assert repr(TABLE) == "<ColumnTable 2 rows: opcode, flops, fused>"


def test_unknown_figures_are_missing_in_pandas_and_whole_numbers_stay_whole() -> None:
    pandas = pytest.importorskip("pandas")
    frame = TABLE.to_pandas()
    assert str(frame["flops"].dtype) == "Int64"
    assert frame["flops"][1] is pandas.NA


def test_unknown_figures_are_null_in_arrow() -> None:
    pytest.importorskip("pyarrow")
    assert TABLE.to_arrow().column("flops").to_pylist() == [8, None]


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(column_tables, "import_module", missing)
    with pytest.raises(MissingPackageError, match=r"pandas is not installed.*xlareport\[data\]"):
        TABLE.to_pandas()
