"""Where the pages of a comparison show a module."""

from types import SimpleNamespace
from typing import Any

from xlareport.pages.compare.addresses import end_of


def test_the_end_of_a_module_is_its_last_place_side_by_side() -> None:
    places = SimpleNamespace(id="given"), SimpleNamespace(id="end")
    shown: Any = SimpleNamespace(slug="f", contrasts=places)
    bare: Any = SimpleNamespace(slug="f", contrasts=())
    assert (end_of(shown), end_of(bare)) == ("m/f.html#step=end", "m/f.html")
