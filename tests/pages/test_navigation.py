"""Addresses of pages."""

from xlareport.pages.navigation import address, module_page, step_address


def test_addresses_are_relative_to_the_page() -> None:
    assert address(module_page("f")) == "m/f.html"
    assert address(module_page("f"), "m/g.md") == "../m/f.html"
    assert step_address("f", "0017", "m/f.md") == "../m/f.html?steps#step=0017"
