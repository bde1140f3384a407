"""Colours of figures have limits of the table, colours of kinds are shared out by frequency."""

from xlareport.pictures.drawing import Box, Drawing
from xlareport.pictures.scales import MOST_KINDS, Scale, scales
from xlareport.pictures.shade import Shade


def scale_of(mode: str, *shades: Shade) -> Scale:
    nodes = tuple(Box(str(n), ("x",), "white", shade=one) for n, one in enumerate(shades))
    return next(one for one in scales(Drawing("", nodes)) if one.mode == mode)


def test_what_is_not_known_has_no_mode() -> None:
    assert scales(Drawing("", (Box("a", ("a",), "white"),))) == ()


def test_costs_by_their_share() -> None:
    parts = (0.0, 0.0005, 0.001, 0.03, 0.05, 0.2, 1.0)
    found = scale_of("cost", Shade(), *(Shade(cost=part) for part in parts))
    assert [found.levels.get(str(n)) for n in range(8)] == [None, 0, 0, 1, 2, 3, 4, 4]
    assert found.marks["5"] == "5.0%"
    assert list(found.words) == [0, 1, 2, 3, 4]


def test_measured_time_has_the_limits_of_the_cost() -> None:
    found = scale_of("time", Shade(cost=0.5), Shade(time=0.2), Shade(time=1.3), Shade(time=0.0))
    assert (found.levels, found.marks["2"]) == ({"1": 4, "2": 4, "3": 0}, "130%")
    assert found.words == {0: "under 0.1% of the measured time of all runs", 4: "20% and more"}


def test_memory_by_bytes() -> None:
    found = scale_of("memory", *(Shade(memory=size) for size in (0, 4096, 1 << 30)))
    assert list(found.levels.values()) == [0, 1, 5]
    assert found.marks["2"] == "1.0 GiB"


def test_the_most_frequent_sharding_comes_first() -> None:
    names = ["{replicated}", "{devices=[2]<=[2]}", "{devices=[2]<=[2]}", ""]
    found = scale_of("sharding", *(Shade(sharding=name) for name in names))
    assert found.levels == {"0": 1, "1": 0, "2": 0}
    assert found.marks["0"] == "B"
    assert list(found.words.values()) == ["A {devices=[2]<=[2]}", "B {replicated}"]


def test_what_is_too_many_shares_the_last_colour() -> None:
    found = scale_of("sharding", *(Shade(sharding=f"s{n}") for n in range(14)))
    assert max(found.levels.values()) == MOST_KINDS - 1
    assert found.words[MOST_KINDS - 1] == "J others"
    assert len(found.words) == MOST_KINDS


def test_scopes_are_as_deep_as_colours_last_and_layers_are_one() -> None:
    paths = [("model", f"h_{n}", part) for n in range(12) for part in ("attn", "mlp")]
    found = scale_of("scope", *(Shade(scope=path) for path in paths))
    assert list(found.words.values()) == ["A model/h_#/attn", "B model/h_#/mlp"]
    many = [("model", f"part{letter}") for letter in "abcdefghijklmno"]
    deep = scale_of("scope", Shade(scope=("other",)), *(Shade(scope=path) for path in many))
    assert list(deep.words.values()) == ["A model", "B other"]


def test_one_scope_tells_nothing() -> None:
    nodes = tuple(Box(name, ("x",), "white", shade=Shade(scope=("m",))) for name in "ab")
    assert scales(Drawing("", nodes)) == ()
