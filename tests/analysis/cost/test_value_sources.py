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
