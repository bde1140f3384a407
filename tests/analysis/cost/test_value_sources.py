"""What computes values that copies pass on: through copies, casts, gathers and elements."""

from collections.abc import Callable

import pytest

from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.hlo.model import HloModule

TEXT = """part {
  p = f32[8] parameter(0)
  i = s32[] parameter(1)
  ROOT s = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
}

work {
  p = f32[4] parameter(0)
  ROOT t = f32[4] tanh(p)
}

ENTRY e {
  x = f32[4] parameter(0)
  i = s32[] constant(0)
  made = f32[4] fusion(x), kind=kLoop, calls=work
  cast = bf16[4] convert(made)
  whole = bf16[8] all-gather(cast), dimensions={0}
  sent = (bf16[8], bf16[8], u32[]) copy-start(whole)
  there = bf16[8] copy-done(sent)
  sliced = f32[4] fusion(there, i), kind=kLoop, calls=part
  ROOT sum = f32[4] add(sliced, made)
}"""


@pytest.mark.parametrize(
    ("name", "source"),
    [("sliced", "made"), ("sent", "made"), ("made", "made"), ("sum", "sum"), ("i", "i")],
)
def test_trails_end_at_what_computes(
    module_of: Callable[[str], HloModule], name: str, source: str
) -> None:
    place = ValueSources(module_of(TEXT)).find(name)
    assert place is not None
    assert (place[0].name, place[1].name) == ("e", source)


def test_no_instruction_has_no_source(module_of: Callable[[str], HloModule]) -> None:
    assert ValueSources(module_of(TEXT)).find("nothing") is None


LOOP = """body {
  s = (s32[], f32[8], bf16[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(n, one)
  x = f32[8] get-tuple-element(s), index=1
  y = f32[8] tanh(x)
  w = bf16[8] get-tuple-element(s), index=2
  ROOT out = (s32[], f32[8], bf16[8]) tuple(next, y, w)
}

until {
  s = (s32[], f32[8], bf16[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  four = s32[] constant(4)
  ROOT less = pred[] compare(n, four), direction=LT
}

ENTRY e {
  x = f32[8] parameter(0)
  w = f32[8] parameter(1)
  zero = s32[] constant(0)
  narrow = bf16[8] convert(w)
  start = (s32[], f32[8], bf16[8]) tuple(zero, x, narrow)
  loop = (s32[], f32[8], bf16[8]) while(start), condition=until, body=body
  changed = f32[8] get-tuple-element(loop), index=1
  kept = bf16[8] get-tuple-element(loop), index=2
  ROOT both = (f32[8], bf16[8]) tuple(changed, kept)
}"""


@pytest.mark.parametrize(("name", "source"), [("kept", "w"), ("changed", "loop")])
def test_an_element_that_a_loop_only_passes_on_is_its_start_value(
    module_of: Callable[[str], HloModule], name: str, source: str
) -> None:
    place = ValueSources(module_of(LOOP)).find(name)
    assert place is not None
    assert place[1].name == source
