"""The record of the guess for the main program: counts, and the chance that follows from them."""

import pytest

from xlareport.knowledge.main_record import Record, main_record


def test_every_degree_of_sureness_has_a_record() -> None:
    assert set(main_record()) == {"unseen", "clear", "likely", "tie", "only"}
    assert all(0 <= one.right <= one.of for one in main_record().values())


def test_few_guesses_say_little() -> None:
    assert Record("clear", 0, 0).chance == pytest.approx(0.5)
    assert Record("clear", 2, 2).chance < Record("clear", 50, 50).chance < 1
