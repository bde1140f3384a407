"""Records of the fields of others."""

import pytest
from msgspec import Struct

from xlareport.runtime.derived_records import derive


class Wide(Struct, frozen=True):
    name: str
    size: int
    note: str = ""


class Source(Struct, frozen=True):
    size: int
    more: int = 0

    @property
    def name(self) -> str:
        return f"of {self.size}"


def test_a_field_is_given_or_of_the_first_source_that_has_its_name() -> None:
    assert derive(Wide, Source(1), Source(2)) == Wide("of 1", 1)
    assert derive(Wide, Source(1), size=3) == Wide("of 1", 3)


def test_a_field_that_nothing_has_is_an_error() -> None:
    with pytest.raises(TypeError):
        derive(Wide, size=3)
