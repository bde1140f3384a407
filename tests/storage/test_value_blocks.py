"""Small values in blocks: what comes out is what went in."""

import pytest

from xlareport.storage.spooled_values import SpooledValues
from xlareport.storage.value_blocks import ValueBlocks


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
