"""Values in order, in memory or merged off files."""

from pathlib import Path

import pytest

from xlareport.storage import sorted_values
from xlareport.storage.sorted_values import sort_values


@pytest.mark.parametrize("number", [0, 1, 5, 7, 10, 23])
def test_values_come_in_order_and_equal_ones_as_given(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_values, "TOGETHER", 5)
    values = [(place * 7 % 4, place) for place in range(number)]
    in_order = sort_values(values, lambda value: value[0], tmp_path)
    assert list(in_order) == sorted(values, key=lambda value: value[0])
    assert not list(tmp_path.iterdir())
