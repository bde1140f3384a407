"""Choices in a wider or narrower type whose values are the same in the end."""

import pytest
from tests.analysis.small_modules import modules

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
