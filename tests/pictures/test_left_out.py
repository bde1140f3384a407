"""Of equal regions one is drawn; the rest is counted and named."""

from collections import Counter
from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.pictures.drawing import State
from xlareport.pictures.left_out import ChangeRegion, choose, find_change_regions
from xlareport.pictures.step_side import PictureSide


def spot(*names: str, opcode: str = "copy", state: str = "added") -> ChangeRegion:
    return ChangeRegion(dict.fromkeys(names), Counter({(state, opcode): len(names)}))


def test_everything_is_drawn_where_it_is_little() -> None:
    found = choose([spot("main/%a"), spot("main/%b", opcode="dot")])
    assert list(found.chosen) == ["main/%a", "main/%b"]
    assert (found.notes(), found.lines()) == ((), ())


def test_regions_alike_are_drawn_once_and_named() -> None:
    found = choose([spot(f"main/%copy.{n}") for n in range(12)])
    assert list(found.chosen) == ["main/%copy.0"]
    assert found.notes() == ("Not drawn: 11 places changed the same way.",)
    names = ", ".join(f"%copy.{n}" for n in range(1, 9))
    assert found.lines() == (f"11 places, as drawn: {names} and 3 more",)


def test_what_has_no_room_is_told_by_what_changed() -> None:
    large = spot(*(f"main/%a{n}" for n in range(50)))
    other = ChangeRegion({"f/%b'": None}, Counter({("removed", "dot"): 2, ("added", "fusion"): 1}))
    found = choose([large, other])
    assert len(found.chosen) == 40
    assert found.notes() == (
        "Not drawn: 1 other place that changed.",
        "Not drawn: 10 instructions changed together with these.",
    )
    assert found.lines() == ("2 removed dot, added fusion: %b",)


def test_the_first_of_each_line_that_are_small_get_pictures() -> None:
    drawn = spot(*(f"main/%z{n}" for n in range(24)), opcode="dot")
    large = spot(*(f"main/%y{n}" for n in range(30)), opcode="tanh")
    alike = [spot(f"main/%copy.{n}") for n in range(20)]
    others = [spot(f"main/%x{n}", opcode=f"op{n}") for n in range(12)]
    found = choose([drawn, large, *alike, *others])
    told = [(line, next(iter(one.ids))) for line, one in found.places()]
    assert told[:4] == [(0, f"main/%copy.{n}") for n in range(4)]
    assert [line for line, _ in told[4:]] == [*range(2, 14)]
    lines = found.lines()
    assert all(f"%{name.partition('%')[2]}" in lines[line] for line, name in told)


def test_the_list_ends() -> None:
    many = [spot(f"main/%x{n}", opcode=f"op{n}") for n in range(100)]
    assert len(choose(many).lines()) == 61
    assert choose(many).lines()[-1] == "36 more kinds of places"


def test_nothing_changed() -> None:
    assert choose([]).lines() == choose([]).notes() == ()


CHAIN = """
ENTRY main {
  x = f32[8] parameter(0)
  a = f32[8] abs(x)
  b = f32[8] sine(a)
  c = f32[8] cosine(b)
  d = f32[8] tanh(c)
  e = f32[8] floor(d)
  ROOT f = f32[8] ceil(e)
}
"""
FUSIONS = """
one {
  p = f32[8] parameter(0)
  ROOT q = f32[8] abs(p)
}

two {
  r = f32[8] parameter(0)
  ROOT s = f32[8] abs(r)
}

ENTRY main {
  x = f32[8] parameter(0)
  f = f32[8] fusion(x), kind=kLoop, calls=one
  g = f32[8] fusion(f), kind=kLoop, calls=two
  ROOT h = f32[8] negate(g)
}
"""


def regions(module: HloModule, **states: State) -> list[ChangeRegion]:
    places = {
        Place(computation.name, name): state
        for computation in module.computations
        for name, state in states.items()
        if name in computation.by_name
    }
    return find_change_regions([(PictureSide(module, places), lambda place: place.instruction)])


def names(found: list[ChangeRegion]) -> list[str]:
    return ["".join(spot.ids) for spot in found]


def test_neighbours_are_one_spot(module_of: Callable[[str], HloModule]) -> None:
    found = regions(module_of(CHAIN), a="removed", b="removed", e="removed")
    assert names(found) == ["ab", "e"]
    assert found[0].kinds == {("removed", "abs"): 1, ("removed", "sine"): 1}


def test_what_stands_around_the_same_thing_is_one_spot(
    module_of: Callable[[str], HloModule],
) -> None:
    assert names(regions(module_of(CHAIN), a="removed", c="removed")) == ["ac"]


def test_what_everybody_reads_unites_nothing(module_of: Callable[[str], HloModule]) -> None:
    users = "\n".join(f"  u{n} = f32[8] abs(h)" for n in range(9))
    module = module_of(f"ENTRY e {{\n  h = f32[8] iota()\n{users}\n}}")
    assert len(regions(module, **{f"u{n}": "changed" for n in range(9)})) == 9
    assert len(regions(module, **{f"u{n}": "changed" for n in range(5)})) == 1


def test_each_fusion_is_a_spot(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(FUSIONS)
    found = regions(module, f="added", q="changed", g="added", s="changed", h="changed")
    assert sorted("".join(sorted(spot.ids)) for spot in found) == ["fq", "gs", "h"]
    assert found[0].likeness == found[1].likeness


def test_what_came_or_went_comes_first(module_of: Callable[[str], HloModule]) -> None:
    found = regions(module_of(CHAIN), a="changed", b="changed", e="added")
    assert names(found) == ["e", "ab"]
    assert [spot.is_new for spot in found] == [True, False]


def test_nothing_changed_is_no_spot(module_of: Callable[[str], HloModule]) -> None:
    assert regions(module_of(CHAIN)) == []
