"""The meaning of element types."""

from xlareport.hlo.shape import ELEMENT_TYPES
from xlareport.knowledge import element_types


def test_every_type_of_a_shape_has_a_meaning() -> None:
    assert ELEMENT_TYPES.keys() <= element_types.all_entries().keys()


def test_a_type_is_looked_up_as_hlo_text_spells_it() -> None:
    meaning = element_types.find("bf16")
    assert meaning is not None
    assert meaning.words
    assert element_types.find("BF16") is None
