"""A side of a step knows what changed in it and what stands next to that."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.pictures.drawing import State
from xlareport.pictures.step_side import PictureSide

MODULE = """
fused {
  p = f32[8] parameter(0)
  q = f32[8] abs(p)
  ROOT r = f32[8] negate(q)
}

twice {
  s = f32[8] parameter(0)
  ROOT t = f32[8] tanh(s)
}

ENTRY main {
  x = f32[8] parameter(0)
  one = f32[] constant(1)
  ones = f32[8] broadcast(one), dimensions={}
  a = f32[8] add(x, ones)
  b = f32[8] fusion(a), kind=kLoop, calls=fused
  c = f32[8] call(b), to_apply=twice
  d = f32[8] call(c), to_apply=twice
  pair = (f32[8], f32[8]) custom-call(d), custom_call_target="f"
  left = f32[8] get-tuple-element(pair), index=0
  ROOT e = f32[8] multiply(left, a)
}
"""


@pytest.fixture
def side(module_of: Callable[[str], HloModule]) -> Callable[..., PictureSide]:
    """Return a function: places as `computation/instruction` -> the side in which they changed."""
    module = module_of(MODULE)

    def make(*changed: str, state: State = "changed") -> PictureSide:
        places = (Place(*one.split("/")) for one in changed)
        return PictureSide(module, dict.fromkeys(places, state))

    return make


def beside(side: PictureSide, place: str) -> list[str]:
    return [str(neighbor) for neighbor in side.neighbors(Place(*place.split("/")))]


def test_neighbors_are_found_through_what_is_folded(side: Callable[..., PictureSide]) -> None:
    assert beside(side("main/a"), "main/a") == ["main/%b", "main/%e"]
    assert beside(side("main/e"), "main/e") == ["main/%pair", "main/%a"]
    assert beside(side("main/pair"), "main/pair") == ["main/%d", "main/%e"]


def test_a_constant_is_told_by_a_user_that_changed_too(side: Callable[..., PictureSide]) -> None:
    assert list(side("main/ones", "main/a").states) == [Place("main", "a")]


def test_a_constant_that_changed_alone_has_a_box(side: Callable[..., PictureSide]) -> None:
    found = side("main/ones")
    assert list(found.states) == [Place("main", "ones")]
    assert beside(found, "main/ones") == ["main/%a"]


def test_what_is_not_there_is_forgotten(side: Callable[..., PictureSide]) -> None:
    assert side("main/nobody", "nowhere/a", "main/b").states == {Place("main", "b"): "changed"}


def test_the_order_is_that_of_the_module(side: Callable[..., PictureSide]) -> None:
    found = side("main/e", "main/a", "fused/r", "fused/q")
    assert [str(state) for state in found.states] == [
        "fused/%q",
        "fused/%r",
        "main/%a",
        "main/%e",
    ]


def test_a_computation_with_one_caller_stands_in_its_place(
    side: Callable[..., PictureSide],
) -> None:
    found = side("fused/q", "twice/t")
    assert found.caller("fused") == Place("main", "b")
    assert found.caller("twice") is None
    assert found.computations == {"fused", "twice", "main"}


def test_home(side: Callable[..., PictureSide]) -> None:
    found = side("fused/q", "main/b")
    assert found.home(Place("fused", "q")) == "fused"
    assert found.home(Place("main", "b")) == "fused"
    assert found.home(Place("main", "a")) == ""
