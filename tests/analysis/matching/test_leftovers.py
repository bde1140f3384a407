from collections.abc import Callable

from xlareport.analysis.matching.leftovers import left_over, unread_heavy
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

DOT = "%dot.1 = f32[32,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
CALL = '%gemm.1 = f32[32,16]{1,0} custom-call(%x, %w), custom_call_target="__cublas$gemm"'


def module(result: str, *lines: str) -> str:
    body = "\n  ".join(lines)
    return f"""
HloModule step
ENTRY %main (x: f32[32,64], w: f32[64,16]) -> f32[32,16] {{
  %x = f32[32,64]{{1,0}} parameter(0)
  %w = f32[64,16]{{1,0}} parameter(1)
  {body}
  ROOT %tanh.1 = f32[32,16]{{1,0}} tanh(%{result})
}}
"""


def test_a_dot_that_nothing_reads_is_left_over(read: Read) -> None:
    before, after = read(module("dot.1", DOT)), read(module("gemm.1", DOT, CALL))
    lines = left_over(before.computations[0], after.computations[0])
    assert [line.name for line in lines] == ["dot.1"]


def test_what_nothing_read_before_is_not_left_over_now(read: Read) -> None:
    before, after = read(module("x", DOT)), read(module("w", DOT))
    assert [line.name for line in unread_heavy(after.computations[0])] == ["dot.1"]
    assert not left_over(before.computations[0], after.computations[0])


def test_a_library_call_that_nothing_reads_may_act(read: Read) -> None:
    assert not unread_heavy(read(module("dot.1", DOT, CALL)).computations[0])


def test_the_work_of_a_dot_that_is_left_over_goes_on_in_the_new_one(read: Read) -> None:
    found = match(read(module("dot.1", DOT)), read(module("gemm.1", DOT, CALL)))
    assert found.partner_after(Place("main", "dot.1")) == Place("main", "gemm.1")
