"""Pieces of collectives that several fusions execute one after the other."""

import pytest
from tests.modules import parse_module

from xlareport.hlo.async_fusions import is_async_piece

TEXT = """HloModule m

fused {{
  p = f32[8] parameter(0)
  g = f32[8] all-reduce(p), to_apply=add{attributes}
  ROOT r = f32[8] {root}
}}

ENTRY e {{
  x = f32[8] parameter(0)
  ROOT f = f32[8] fusion(x), kind=kCustom, calls=fused
}}
"""
HALF = 'custom-call(g), custom_call_target="AsyncCollectiveStart"'


@pytest.mark.parametrize(
    ("root", "attributes", "piece"),
    [
        ("negate(g)", "", False),
        (HALF, "", True),
        ("negate(g)", ', frontend_attributes={chain_id="3"}', True),
        ("negate(g)", ', frontend_attributes={other="3"}', False),
    ],
)
def test_a_piece_is_known_by_its_end_or_its_chain(root: str, attributes: str, piece: bool) -> None:  # noqa: FBT001 - the expected value of a case
    home = parse_module(TEXT.format(root=root, attributes=attributes)).by_name["fused"]
    assert is_async_piece(home, home.by_name["g"]) is piece
