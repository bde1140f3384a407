from collections.abc import Callable

from xlareport.analysis.matching.sides.paired_lines import pair_lines
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BODY = """
%body (p: s32[], q: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %q = s32[] parameter(1)
  %dead = s32[] negate(%q)
  %less = pred[] compare(%p, %q), direction=LT
  ROOT %least = s32[] select(%less, %p, %q)
}
"""
_COPY = """
%copy (p.1: s32[], q.1: s32[]) -> s32[] {
  %q.1 = s32[] parameter(1)
  %dead.1 = s32[] negate(%q.1)
  %p.1 = s32[] parameter(0)
  %less.1 = pred[] compare(%p.1, %q.1), direction=LT
  ROOT %least.1 = s32[] select(%less.1, %p.1, %q.1)
}
"""
_ENTRY = "ENTRY %main (a: s32[]) -> s32[] {\n  ROOT %a = s32[] parameter(0)\n}\n"


def test_lines_in_another_order_are_paired_by_what_they_compute(read: Read) -> None:
    body, copy = read(_BODY + _COPY + _ENTRY).computations[:2]
    pairs = pair_lines(body, copy)
    assert {name: line.name for name, line in pairs.items()} == {
        name: f"{name}.1" for name in ("p", "q", "dead", "less", "least")
    }
