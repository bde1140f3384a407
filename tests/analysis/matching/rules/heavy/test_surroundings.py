from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

BEFORE = """
HloModule step
ENTRY %main (x: f32[32,64], w: f32[64,64], v: f32[64,64]) -> f32[32,64] {
  %x = f32[32,64]{1,0} parameter(0)
  %w = f32[64,64]{1,0} parameter(1)
  %v = f32[64,64]{1,0} parameter(2)
  %one = f32[32,64]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %two = f32[32,64]{1,0} dot(%x, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %sum = f32[32,64]{1,0} add(%one, %two)
}
"""
GATHERED = """
HloModule step, num_partitions=2
ENTRY %main_spmd (x: f32[16,64], w: f32[32,64], v: f32[32,64]) -> f32[16,64] {
  %x = f32[16,64]{1,0} parameter(0)
  %w = f32[32,64]{1,0} parameter(1)
  %v = f32[32,64]{1,0} parameter(2)
  %start = ((f32[32,64]{1,0}, f32[32,64]{1,0}), (f32[64,64]{1,0}, f32[64,64]{1,0})) all-gather-start(%v, %w), dimensions={0}
  %done = (f32[64,64]{1,0}, f32[64,64]{1,0}) all-gather-done(%start)
  %first = f32[64,64]{1,0} get-tuple-element(%done), index=0
  %second = f32[64,64]{1,0} get-tuple-element(%done), index=1
  %dot.1 = f32[16,64]{1,0} dot(%x, %first), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.2 = f32[16,64]{1,0} dot(%x, %second), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %sum.1 = f32[16,64]{1,0} add(%dot.1, %dot.2)
}
"""  # noqa: E501 - as XLA prints it


def test_which_of_several_gathered_values_a_dot_reads_is_seen(read: Read) -> None:
    """An operand of a combined start is the element of its number of the done."""
    matching = match(read(BEFORE), read(GATHERED))
    assert matching.partner_after(Place("main", "one")) == Place("main_spmd", "dot.2")
    assert matching.partner_after(Place("main", "two")) == Place("main_spmd", "dot.1")


EXCHANGES = """
HloModule step
ENTRY %main (x: f32[8,64], y: f32[8,64]) -> (f32[8,64], f32[8,64]) {
  %x = f32[8,64]{1,0} parameter(0)
  %y = f32[8,64]{1,0} parameter(1)
  %sine = f32[8,64]{1,0} sine(%x)
  %cosine = f32[8,64]{1,0} cosine(%y)
  %one = f32[8,64]{1,0} all-to-all(%sine), dimensions={0}
  %two = f32[8,64]{1,0} all-to-all(%cosine), dimensions={0}
  ROOT %out = (f32[8,64]{1,0}, f32[8,64]{1,0}) tuple(%one, %two)
}
"""
WRAPPED = """
HloModule step
%async_computation (p: f32[8,64]) -> f32[8,64] {
  %p = f32[8,64]{1,0} parameter(0)
  ROOT %all-to-all.1 = f32[8,64]{1,0} all-to-all(%p), dimensions={0}
}
%async_computation.1 (p.1: f32[8,64]) -> f32[8,64] {
  %p.1 = f32[8,64]{1,0} parameter(0)
  ROOT %all-to-all.2 = f32[8,64]{1,0} all-to-all(%p.1), dimensions={0}
}
ENTRY %main (x: f32[8,64], y: f32[8,64]) -> (f32[8,64], f32[8,64]) {
  %x = f32[8,64]{1,0} parameter(0)
  %y = f32[8,64]{1,0} parameter(1)
  %convert.1 = bf16[8,64]{1,0} convert(%y)
  %convert.2 = f32[8,64]{1,0} convert(%convert.1)
  %convert.3 = bf16[8,64]{1,0} convert(%x)
  %convert.4 = f32[8,64]{1,0} convert(%convert.3)
  %cosine.1 = f32[8,64]{1,0} cosine(%convert.2)
  %start.1 = ((f32[8,64]{1,0}), f32[8,64]{1,0}) async-start(%cosine.1), calls=%async_computation
  %done.1 = f32[8,64]{1,0} async-done(%start.1)
  %sine.1 = f32[8,64]{1,0} sine(%convert.4)
  %start.2 = ((f32[8,64]{1,0}), f32[8,64]{1,0}) async-start(%sine.1), calls=%async_computation.1
  %done.2 = f32[8,64]{1,0} async-done(%start.2)
  ROOT %out = (f32[8,64]{1,0}, f32[8,64]{1,0}) tuple(%done.2, %done.1)
}
"""


def test_a_wrapped_collective_is_told_by_what_its_start_reads(read: Read) -> None:
    """Both are lines of closed computations that hold the same; around them they differ."""
    matching = match(read(EXCHANGES), read(WRAPPED))
    claim = matching.pairing_before(Place("main", "one"))
    assert claim is not None
    assert claim.relation is Relation.ASYNC
    assert claim.after[0] == Place("main", "start.2")
    assert Place("main", "done.2") in claim.after
    assert Place("async_computation.1", "all-to-all.2") in claim.after
