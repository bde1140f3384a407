"""Values in memory and in a file: what comes out is what went in."""

import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest

from xlareport.storage.spooled_values import (
    RESIDENT,
    SMALL_DUMP,
    SMALL_RESIDENT,
    FilledValues,
    SpooledValues,
    most_resident,
)

VALUES = [("a", 1), ("b" * 5_000, 2), ("", 3), ("c", None)]


@pytest.mark.parametrize("resident", [0, 2, 10])
def test_what_comes_out_is_what_went_in(resident: int, tmp_path: Path) -> None:
    values = SpooledValues[Any](tmp_path, resident).extend(VALUES)
    assert len(values) == len(VALUES)
    assert list(values) == VALUES
    assert values[-1] == VALUES[-1]
    assert values[1:3] == VALUES[1:3]
    assert not list(tmp_path.iterdir()), "the file has no name, so that nothing is left"


def test_values_may_be_reordered_and_replaced() -> None:
    values = SpooledValues[Any](resident=2).extend(VALUES)
    values.reorder([3, 2, 1, 0])
    assert list(values) == VALUES[::-1]
    values.replace(0, "new")
    values.replace(3, "other")
    assert list(values) == ["new", VALUES[2], VALUES[1], "other"]


def test_only_the_first_are_in_memory() -> None:
    values = SpooledValues[Any](resident=2).extend(VALUES)
    assert [values.is_resident(place) for place in range(4)] == [True, True, False, False]
    assert values[0] is VALUES[0]


def test_more_values_of_a_small_dump_stay_in_memory() -> None:
    assert most_resident(SMALL_DUMP) == SMALL_RESIDENT
    assert most_resident(SMALL_DUMP + 1) == RESIDENT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is full")
def test_a_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> Any:
        return open("/dev/full", "r+b", buffering=0)  # noqa: PTH123 - as a temporary file

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="No space left"):
        SpooledValues[Any](resident=0).extend(VALUES)


def test_another_process_fills_a_file_that_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "values"
    filled = FilledValues[Any](path).extend(VALUES)
    values = pickle.loads(pickle.dumps(filled)).take_over()  # noqa: S301 - its own
    assert not path.exists()
    assert list(values) == VALUES
    assert list(pickle.loads(pickle.dumps(FilledValues[Any](path))).take_over()) == []  # noqa: S301 - our own bytes
