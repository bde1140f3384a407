import re

from xlareport.knowledge import colours


def test_a_scheme_is_found_by_its_name() -> None:
    scheme = colours.all_entries()["dark-blue"]
    assert (scheme.fill, scheme.border, scheme.text) == ("#1565c0", "#003c8f", "#ffffff")


def test_all_colours_are_six_hexadecimal_digits() -> None:
    for scheme in colours.all_entries().values():
        for colour in (scheme.fill, scheme.border, scheme.text):
            assert re.fullmatch(r"#[0-9a-f]{6}", colour), scheme.name
