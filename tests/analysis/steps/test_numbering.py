"""Numbers at the end of a name do not make it another name."""

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.numbering import same_but_number, without_number


def test_only_numbers_at_the_end_are_left_out() -> None:
    assert without_number("add.14.0") == "add"
    assert without_number("add.clone") == "add.clone"
    assert without_number("14") == "14"


def test_names_are_compared_without_their_numbers() -> None:
    place = Place("main", "add.1")
    assert same_but_number(place, Place("other", "add.25"))
    assert not same_but_number(place, Place("main", "add.1.clone"))
    assert not same_but_number(place, None)
