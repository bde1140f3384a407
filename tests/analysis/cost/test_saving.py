"""What to shrink so that the peak of memory falls by a part."""

import pytest

from xlareport.analysis.cost.saving import find_savings
from xlareport.readers.live_range import LiveRanges, read_live_range

LIVE = b"""HloLiveRange (max 4):
  InstructionSequence:
    0:x
    1:y
    2:z
    3:w
  BufferLiveRange:
    x{}:0-4
    y{}:1-2
    z{}:2-3
    w{}:3-4
  Live ranges at 2 (peak):
    y{}: 64 bytes (cumulative: 64 bytes)
    z{}: 16 bytes (cumulative: 80 bytes)
    x{}: 8 bytes (cumulative: 88 bytes)
"""


SIZES = {("x", ()): 8, ("y", ()): 64, ("z", ()): 16, ("w", ()): 4}


@pytest.fixture(scope="module")
def live() -> LiveRanges:
    found, _ = read_live_range(LIVE, "l.txt")
    assert found is not None
    return found


def test_what_to_shrink_to_save_a_part(live: LiveRanges) -> None:
    found = find_savings(live, SIZES, 0.5, frozenset({"x"}))
    assert found.buffers == ((("y", ()), 64),)
    assert (found.wanted, found.reached, found.is_enough) == (44, 28, True)


def test_what_cannot_be_saved_is_said(live: LiveRanges) -> None:
    found = find_savings(live, SIZES, 0.99, frozenset({"x"}))
    assert (found.reached, found.is_enough) == (8, False)
