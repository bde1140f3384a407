import re

from xlareport.knowledge import colors


def test_a_scheme_is_found_by_its_name() -> None:
    scheme = colors.all_entries()["dark-blue"]
    assert (scheme.fill, scheme.border, scheme.text) == ("#1565c0", "#003c8f", "#ffffff")


def test_all_colors_are_six_hexadecimal_digits() -> None:
    for scheme in colors.all_entries().values():
        for color in (scheme.fill, scheme.border, scheme.text):
            assert re.fullmatch(r"#[0-9a-f]{6}", color), scheme.name
