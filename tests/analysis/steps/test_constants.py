"""What is made of constants alone, also through fusions and calls."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.constants import argument, is_constant, readers
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TEXT = """
%held (p0: f32[8], p1: f32[]) -> f32[8] {
  %p0 = f32[8]{0} parameter(0)
  %p1 = f32[] parameter(1)
  %four = f32[] constant(4)
  %product = f32[] multiply(%p1, %four)
  %wide = f32[8]{0} broadcast(%product), dimensions={}
  ROOT %sum = f32[8]{0} add(%p0, %wide)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %two = f32[] constant(2)
  ROOT %out = f32[8]{0} call(%a, %two), to_apply=%held
}
"""


@pytest.mark.parametrize(
    ("name", "constant"), [("product", True), ("wide", True), ("sum", False), ("p0", False)]
)
def test_the_argument_of_a_call_decides(read: Read, name: str, *, constant: bool) -> None:
    assert is_constant(read(_TEXT), Place("held", name)) == constant


def test_a_fusion_of_constants_is_constant(read: Read) -> None:
    fusion = _TEXT.replace("call(%a, %two), to_apply", "fusion(%w, %two), kind=kLoop, calls")
    fusion = fusion.replace(
        "  ROOT %out", "  %w = f32[8]{0} broadcast(%two), dimensions={}\n  ROOT %out"
    )
    assert is_constant(read(fusion), Place("main", "out"))
    assert not is_constant(read(_TEXT), Place("main", "out"))
    drawn = fusion.replace("multiply(%p1, %four)", "rng(%p1, %four), distribution=rng_uniform")
    assert not is_constant(read(drawn), Place("main", "out"))


def test_a_parameter_of_a_computation_that_two_call_has_no_argument(read: Read) -> None:
    twice = _TEXT.replace(
        "ROOT %out = f32[8]{0} call(%a, %two), to_apply=%held",
        "%five = f32[] constant(5)\n  %other = f32[8]{0} call(%a, %five), to_apply=%held\n"
        "  ROOT %out = f32[8]{0} call(%other, %two), to_apply=%held",
    )
    assert argument(read(_TEXT), Place("held", "p1")) == Place("main", "two")
    assert argument(read(twice), Place("held", "p1")) is None
    assert not is_constant(read(twice), Place("held", "product"))


def test_what_uses_an_argument_is_in_the_call(read: Read) -> None:
    assert [*readers(read(_TEXT), Place("main", "two"))] == [Place("held", "product")]
    assert [*readers(read(_TEXT), Place("held", "product"))] == [Place("held", "wide")]
