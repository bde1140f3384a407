"""Functions on nodes: what they are, what they read, and how that is said."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search import nodes
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides import facts
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

TEXT = """
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %inner = f32[8]{0} exponential(%p), metadata={op_name="jit(f)/exp"}
}

%callee (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %deep = f32[8]{0} tanh(%q), metadata={op_name="jit(g)/tanh"}
}

ENTRY %main (a: f32[8], b: f32[4,2]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[4,2]{1,0} parameter(1)
  %two = f32[] constant(2)
  %wide = f32[8]{0} broadcast(%two), dimensions={}
  %sum = f32[8]{0} add(%a, %wide), metadata={op_name="jit(f)/add"}
  %turned = f32[2,4]{1,0} transpose(%b), dimensions={1,0}
  %copy.1 = f32[8]{0} copy(%sum)
  %fusion = f32[8]{0} fusion(%copy.1), kind=kLoop, calls=%fused
  %call = f32[8]{0} call(%fusion), to_apply=%callee, metadata={op_name="jit(f)/pjit"}
  %shard = f32[8]{0} custom-call(%call), custom_call_target="SPMDFullToShardShape", \
sharding={replicated}
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%shard, %LAST)
}
"""


@pytest.fixture
def search(read: Read) -> Search:
    before, after = (read(TEXT.replace("LAST", last)) for last in ("sum", "wide"))
    search = start(before, after, same_program=False)  # of two programs no line is kept
    search.evaluate()
    return search


def node(side: Side, name: str) -> Node:
    return next(one_node for one_node in side.nodes if one_node.instruction.name == name)


def test_a_node_is_free_until_it_has_a_partner(search: Search) -> None:
    ours, theirs = node(search.before, "sum"), node(search.after, "sum")
    assert nodes.is_free(ours)
    search.link(ours, theirs, Grade.EXACT, "alike", anywhere=True)
    assert not nodes.is_free(ours)
    assert nodes.node_after(search, ours) is theirs
    assert nodes.node_before(search, theirs) is ours


def test_a_node_of_a_fusion_is_fused(search: Search) -> None:
    assert nodes.is_fused(node(search.before, "inner"))
    assert not nodes.is_fused(node(search.before, "sum"))
    assert nodes.place_of(node(search.before, "inner")) == Place("fused", "inner")


def test_nodes_are_compared_by_form_shape_type_and_count(search: Search) -> None:
    ours = {name: node(search.before, name) for name in ("sum", "wide", "turned", "b", "out")}
    other = node(search.after, "sum")
    assert nodes.same_form(search, ours["sum"], other)
    assert not nodes.same_form(search, ours["wide"], other)
    assert nodes.same_shape(search, ours["wide"], other)
    assert not nodes.same_shape(search, ours["turned"], other)
    assert nodes.same_count(ours["turned"], other)
    assert nodes.same_type(ours["turned"], other)
    assert nodes.are_tuples(ours["out"], node(search.after, "out"))
    assert facts.dimension_numbers(ours["turned"].instruction) == [1, 0]


def test_operands_are_paired_by_their_positions(search: Search) -> None:
    ours, theirs = node(search.before, "sum"), node(search.after, "sum")
    pairs = nodes.operand_pairs(search, ours, theirs)
    names = [(read.instruction.name, now.instruction.name) for read, now in pairs]
    assert names == [("a", "a"), ("wide", "wide")]
    assert nodes.read_at(search.before, ours, 1) is node(search.before, "wide")
    assert nodes.read_at(search.before, ours, 2) is None


def test_the_origin_in_a_call_begins_with_that_of_the_call(search: Search) -> None:
    assert nodes.origin(node(search.before, "sum")) == "jit(f)/add"
    assert nodes.origin(node(search.before, "inner")) == "jit(f)/exp"
    assert nodes.origin(node(search.before, "wide")) == ""
    deep = nodes.origin(node(search.before, "deep"))
    assert deep.startswith("jit(f)/pjit")
    assert deep.endswith("tanh")
    assert nodes.has_same_origin(node(search.before, "sum"), node(search.after, "sum"))
    assert not nodes.has_same_origin(node(search.before, "sum"), node(search.after, "inner"))


def test_calls_that_only_state_devices_are_known_by_their_target(search: Search) -> None:
    shard = node(search.before, "shard")
    assert nodes.target_of(shard) == "SPMDFullToShardShape"
    assert nodes.is_array_call(shard)
    assert nodes.sharding(shard) == "{replicated}"
    assert (
        nodes.target_of(node(search.before, "sum")),
        nodes.is_array_call(node(search.before, "sum")),
    ) == ("", False)


def test_a_use_is_an_operand_or_a_value_behind_a_call(search: Search) -> None:
    sum_, copy, inner = (node(search.before, name) for name in ("sum", "copy.1", "inner"))
    known = "operand 0 of %copy.1, whose counterpart is known"
    assert nodes.reason_of_use(copy, sum_, is_clone=False) == known
    cloned = nodes.reason_of_use(copy, sum_, is_clone=True)
    assert cloned == f"its clone by name, of the value that was {known}"
    behind = nodes.reason_of_use(inner, copy, is_clone=False)
    assert behind == "its value is used by %inner, whose counterpart is known"
    assert nodes.name_new_use(copy, sum_) == "%copy.1 reads it"
    assert nodes.name_new_use(inner, copy) == "%inner uses its value"
    assert nodes.name_read(sum_, copy, 0) == "%sum"
    assert nodes.name_read(copy, inner, 0) == "%p"
    assert nodes.reader_beside(copy, inner).instruction.name == "fusion"
    assert nodes.reader_beside(sum_, copy) is copy


def test_the_root_is_the_result_of_its_computation(search: Search) -> None:
    assert nodes.is_root(node(search.before, "out"))
    assert nodes.is_root(node(search.before, "inner"))
    assert not nodes.is_root(node(search.before, "sum"))


def test_a_name_is_claimed_by_an_open_node_of_its_opcode(read: Read) -> None:
    text = TEXT.replace("LAST", "sum")
    after = text.replace("add(%a, %wide)", "add(%wide, %wide)").replace(
        "= f32[2,4]{1,0} transpose(%b)", "= f32[2,4]{1,0} reshape(%b)"
    )
    search = start(read(text), read(after))
    names = nodes.Names(search.after)
    assert names.claim(node(search.before, "sum"))
    assert not names.claim(node(search.before, "turned"))
    assert not names.claim_copy(node(search.before, "sum"))
    theirs = node(search.after, "sum")
    search.link(node(search.before, "sum"), theirs, Grade.EXACT, "alike")
    assert not names.claim(node(search.before, "sum"))


def test_names_of_two_programs_are_not_related(search: Search) -> None:
    ours, theirs = node(search.before, "sum"), node(search.after, "sum")
    assert nodes.name_in_computation(ours) != nodes.name_in_computation(theirs)


def test_reductions_over_sizes_of_one_are_left_out_where_counts_differ(read: Read) -> None:
    body = """
%add (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}}

ENTRY %main (a: f32[8,1]) -> f32[] {{
  %a = f32[8,1]{{1,0}} parameter(0)
  %zero = f32[] constant({})
  %thin = f32[8]{{0}} reduce(%a, %zero), dimensions={{1}}, to_apply=%add
  ROOT %all = f32[] reduce(%thin, %zero), dimensions={{0}}, to_apply=%add
}}
"""
    search = start(read(body.format(0)), read(body.format(1)), same_program=False)
    ours = [node(search.before, name) for name in ("thin", "all")]
    theirs = [node(search.after, "all")]
    assert nodes.as_many(search, ours, theirs) == (ours[1:], theirs)
    assert nodes.as_many(search, ours, ours) == (ours, ours)


def test_paired_users_read_at_the_same_place(search: Search) -> None:
    ours, theirs = node(search.before, "sum"), node(search.after, "sum")
    search.link(ours, theirs, Grade.EXACT, "alike", anywhere=True)
    ((user, partner, place),) = nodes.paired_users(node(search.before, "wide"))
    assert (user, partner, place) == (ours, theirs, 1)
    assert nodes.same_fill(search.before, search.after, node(search.before, "wide")) is node(
        search.after, "wide"
    )
    assert nodes.same_fill(search.before, search.after, ours) is None
