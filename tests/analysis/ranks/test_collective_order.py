"""Sequences of collectives of two ranks: where they first differ, and whether that matters."""

from msgspec.structs import replace

from xlareport.analysis.ranks.collective_order import (
    CollectiveStep,
    OrderDifference,
    collective_order,
    compare_order,
    run_apart,
)
from xlareport.hlo.text import TextReader

SUM = CollectiveStep("all-reduce", "f32[8]", ((0, 1), (2, 3)), "{{0,1},{2,3}}", "e", "sum", "")
GATHER = replace(SUM, opcode="all-gather", shape="f32[16]", name="gather")
TEXT = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

body {
  s = (f32[8]{0}) parameter(0)
  x = f32[8]{0} get-tuple-element(s), index=0
  inner = f32[8]{0} all-reduce(x), replica_groups={{0,1}}, to_apply=add
  ROOT t = (f32[8]{0}) tuple(inner)
}

condition {
  s = (f32[8]{0}) parameter(0)
  ROOT p = pred[] constant(false)
}

ENTRY e {
  x = f32[8]{0} parameter(0)
  start = (f32[8]{0}, f32[16]{0}) all-gather-start(x), replica_groups={}, dimensions={0}
  t = (f32[8]{0}) tuple(x)
  w = (f32[8]{0}) while(t), condition=condition, body=body
  ROOT done = f32[16]{0} all-gather-done(start)
}
"""


def test_collectives_come_in_order_and_those_of_a_body_once() -> None:
    module = TextReader().read(TEXT.encode(), "m.txt")
    assert module is not None
    gather, inner = collective_order(module)
    assert (gather.opcode, gather.name, gather.groups) == ("all-gather", "start", ((),))
    assert (inner.opcode, inner.computation, inner.groups) == ("all-reduce", "body", ((0, 1),))
    assert inner.words == "all-reduce f32[8] over {{0,1}}"


def test_the_first_difference_is_numbered_from_1_and_an_end_is_one() -> None:
    assert compare_order([SUM, GATHER], [SUM, GATHER]) is None
    assert compare_order([SUM, GATHER], [GATHER, SUM]) == OrderDifference(1, SUM, GATHER)
    assert compare_order([SUM, GATHER], [SUM]) == OrderDifference(2, GATHER, None)


def test_like_collectives_in_another_order_exchange_other_values() -> None:
    other = replace(SUM, name="other")
    difference = compare_order([SUM, other], [other, SUM])
    assert difference == OrderDifference(1, SUM, other, only_values=True)
    renamed = replace(SUM, name="renamed")
    assert compare_order([SUM, other], [renamed, other]) is None


def test_stages_without_a_common_device_are_not_compared() -> None:
    apart = replace(GATHER, groups=((4, 5),))
    assert run_apart([SUM], [apart])
    assert compare_order([SUM], [apart]) is None
    for groups in (((),), "[unread]", ((3, 4),)):
        assert not run_apart([SUM], [replace(apart, groups=groups)])
        assert compare_order([SUM], [replace(apart, groups=groups)]) is not None
