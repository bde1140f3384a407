"""What changed together is one spot; what a computation took in is a spot of its own."""

from collections.abc import Callable

from xlareport.analysis.matching.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.pictures.change_regions import ChangeRegion, find_change_regions
from xlareport.pictures.drawing import State
from xlareport.pictures.side import PictureSide

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


def spots(module: HloModule, **states: State) -> list[ChangeRegion]:
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
    found = spots(module_of(CHAIN), a="removed", b="removed", e="removed")
    assert names(found) == ["ab", "e"]
    assert found[0].kinds == {("removed", "abs"): 1, ("removed", "sine"): 1}


def test_what_stands_around_the_same_thing_is_one_spot(
    module_of: Callable[[str], HloModule],
) -> None:
    assert names(spots(module_of(CHAIN), a="removed", c="removed")) == ["ac"]


def test_what_everybody_reads_unites_nothing(module_of: Callable[[str], HloModule]) -> None:
    users = "\n".join(f"  u{n} = f32[8] abs(h)" for n in range(9))
    module = module_of(f"ENTRY e {{\n  h = f32[8] iota()\n{users}\n}}")
    assert len(spots(module, **{f"u{n}": "changed" for n in range(9)})) == 9
    assert len(spots(module, **{f"u{n}": "changed" for n in range(5)})) == 1


def test_each_fusion_is_a_spot(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(FUSIONS)
    found = spots(module, f="added", q="changed", g="added", s="changed", h="changed")
    assert sorted("".join(sorted(spot.ids)) for spot in found) == ["fq", "gs", "h"]
    assert found[0].likeness == found[1].likeness


def test_what_came_or_went_comes_first(module_of: Callable[[str], HloModule]) -> None:
    found = spots(module_of(CHAIN), a="changed", b="changed", e="added")
    assert names(found) == ["e", "ab"]
    assert [spot.is_new for spot in found] == [True, False]


def test_nothing_changed_is_no_spot(module_of: Callable[[str], HloModule]) -> None:
    assert spots(module_of(CHAIN)) == []
