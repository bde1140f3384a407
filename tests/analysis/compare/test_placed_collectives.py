"""Which collectives only one of two modules has."""

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.compare.collective_members import CombinedMember
from xlareport.analysis.compare.placed_collectives import (
    PlacedCollective,
    compare_collectives,
    list_collectives,
)
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.source.scopes import Phase

MODULE = """HloModule m, is_scheduled=true

ENTRY %main (a: bf16[8]) -> bf16[16] {
  %a = bf16[8]{0} parameter(0)
  %s = (bf16[8]{0}, bf16[16]{0}) all-gather-start(%a), replica_groups={{0,1}}, dimensions={0}, \
metadata={op_name="jit(f)/jvp(layer_3)/mlp/add"}
  ROOT %d = bf16[16]{0} all-gather-done(%s)
}
"""
GATHER = PlacedCollective("all-gather", Phase.FORWARD, "mlp/add", "bf16[16]", "g", 1.0)
REDUCE = replace(GATHER, kind="all-reduce", instruction="r", seconds=2.0)

HEADER = """HloModule m, is_scheduled=true, num_partitions=2

%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

%joining (a: f32[8], b: f32[4]) -> f32[12] {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  ROOT %j = f32[12]{0} concatenate(%a, %b), dimensions={0}
}

ENTRY %main (x: f32[8], y: f32[4]) -> f32[] {
  %x = f32[8]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %v = f32[8]{0} negate(%x), metadata={op_name="jit(f)/jvp()/up/dot_general"}
  %w = f32[4]{0} negate(%y), metadata={op_name="jit(f)/jvp()/down/dot_general"}
"""
GROUPS = "replica_groups={{0,1}}, use_global_device_ids=true, channel_id=1, to_apply=%add"
OWN = f"""  %r = f32[8]{{0}} all-reduce(%v), {GROUPS}, \
metadata={{op_name="jit(f)/jvp()/up/dot_general"}}
  %t = f32[4]{{0}} all-reduce(%w), {GROUPS}, \
metadata={{op_name="jit(f)/jvp()/down/dot_general"}}
  ROOT %e = f32[] constant(0)
}}
"""
JOINED = f"""  %k = f32[12]{{0}} fusion(%v, %w), kind=kLoop, calls=%joining
  %r = f32[12]{{0}} all-reduce(%k), {GROUPS}
  ROOT %e = f32[] constant(0)
}}
"""
TUPLE = f"""  %r = (f32[8]{{0}}, f32[4]{{0}}) all-reduce(%v, %w), {GROUPS}
  ROOT %e = f32[] constant(0)
}}
"""
ONLY_UP = f"""  %r = f32[8]{{0}} all-reduce(%v), {GROUPS}, \
metadata={{op_name="jit(f)/jvp()/up/dot_general"}}
  ROOT %e = f32[] constant(0)
}}
"""


def placed(lines: str) -> tuple[PlacedCollective, ...]:
    module = parse_module(HEADER + lines)
    return list_collectives(module, count_cost(module), {("main", "r"): 3.0})


@pytest.mark.parametrize("combined", [JOINED, TUPLE])
def test_collectives_that_the_other_dump_combines_are_in_both(combined: str) -> None:
    assert compare_collectives(placed(OWN), placed(combined)) == ()
    assert compare_collectives(placed(combined), placed(OWN)) == ()


@pytest.mark.parametrize("combined", [JOINED, TUPLE])
def test_of_a_combined_collective_the_member_that_is_gone_counts(combined: str) -> None:
    (change,) = compare_collectives(placed(combined), placed(ONLY_UP))
    assert (change.in_head, change.only_here) == (False, 1)
    gone = change.collective
    assert (gone.phase, gone.path, len(gone.members)) == (Phase.FORWARD, "down/dot_general", 2)
    assert (gone.sent_bytes, gone.seconds, gone.shape) == (16, 1.0, "f32[4]")


def test_combined_members_of_another_scope_are_the_same_by_size_and_executions() -> None:
    renamed = [
        replace(item, members=tuple(replace(member, path="") for member in item.members))
        for item in placed(JOINED)
    ]
    assert compare_collectives(renamed, placed(OWN)) == ()
    rarer = [replace(item, executions=2) for item in renamed]
    assert len(compare_collectives(rarer, placed(ONLY_UP))) == 2


def test_a_collective_of_a_recomputed_op_is_that_of_the_backward_pass() -> None:
    (backward,) = placed(ONLY_UP)
    member = replace(backward.members[0], phase=Phase.RECOMPUTED)
    recomputed = replace(backward, phase=Phase.RECOMPUTED, members=(member,))
    other = replace(recomputed, instruction="new")
    (change,) = compare_collectives([backward], [recomputed, other])
    assert (change.in_head, change.collective.instruction) == (True, "new")


def test_a_collective_has_its_scope_the_shape_of_its_result_and_its_time() -> None:
    module = parse_module(MODULE)
    seconds = {("main", "s"): 2.0, ("main", "d"): 0.5}
    (collective,) = list_collectives(module, count_cost(module), seconds)
    place = Phase.FORWARD, "layer_*/mlp/add"
    assert collective == PlacedCollective(
        *("all-gather", *place, "bf16[16]", "s", 2.5),
        sent_bytes=16,
        executions=1,
        members=(CombinedMember(*place, 8, 16, "bf16[8]"),),
    )


def test_new_and_gone_collectives_are_named_the_slowest_first() -> None:
    other = replace(GATHER, path="mlp/dot", instruction="g2")
    changes = compare_collectives([GATHER, REDUCE], [replace(GATHER, instruction="g9"), other])
    assert [(change.in_head, change.collective) for change in changes] == [
        (False, REDUCE),
        (True, other),
    ]


def test_a_collective_of_another_shape_is_not_a_new_collective() -> None:
    reshaped, new = (replace(GATHER, shape=f"bf16[{size}]") for size in (8, 32))
    (change,) = compare_collectives([reshaped], [GATHER, new])
    assert change.in_head
    assert compare_collectives([GATHER], [replace(GATHER, path="mlp/dot")]) == ()


def test_a_collective_without_op_name_is_of_the_op_and_line_that_it_works_for() -> None:
    text = MODULE.replace(
        "  %s =",
        '  %n = bf16[8]{0} negate(%a), metadata={op_name="jit(f)/jvp()/dot_general" '
        'source_file="m.py" source_line=40}\n  %s =',
    )
    bare = "all-gather-start(%n), replica_groups={{0,1}}, dimensions={0}\n  ROOT %d"
    text = text.partition("all-gather-start(")[0] + bare + text.partition("ROOT %d")[2]
    module = parse_module(text)
    (collective,) = list_collectives(module, count_cost(module), {})
    (change,) = compare_collectives((), (collective,))
    for each in (collective, change.collective):
        assert (each.phase, each.path, each.line) == (Phase.FORWARD, "dot_general", "m.py:40")


def test_a_collective_that_combines_little_with_an_op_is_of_that_op() -> None:
    lines = TUPLE.replace("f32[4]", "f32[]").replace("(%v, %w)", "(%v, %l)")
    header = HEADER.replace(
        "  %w = f32[4]{0} negate(%y)",
        "  %l = f32[] constant(1), "
        'metadata={op_name="jit(f)/jvp()/loss"}'
        "\n  %w = f32[4]{0} negate(%y)",
    )
    module = parse_module(header + lines)
    (loss,) = list_collectives(module, count_cost(module), {})
    assert loss.path == "up/dot_general"
