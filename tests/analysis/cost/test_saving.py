"""What to shrink so that the peak of memory falls by a part."""

import pytest
from tests.analysis.cost.small_occupancy import LIVE, TEXT
from tests.modules import parse_module

from xlareport.analysis.cost.occupancy import Occupancy, measure_occupancy
from xlareport.analysis.cost.saving import find_savings
from xlareport.readers.buffer_assignment import read_buffer_assignment


@pytest.fixture
def occupancy() -> Occupancy:
    measured = measure_occupancy(read_buffer_assignment(TEXT, "b.txt")[0], LIVE)
    assert measured is not None
    return measured


def test_what_to_shrink_to_save_a_part(occupancy: Occupancy) -> None:
    saving = find_savings(occupancy, 0.2)
    assert {key[0] for key, _ in saving.buffers} == {"y", "w"}
    assert (saving.peak, saving.wanted, saving.reached, saving.is_enough) == (128, 102, 96, True)


def test_arguments_cannot_be_saved(occupancy: Occupancy) -> None:
    assert not find_savings(occupancy, 0.9).is_enough


def test_what_is_chosen_after_the_peak_moved_is_told_apart(occupancy: Occupancy) -> None:
    saving = find_savings(occupancy, 0.2)
    chosen = dict.fromkeys(key for key, _ in saving.buffers)
    at_peak = {slot.key for slot in occupancy.living(occupancy.position)}
    assert {key[0] for key in saving.later} == {"w"}
    assert all((key in at_peak) is (key not in saving.later) for key in chosen)
    assert saving.reached_at_once == saving.peak  # where it moves, as much is in use


def test_what_takes_over_the_memory_of_a_buffer_is_named(occupancy: Occupancy) -> None:
    """A scatter updates zeros in place: the memory stays in use without the zeros alone."""
    text = "HloModule m\n\nENTRY e {\n  z = f32[8] parameter(0)\n  same = f32[8] negate(z)\n}\n"
    module = parse_module(text)
    made = {instruction.name: instruction for instruction in module.instructions}
    assert find_savings(occupancy, 0.2).taken_over == {}
    saving = find_savings(occupancy, 0.4, made)
    assert saving.taken_over == {("z", ()): ("same",)}
    assert ("z", ()) in dict(saving.buffers)
