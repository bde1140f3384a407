"""A product in parts, and what runs asynchronously: what else is another of the parts."""

from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.split_parts import with_partial_types
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_DOT = """
ENTRY %main (x: TYPE[24,384], w: TYPE[384,64]) -> TYPE[24,64] {
  %x = TYPE[24,384]{1,0} parameter(0)
  %w = TYPE[384,64]{1,0} parameter(1)
  ROOT %dot = TYPE[24,64]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
_PARTS = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}

ENTRY %main (x: TYPE[24,384], w: TYPE[384,64]) -> TYPE[24,64] {
  %x = TYPE[24,384]{1,0} parameter(0)
  %w = TYPE[384,64]{1,0} parameter(1)
  %bitcast = TYPE[24,8,48]{2,1,0} bitcast(%x)
  %bitcast.1 = TYPE[8,48,64]{2,1,0} bitcast(%w)
  %dot.1 = f32[8,24,64]{2,1,0} dot(%bitcast, %bitcast.1), lhs_batch_dims={1}, \
lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  %zero = f32[] constant(0)
  LAST
}
"""
_REDUCE = "reduce(%dot.1, %zero), dimensions={0}, to_apply=%sum"


def _kinds(read: Read, element_type: str, last: str) -> tuple[Kind, ...]:
    texts = _DOT, _PARTS.replace("LAST", last)
    change = step(*(read(text.replace("TYPE", element_type)) for text in texts))
    [split] = [row for row in change.changes if row.kind is Kind.SPLIT]
    return split.kinds


def test_a_split_product_whose_parts_have_another_type_says_so(read: Read) -> None:
    last = (
        f"%reduce = f32[24,64]{{1,0}} {_REDUCE}\n"
        "  ROOT %convert = bf16[24,64]{1,0} convert(%reduce)"
    )
    assert _kinds(read, "bf16", last) == (Kind.SPLIT, Kind.TYPE)
    assert _kinds(read, "f32", f"ROOT %reduce = f32[24,64]{{1,0}} {_REDUCE}") == (Kind.SPLIT,)


def test_parts_of_a_tuple_have_no_type_of_their_own(read: Read) -> None:
    whole = '(bf16[8], f32[8]) custom-call(%x), custom_call_target="both"'
    text = (
        "ENTRY %main (x: f32[8]) -> (bf16[8], f32[8]) {\n  %x = f32[8]{0} parameter(0)\n"
        f"  ROOT %w = {whole}\n}}\n"
    )
    module = read(text)
    place = Place("main", "x")
    row = Change(
        Kind.SPLIT, Place("main", "w"), place, Grade.EXACT, "", "", ("", ""), (Kind.SPLIT,)
    )
    matching = Matching(module, module, {}, ())
    assert with_partial_types(matching, [row]) == [row]


_WAITED = """
HloModule m
%fused (u: f32[4]) -> f32[4] {
  %u = f32[4] parameter(0)
  ROOT %sine = f32[4] sine(%u)
}
ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  %work = f32[4] fusion(%a), kind=kLoop, calls=%fused, backend_config={"compute_type":"TILE"}
  ROOT %out = f32[4] negate(%work)
}
"""
_BEGUN = """
HloModule m
%fused (u: f32[4]) -> f32[4] {
  %u = f32[4] parameter(0)
  ROOT %sine = f32[4] sine(%u)
}
%run (v: f32[4]) -> f32[4] {
  %v = f32[4] parameter(0)
  ROOT %work.1 = f32[4] fusion(%v), kind=kLoop, calls=%fused
}
ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  %begin = ((f32[4]), f32[4], s32[]) async-start(%a), calls=%run
  %end = f32[4] async-done(%begin)
  ROOT %out = f32[4] negate(%end)
}
"""


def test_what_is_made_asynchronous_says_what_else_changed_of_it(read: Read) -> None:
    headline = step(read(_WAITED), read(_BEGUN)).headline
    assert "made 1 fusion asynchronous" in headline
    assert "; backend_config: {" in headline
    assert '"TILE"} → none' in headline


_EINSUM = """
HloModule m
ENTRY %main (x: s32[8,256], w: s32[256,64]) -> s32[8,64] {
  %x = s32[8,256]{1,0} parameter(0), sharding={devices=[1,2]<=[2]}
  %w = s32[256,64]{1,0} parameter(1), sharding={devices=[1,2]<=[2]}
  %dot = s32[8,64]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
sharding={devices=[1,2]<=[2]}, metadata={op_name="jit(f)/dot_general"}
  ROOT %out = s32[8,64]{1,0} negate(%dot), sharding={devices=[1,2]<=[2]}
}
"""
_WINDOWED = """
HloModule m
%cond (c: (s32[8,128], s32[256,32], s32[8,32], u32[])) -> pred[] {
  %c = (s32[8,128]{1,0}, s32[256,32]{1,0}, s32[8,32]{1,0}, u32[]) parameter(0)
  %count = u32[] get-tuple-element(%c), index=3
  %most = u32[] constant(1)
  ROOT %less = pred[] compare(%count, %most), direction=LT
}
%round (p: (s32[8,128], s32[256,32], s32[8,32], u32[])) -> \
(s32[8,128], s32[256,32], s32[8,32], u32[]) {
  %p = (s32[8,128]{1,0}, s32[256,32]{1,0}, s32[8,32]{1,0}, u32[]) parameter(0)
  %share = s32[8,128]{1,0} get-tuple-element(%p), index=0
  %weights = s32[256,32]{1,0} get-tuple-element(%p), index=1
  %sum = s32[8,32]{1,0} get-tuple-element(%p), index=2
  %trip = u32[] get-tuple-element(%p), index=3
  %zero = u32[] constant(0)
  %here = s32[128,32]{1,0} dynamic-slice(%weights, %trip, %zero), dynamic_slice_sizes={128,32}
  %dot.1 = s32[8,32]{1,0} dot(%share, %here), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general"}
  %add.1 = s32[8,32]{1,0} add(%sum, %dot.1)
  %next = s32[8,128]{1,0} collective-permute(%share), channel_id=1, \
source_target_pairs={{0,1},{1,0}}
  %one = u32[] constant(1)
  %trip.1 = u32[] add(%trip, %one)
  %there = s32[128,32]{1,0} dynamic-slice(%weights, %trip.1, %zero), dynamic_slice_sizes={128,32}
  %dot.2 = s32[8,32]{1,0} dot(%next, %there), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general"}
  %add.2 = s32[8,32]{1,0} add(%add.1, %dot.2)
  ROOT %given = (s32[8,128]{1,0}, s32[256,32]{1,0}, s32[8,32]{1,0}, u32[]) tuple(%next, %weights, \
%add.2, %trip.1)
}
ENTRY %main_spmd (param: s32[8,128], param.1: s32[256,32]) -> s32[8,32] {
  %param = s32[8,128]{1,0} parameter(0), sharding={devices=[1,2]<=[2]}
  %param.1 = s32[256,32]{1,0} parameter(1), sharding={devices=[1,2]<=[2]}
  %none = s32[] constant(0)
  %start = s32[8,32]{1,0} broadcast(%none), dimensions={}
  %trips = u32[] constant(0)
  %tuple = (s32[8,128]{1,0}, s32[256,32]{1,0}, s32[8,32]{1,0}, u32[]) tuple(%param, %param.1, \
%start, %trips)
  %while = (s32[8,128]{1,0}, s32[256,32]{1,0}, s32[8,32]{1,0}, u32[]) while(%tuple), \
condition=%cond, body=%round
  %whole = s32[8,32]{1,0} get-tuple-element(%while), index=2
  ROOT %out.1 = s32[8,32]{1,0} negate(%whole)
}
"""


def test_a_windowed_product_is_split_into_the_products_of_its_loop(read: Read) -> None:
    """What the SPMD partitioner makes of an einsum whose operand it passes round."""
    change = step(read(_EINSUM), read(_WINDOWED), "`spmd`")
    assert not [row for row in change.added if row.opcodes[1] == "dot" and row.before is None]
    [split] = [row for row in change.changes if row.kind is Kind.SPLIT]
    assert {place.instruction for place in split.members} == {"dot.1", "dot.2"}
    assert split.kinds == (Kind.SPLIT, Kind.SUNK)
    assert "moved into the new loop `%while`" in " ".join((change.headline, *change.account))


_SUMMED = """
HloModule m, num_partitions=2
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}
ENTRY %main (a: f32[4]) -> (f32[4], f32[4]) {
  %a = f32[4] parameter(0)
  %b = f32[4] negate(%a)
  %one = f32[4] all-reduce(%a), replica_groups={{0,1}}, to_apply=%add
  %two = f32[4] all-reduce(%b), replica_groups={{0,1}}, to_apply=%add
  ROOT %out = (f32[4], f32[4]) tuple(%one, %two)
}
"""
_STARTED = _SUMMED.replace(
    "%one = f32[4] all-reduce(%a), replica_groups={{0,1}}, to_apply=%add",
    "%begin.1 = f32[4] all-reduce-start(%a), replica_groups={{0,1}}, to_apply=%add, "
    'backend_config={"collective_backend_config":{"is_sync":true}}\n'
    "  %one = f32[4] all-reduce-done(%begin.1)",
).replace(
    "%two = f32[4] all-reduce(%b), replica_groups={{0,1}}, to_apply=%add",
    "%begin.2 = f32[4] all-reduce-start(%b), replica_groups={{0,1}}, to_apply=%add, "
    'backend_config={"collective_backend_config":{"is_sync":false}}\n'
    "  %two = f32[4] all-reduce-done(%begin.2)",
)


def test_a_start_that_runs_synchronously_is_not_made_asynchronous(read: Read) -> None:
    headline = step(read(_SUMMED), read(_STARTED)).headline
    assert "made 1 all-reduce asynchronous" in headline
    assert "gave 1 all-reduce a start and a done that run synchronously" in headline
