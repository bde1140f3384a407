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


_GATHERS = """
ENTRY %main (x: f32[8], y: f32[4], z: f32[4,2]) -> (f32[16], f32[8], f32[4,4], f32[4,4]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %z = f32[4,2]{1,0} parameter(2)
  %s = f32[8]{0} sine(%x)
  %c = f32[4]{0} cosine(%y)
  %t = f32[4,2]{1,0} tanh(%z)
  %all.1 = f32[16]{0} all-gather(%s), dimensions={0}, replica_groups={{0,1}}
  %all.2 = f32[8]{0} all-gather(%c), dimensions={0}, replica_groups={{0,1}}
  %u = f32[4,2]{1,0} negate(%z)
  %all.3 = f32[4,4]{1,0} all-gather(%u), dimensions={1}, replica_groups={{0,1}}
  %all.4 = f32[4,4]{1,0} all-gather(%t), dimensions={1}, replica_groups={{0,1}}
  ROOT %out = (f32[16], f32[8], f32[4,4], f32[4,4]) tuple(%all.1, %all.2, %all.3, %all.4)
}
"""
_ALL = "((f32[8], f32[4], f32[2,4]), (f32[16], f32[8], f32[4,4]))"
_GATHERED_AT_ONCE = f"""
%fused (p: f32[4,2]) -> f32[2,4] {{
  %p = f32[4,2]{{1,0}} parameter(0)
  %e = f32[4,2]{{1,0}} exponential(%p)
  %d = f32[4,2]{{1,0}} multiply(%e, %e)
  ROOT %h = f32[2,4]{{1,0}} transpose(%d), dimensions={{1,0}}
}}

%fused.1 (p: f32[4,2]) -> f32[2,4] {{
  %p = f32[4,2]{{1,0}} parameter(0)
  %e = f32[4,2]{{1,0}} sqrt(%p)
  %d = f32[4,2]{{1,0}} multiply(%e, %e)
  ROOT %h = f32[2,4]{{1,0}} transpose(%d), dimensions={{1,0}}
}}

ENTRY %main (x: f32[8], y: f32[4], z: f32[4,2]) -> (f32[16], f32[8], f32[4,4], f32[4,4]) {{
  %x = f32[8]{{0}} parameter(0)
  %y = f32[4]{{0}} parameter(1)
  %z = f32[4,2]{{1,0}} parameter(2)
  %s = f32[8]{{0}} sine(%x)
  %c = f32[4]{{0}} cosine(%y)
  %f = f32[2,4]{{1,0}} fusion(%z), kind=kLoop, calls=%fused
  %k = f32[2,4]{{1,0}} fusion(%z), kind=kLoop, calls=%fused.1
  %own = f32[4,4]{{1,0}} all-gather(%k), dimensions={{0}}, replica_groups={{{{0,1}}}}
  %n = f32[4,4]{{0,1}} bitcast(%own)
  %start = {_ALL} all-gather-start(%s, %c, %f), dimensions={{0}}, replica_groups={{{{0,1}}}}
  %done = (f32[16], f32[8], f32[4,4]) all-gather-done(%start)
  %g.0 = f32[16]{{0}} get-tuple-element(%done), index=0
  %g.1 = f32[8]{{0}} get-tuple-element(%done), index=1
  %g.2 = f32[4,4]{{1,0}} get-tuple-element(%done), index=2
  %b = f32[4,4]{{0,1}} bitcast(%g.2)
  ROOT %out = (f32[16], f32[8], f32[4,4]{{0,1}}, f32[4,4]{{0,1}}) tuple(%g.0, %g.1, %n, %b)
}}
"""


def test_an_all_gather_of_turned_values_is_a_member_by_what_its_user_reads(read: Read) -> None:
    said = match(read(_GATHERS), read(_GATHERED_AT_ONCE)).pairing_before(Place("main", "all.4"))
    assert said is not None
    assert said.relation is Relation.COMBINED
    assert set(said.before) == {Place("main", f"all.{number}") for number in (1, 2, 4)}


def test_what_a_start_sends_has_the_type_that_it_had(read: Read) -> None:
    change = step(read(_GATHERS), read(_GATHERED_AT_ONCE))
    assert "instead of f32" not in " ".join((change.headline, *change.account))
