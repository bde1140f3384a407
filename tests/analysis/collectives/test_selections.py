"""Candidates of `top_k` and parts of an `argmax` are told from values that are resharded."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.collectives.selections import find_repeated_reduce, find_selection

TEXT = """HloModule m, num_partitions=4

ENTRY e {
  x = f32[8,8000] parameter(0)
  t = (f32[8,40], s32[8,40]) custom-call(x), custom_call_target="TopK", metadata={op_name="f/top_k"}
  v = f32[8,40] get-tuple-element(t), index=0, metadata={op_name="f/top_k"}
  i = s32[8,40] get-tuple-element(t), index=1, metadata={op_name="f/top_k"}
  g = f32[8,160] all-gather(v), dimensions={1}, metadata={op_name="f/top_k"}
  h = s32[8,160] all-gather(i), dimensions={1}, metadata={op_name="f/top_k"}
  ROOT s = (f32[8,160], s32[8,160]) sort(g, h), dimensions={1}, metadata={op_name="f/top_k"}
}
"""


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("", "", "t"),
        ('"TopK"', '"other"', None),
        ("sort(g, h), dimensions={1}", "tuple(g, h)", None),
        ('all-gather(v), dimensions={1}, metadata={op_name="f/top_k"}', "all-gather(v)", None),
    ],
)
def test_candidates(old: str, new: str, name: str | None) -> None:
    module = parse_module(TEXT.replace(old, new) if old else TEXT)
    home = module.by_name["e"]
    selection = find_selection(home, home.by_name["g"])
    assert (selection.name if selection else None) == name


ARGMAX = """HloModule m, num_partitions=4

ENTRY e {
  x = f32[8,80] parameter(0)
  n = s32[8,80] parameter(1)
  a = f32[] parameter(2)
  b = s32[] parameter(3)
  p = (f32[8], s32[8]) reduce(x, n, a, b), dimensions={1}, to_apply=r, metadata={op_name="f/m"}
  v = f32[8] get-tuple-element(p), index=0, metadata={op_name="f/m"}
  w = f32[8,1] reshape(v), metadata={op_name="f/m"}
  g = f32[8,4] all-gather(w), dimensions={1}, metadata={op_name="f/m"}
  i = s32[8] get-tuple-element(p), index=1, metadata={op_name="f/m"}
  j = s32[8,1] reshape(i), metadata={op_name="f/m"}
  h = s32[8,4] all-gather(j), dimensions={1}, metadata={op_name="f/m"}
  q = (f32[8], s32[8]) reduce(g, h, a, b), dimensions={1}, to_apply=r, metadata={op_name="f/m"}
}
"""


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("", "", "p"),
        ("q = (f32[8], s32[8]) reduce", "q = (f32[8], s32[8]) sort", None),
        ("reduce(g, h, a, b), dimensions={1}, to_apply=r", "reduce(g, h, a, b), to_apply=s", None),
        ("w = f32[8,1] reshape(v)", "w = f32[2,4] reshape(v)", None),
        ('dimensions={1}, to_apply=r, metadata={op_name="f/m"}\n  v', "to_apply=r\n  v", None),
    ],
)
def test_partial_results_of_a_reduce_of_several_operands(
    old: str, new: str, name: str | None
) -> None:
    assert old in ARGMAX
    module = parse_module(ARGMAX.replace(old, new, 1 if old else 0))
    home = module.by_name["e"]
    partial = find_repeated_reduce(home, home.by_name["g"])
    assert (partial.name if partial else None) == name
