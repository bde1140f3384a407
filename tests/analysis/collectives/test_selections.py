"""Candidates of `top_k` along a sharded dimension are told from values that are resharded."""

import pytest

from xlareport.analysis.collectives.selections import find_selection
from xlareport.hlo.text import TextReader

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
    module = TextReader().read(TEXT.replace(old, new).encode() if old else TEXT.encode(), "m.txt")
    assert module is not None
    home = module.by_name["e"]
    selection = find_selection(home, home.by_name["g"])
    assert (selection.name if selection else None) == name
