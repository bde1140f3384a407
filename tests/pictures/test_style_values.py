"""Colors of the table of styles."""

from xlareport.knowledge import colours
from xlareport.pictures.style_values import dark, light


def test_every_color_has_a_value_for_dark_systems() -> None:
    families = colours.all_entries()
    wanted = {f"{name}{part}" for name in families for part in ("", "-line", "-text")}
    assert wanted | set(light()) == set(dark())
