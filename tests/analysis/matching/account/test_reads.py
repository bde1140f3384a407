"""What the counterpart of a user reads in the place of a removed instruction."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TABLE = """
ENTRY %main (a: f32[1024], i: s32[]) -> f32[256] {
  %a = f32[1024]{0} parameter(0)
  %i = s32[] parameter(1)
  %table = s32[4]{0} constant({0, 256, 512, 768})
  %entry = s32[1]{0} dynamic-slice(%table, %i), dynamic_slice_sizes={1}
  %start = s32[] reshape(%entry)
  ROOT %part = f32[256]{0} dynamic-slice(%a, %start), dynamic_slice_sizes={256}
}
"""
_COMPUTED = """
ENTRY %main (a: f32[1024], i: s32[]) -> f32[256] {
  %a = f32[1024]{0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %last = s32[] constant(3)
  %within = s32[] clamp(%zero, %i, %last)
  %step = s32[] constant(256)
  %start.1 = s32[] multiply(%within, %step)
  ROOT %part = f32[256]{0} dynamic-slice(%a, %start.1), dynamic_slice_sizes={256}
}
"""


def test_the_index_of_a_table_is_not_read_instead_of_the_table(read: Read) -> None:
    pairing = match(read(_TABLE), read(_COMPUTED)).pairing_before(Place("main", "table"))
    assert pairing is not None
    assert pairing.reason == "its user %entry became %start.1"
