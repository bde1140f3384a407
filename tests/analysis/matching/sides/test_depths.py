from collections.abc import Callable

from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

EMPTY = "HloModule chain\nENTRY %main.2 (y: f32[]) -> f32[] {\n  ROOT %y = f32[] parameter(0)\n}\n"
DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
CHAIN = f"""
HloModule chain
ENTRY %main.1 (x: f32[8,8], w: f32[8,8]) -> f32[8,8] {{
  %x = f32[8,8]{{1,0}} parameter(0)
  %w = f32[8,8]{{1,0}} parameter(1)
  %first = f32[8,8]{{1,0}} dot(%x, %w), {DOT}
  %second = f32[8,8]{{1,0}} dot(%first, %w), {DOT}
  %third = f32[8,8]{{1,0}} dot(%second, %w), {DOT}
  %both = (f32[8,8]{{1,0}}, f32[8,8]{{1,0}}) tuple(%first, %third)
  %barrier = (f32[8,8]{{1,0}}, f32[8,8]{{1,0}}) BARRIER(%both)
  %behind = f32[8,8]{{1,0}} get-tuple-element(%barrier), index=0
  %side = f32[8,8]{{1,0}} dot(%behind, %w), {DOT}
  %end = f32[8,8]{{1,0}} get-tuple-element(%barrier), index=1
  ROOT %sum = f32[8,8]{{1,0}} add(%side, %end)
}}
"""
MARK = 'custom-call(%first, %third), custom_call_target="xla.sdy.LocalToGlobalShape"'


def found(module: HloModule, empty: HloModule) -> dict[str, tuple[int, int]]:
    known = start(module, empty).before.depths
    return {node.instruction.name: depth for node, depth in known.items()}


def test_products_above_and_below_are_counted_on_the_longest_way(read: Read) -> None:
    known = found(read(CHAIN.replace("BARRIER", "opt-barrier")), read(EMPTY))
    assert known["first"] == (0, 2)
    assert known["second"] == (1, 1)
    assert known["third"] == (2, 0)


def test_an_element_behind_a_barrier_is_as_deep_as_what_was_put_into_it(read: Read) -> None:
    assert found(read(CHAIN.replace("BARRIER", "opt-barrier")), read(EMPTY))["side"] == (1, 0)


def test_so_is_an_element_of_a_call_that_only_marks(read: Read) -> None:
    marked = CHAIN.replace("BARRIER(%both)", MARK)
    assert found(read(marked), read(EMPTY))["side"] == (1, 0)


def test_an_element_of_any_other_call_is_as_deep_as_all_that_it_reads(read: Read) -> None:
    called = CHAIN.replace("BARRIER(%both)", MARK.replace("xla.sdy.LocalToGlobalShape", "solve"))
    assert found(read(called), read(EMPTY))["side"] == (3, 0)


LOOP = f"""
HloModule loop
%body (p: (s32[], f32[8,8])) -> (s32[], f32[8,8]) {{
  %p = (s32[], f32[8,8]{{1,0}}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %value = f32[8,8]{{1,0}} get-tuple-element(%p), index=1
  %sent = f32[8,8]{{1,0}} collective-permute(%value), source_target_pairs={{{{0,1}},{{1,0}}}}
  %inside = f32[8,8]{{1,0}} dot(%sent, %value), {DOT}
  ROOT %out = (s32[], f32[8,8]{{1,0}}) tuple(%next, %inside)
}}
%condition (c: (s32[], f32[8,8])) -> pred[] {{
  %c = (s32[], f32[8,8]{{1,0}}) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(9)
  ROOT %less = pred[] compare(%j, %most), direction=LT
}}
ENTRY %main.1 (x: f32[8,8], w: f32[8,8]) -> f32[8,8] {{
  %x = f32[8,8]{{1,0}} parameter(0)
  %w = f32[8,8]{{1,0}} parameter(1)
  %zero = s32[] constant(0)
  %first = f32[8,8]{{1,0}} dot(%x, %w), {DOT}
  %start = (s32[], f32[8,8]{{1,0}}) tuple(%zero, %first)
  %while = (s32[], f32[8,8]{{1,0}}) while(%start), condition=%condition, body=%body
  %end = f32[8,8]{{1,0}} get-tuple-element(%while), index=1
  ROOT %last = f32[8,8]{{1,0}} dot(%end, %w), {DOT}
}}
"""


def test_what_a_loop_runs_once_is_part_of_the_ways_through_it(read: Read) -> None:
    known = found(read(LOOP), read(EMPTY))
    assert known["first"] == (0, 2)
    assert known["inside"] == (1, 1)
    assert known["last"] == (2, 0)


def test_permutes_are_counted_apart_from_products(read: Read) -> None:
    side = start(read(LOOP), read(EMPTY)).before
    (permutes,) = side.further_depths.values()
    known = {node.instruction.name: depth for node, depth in permutes.items()}
    assert known["first"] == (0, 1)
    assert known["last"] == (1, 0)
