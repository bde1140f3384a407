"""Colors of figures have limits of the table, colors of scopes are shared out by frequency."""

from xlareport.pictures.scales import MOST_KINDS, limits, palettes, scope_levels


def test_every_mode_has_a_palette() -> None:
    assert palettes()["sharding"] == ("tint", MOST_KINDS)
    for mode, table in limits().items():
        assert palettes()[mode] == ("heat", len(table["from"]))


def test_the_most_frequent_scope_comes_first() -> None:
    scopes: dict[str, tuple[str, ...]] = {"a": ("x",), "b": ("y",), "c": ("y",), "d": ()}
    assert scope_levels(scopes) == ({"a": 1, "b": 0, "c": 0}, ["A y", "B x"])


def test_what_is_too_many_shares_the_last_color() -> None:
    levels, words = scope_levels({f"s{n}": (f"s{'abcdefghijklmn'[n]}",) for n in range(14)})
    assert max(levels.values()) == MOST_KINDS - 1
    assert words[-1] == "J others"
    assert len(words) == MOST_KINDS


def test_scopes_are_as_deep_as_colors_last_and_layers_are_one() -> None:
    paths = [("model", f"h_{n}", part) for n in range(12) for part in ("attn", "mlp")]
    _, words = scope_levels({"/".join(path): path for path in paths})
    assert words == ["A model/h_#/attn", "B model/h_#/mlp"]
    many = {letter: ("model", f"part{letter}") for letter in "abcdefghijklmno"}
    assert scope_levels(many | {"other": ("other",)})[1] == ["A model", "B other"]


def test_one_scope_tells_nothing() -> None:
    assert scope_levels({"a": ("m",), "b": ("m",)}) == ({}, ())
