"""Small values in blocks: what comes out is what went in."""

import pickle
from pathlib import Path

import pytest

from xlareport.storage.spooled_values import SpooledValues
from xlareport.storage.value_blocks import ValueBlocks, keep_blocks


@pytest.mark.parametrize("number", [0, 1, 99, 100, 101, 250])
def test_what_comes_out_is_what_went_in(number: int) -> None:
    values = [f"value {place}" for place in range(number)]
    blocks = ValueBlocks(SpooledValues[tuple[str, ...]](resident=0), values)
    assert len(blocks) == number
    assert list(blocks) == values
    assert [blocks[place] for place in reversed(range(number))] == values[::-1]
    assert blocks[95:105] == values[95:105]
    with pytest.raises(IndexError):
        blocks[number]


def test_other_processes_can_read_many_values(tmp_path: Path) -> None:
    assert keep_blocks(iter("abc"), tmp_path, 4) == ("a", "b", "c")
    assert not list(tmp_path.iterdir())
    many = keep_blocks(map(str, range(500)), tmp_path, 4)
    again = pickle.loads(pickle.dumps(many))  # noqa: S301 - made above
    assert list(again) == list(many) == [str(number) for number in range(500)]
