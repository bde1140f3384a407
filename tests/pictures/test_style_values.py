"""Colors of the table of styles."""

from xlareport.knowledge import colors, opcodes
from xlareport.pictures.style_values import dark, folding_rules, light


def test_every_color_has_a_value_for_dark_systems() -> None:
    families = colors.all_entries()
    wanted = {f"{name}{part}" for name in families for part in ("", "-line", "-text")}
    assert wanted | set(light()) == set(dark())


def test_what_is_folded_are_opcodes() -> None:
    rules = folding_rules()
    assert rules.bookkeeping | rules.spreading <= set(opcodes.all_entries())
    assert rules.spreading != rules.bookkeeping
