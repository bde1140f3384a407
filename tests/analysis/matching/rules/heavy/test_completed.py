from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]
SUMS = """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %total = f32[] add(%a, %b)
}

%add.bf16 (c: bf16[], d: bf16[]) -> bf16[] {
  %c = bf16[] parameter(0)
  %d = bf16[] parameter(1)
  ROOT %total.bf16 = bf16[] add(%c, %d)
}
"""
ARGUMENTS = """
  %x = f32[8]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %z = f32[16,2]{1,0} parameter(2)
  %s = f32[8]{0} sine(%x)
  %c = f32[4]{0} cosine(%y)
"""
SIGNATURE = "(x: f32[8], y: f32[4], z: f32[16,2])"
APART = f"""{SUMS}
ENTRY %main {SIGNATURE} -> (f32[8], f32[4], bf16[2,16]) {{{ARGUMENTS}
  %t = f32[2,16]{{1,0}} transpose(%z), dimensions={{1,0}}
  %n = bf16[2,16]{{1,0}} convert(%t)
  %m = bf16[2,16]{{1,0}} tanh(%n)
  %sum.1 = f32[8]{{0}} all-reduce(%s), channel_id=1, to_apply=%add
  %sum.2 = f32[4]{{0}} all-reduce(%c), channel_id=1, to_apply=%add
  %sum.3 = bf16[2,16]{{1,0}} all-reduce(%m), channel_id=1, to_apply=%add.bf16
  ROOT %out = (f32[8]{{0}}, f32[4]{{0}}, bf16[2,16]{{1,0}}) tuple(%sum.1, %sum.2, %sum.3)
}}
"""
TOGETHER = f"""{SUMS}
%fused (p: f32[16,2]) -> f32[16,2] {{
  %p = f32[16,2]{{1,0}} parameter(0)
  %n = bf16[16,2]{{1,0}} convert(%p)
  %w = f32[16,2]{{1,0}} convert(%n)
  %e = f32[16,2]{{1,0}} exponential(%w)
  ROOT %h = f32[16,2]{{1,0}} multiply(%e, %e)
}}

ENTRY %main.spmd {SIGNATURE} -> (f32[8], f32[4], bf16[16,2]) {{{ARGUMENTS}
  %f = f32[16,2]{{1,0}} fusion(%z), kind=kLoop, calls=%fused
  %whole = (f32[8]{{0}}, f32[4]{{0}}, f32[16,2]{{1,0}}) all-reduce(%s, %c, %f), to_apply=%add
  %g.0 = f32[8]{{0}} get-tuple-element(%whole), index=0
  %g.1 = f32[4]{{0}} get-tuple-element(%whole), index=1
  %g.2 = f32[16,2]{{1,0}} get-tuple-element(%whole), index=2
  %b = bf16[16,2]{{1,0}} convert(%g.2)
  ROOT %out = (f32[8]{{0}}, f32[4]{{0}}, bf16[16,2]{{1,0}}) tuple(%g.0, %g.1, %b)
}}
"""


def test_a_promoted_all_reduce_is_a_member_of_the_combined_one(read: Read) -> None:
    said = match(read(APART), read(TOGETHER)).pairing_before(Place("main", "sum.3"))
    assert said is not None
    assert said.relation is Relation.COMBINED
    assert said.grade is Grade.MATCHED
    assert set(said.before) == {Place("main", f"sum.{number}") for number in (1, 2, 3)}


def test_the_promotion_is_told_with_the_combination(read: Read) -> None:
    change = step(read(APART), read(TOGETHER))
    account = " ".join((change.headline, *change.account))
    assert "ombined 3 all-reduces into 1" in account
    assert "including `%sum.1`, 1 of them as f32 instead of bf16" in account


def test_an_all_reduce_of_another_size_is_not_a_member(read: Read) -> None:
    other = APART.replace("bf16[2,16]", "bf16[2,8]").replace("f32[2,16]", "f32[2,8]")
    other = other.replace("f32[16,2]", "f32[8,2]")
    said = match(read(other), read(TOGETHER)).pairing_before(Place("main", "sum.3"))
    assert said is None or said.relation is not Relation.COMBINED
