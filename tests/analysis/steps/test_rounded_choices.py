"""Choices in a wider or narrower type whose values are the same in the end."""

import pytest
from tests.analysis.small_modules import modules
from tests.modules import parse_module

from xlareport.analysis.steps.numbers_changed import numbers_changed
from xlareport.analysis.steps.step import step

NARROW = "  %m = bf16[8,4]{1,0} maximum(%x, %x)\n  ROOT %s = bf16[8,4]{1,0} copy(%m)"
ROUNDED = """  %m = f32[8,4]{1,0} maximum(%x, %x)
  %c = bf16[8,4]{1,0} convert(%m)
  ROOT %s = bf16[8,4]{1,0} copy(%c)"""
READ = """  %m = f32[8,4]{1,0} maximum(%x, %x)
  %c = bf16[8,4]{1,0} convert(%m)
  ROOT %s = (bf16[8,4]{1,0}, f32[8,4]{1,0}) tuple(%c, %m)"""
UPCAST = """  %r = bf16[8,4]{1,0} convert(%x)
  %u = f32[8,4]{1,0} convert(%r)
  %z = f32[] constant(0)
  %b = f32[8,4]{1,0} broadcast(%z), dimensions={}
  ROOT %m = f32[8,4]{1,0} maximum(%u, %b)"""
CHOSEN = """  %r = bf16[8,4]{1,0} convert(%x)
  %z = bf16[] constant(0)
  %b = bf16[8,4]{1,0} broadcast(%z), dimensions={}
  ROOT %m = bf16[8,4]{1,0} maximum(%r, %b)"""


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        (NARROW, ROUNDED, True),
        (ROUNDED, NARROW, True),
        (NARROW, READ, False),
        (UPCAST, CHOSEN, True),
        (UPCAST.replace("(0)", "(0.1)"), CHOSEN.replace("(0)", "(0.1)"), False),
        (NARROW.replace("maximum", "add"), ROUNDED.replace("maximum", "add"), False),
    ],
)
def test_a_choice_rounds_the_same_before_and_after(before: str, after: str, is_same: bool) -> None:  # noqa: FBT001 - a parametrized value
    assert (numbers_changed(step(*modules(before, after))) == ()) == is_same


LARGEST = """HloModule m

%largest (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %more = f32[] maximum(%p, %q)
}

ENTRY %main (x: bf16[8,4]) -> f32[8] {
  %x = bf16[8,4]{1,0} parameter(0)
  %least = f32[] constant(-inf)
  %wide = f32[8,4]{1,0} convert(%x)
  %reduce.1 = f32[8]{0} reduce(%wide, %least), dimensions={1}, to_apply=%largest
  ROOT %sine = f32[8]{0} sine(%reduce.1)
}
"""
NARROW_LARGEST = """HloModule m

%largest.clone (v: bf16[], w: bf16[]) -> bf16[] {
  %v = bf16[] parameter(0)
  %w = bf16[] parameter(1)
  ROOT %more.1 = bf16[] maximum(%v, %w)
}

ENTRY %main (x: bf16[8,4]) -> f32[8] {
  %x = bf16[8,4]{1,0} parameter(0)
  %least = f32[] constant(-inf)
  %low = bf16[] convert(%least)
  %reduce.2 = bf16[8]{0} reduce(%x, %low), dimensions={1}, to_apply=%largest.clone
  %convert.2 = f32[8]{0} convert(%reduce.2)
  ROOT %sine = f32[8]{0} sine(%convert.2)
}
"""


def test_a_maximum_of_converted_values_is_the_same_before_they_are_converted() -> None:
    """What `tpu-reduce-rewriter` does is exact."""
    assert not numbers_changed(step(*map(parse_module, (LARGEST, NARROW_LARGEST))))


def test_a_sum_is_not_and_counts_once_with_what_it_applies() -> None:
    texts = (
        text.replace("maximum", "add").replace("-inf", "0") for text in (LARGEST, NARROW_LARGEST)
    )
    (changed,) = numbers_changed(step(*map(parse_module, texts)))
    assert (changed.what, changed.count) == ("element type", 1)
    assert "`%reduce.1` became `%reduce.2`" in changed.example
