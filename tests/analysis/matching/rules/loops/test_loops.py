from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

CARRIED = """
%region_0.body (arg: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %arg = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %unused = f32[8]{0} get-tuple-element(%arg), index=1
  %x = f32[8]{0} get-tuple-element(%arg), index=2
  %sine.1 = f32[8]{0} sine(%x)
  ROOT %state = (s32[], f32[8]{0}, f32[8]{0}) tuple(%next, %unused, %sine.1)
}

%region_1.cond (arg.1: (s32[], f32[8], f32[8])) -> pred[] {
  %arg.1 = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%arg.1), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%i.1, %ten), direction=LT
}

ENTRY %main (a: f32[8], b: f32[8]) -> (s32[], f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}, f32[8]{0}) tuple(%zero, %a, %b)
  ROOT %while = (s32[], f32[8]{0}, f32[8]{0}) while(%start), condition=%region_1.cond, body=%region_0.body
}
"""  # noqa: E501 - lines as XLA writes them
SHRUNK = """
%region_0.7 (arg.7: (s32[], f32[8])) -> (s32[], f32[8]) {
  %arg.7 = (s32[], f32[8]{0}) parameter(0)
  %i.7 = s32[] get-tuple-element(%arg.7), index=0
  %one.7 = s32[] constant(1)
  %next.7 = s32[] add(%i.7, %one.7)
  %x.7 = f32[8]{0} get-tuple-element(%arg.7), index=1
  %sine.7 = f32[8]{0} sine(%x.7)
  ROOT %state.7 = (s32[], f32[8]{0}) tuple(%next.7, %sine.7)
}

%region_1.7 (arg.8: (s32[], f32[8])) -> pred[] {
  %arg.8 = (s32[], f32[8]{0}) parameter(0)
  %i.8 = s32[] get-tuple-element(%arg.8), index=0
  %ten.8 = s32[] constant(10)
  ROOT %less.8 = pred[] compare(%i.8, %ten.8), direction=LT
}

ENTRY %main (a: f32[8], b: f32[8]) -> (s32[], f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %zero = s32[] constant(0)
  %start.7 = (s32[], f32[8]{0}) tuple(%zero, %b)
  %while.7 = (s32[], f32[8]{0}) while(%start.7), condition=%region_1.7, body=%region_0.7
  %count = s32[] get-tuple-element(%while.7), index=0
  %result = f32[8]{0} get-tuple-element(%while.7), index=1
  ROOT %tuple.7 = (s32[], f32[8]{0}, f32[8]{0}) tuple(%count, %a, %result)
}
"""


def test_a_loop_that_carries_less_is_the_same_loop(read: Read) -> None:
    matching = match(read(CARRIED), read(SHRUNK))
    assert matching.partner_after(Place("main", "while")) == Place("main", "while.7")
    body = Place("region_0.body", "sine.1")
    assert matching.partner_after(body) == Place("region_0.7", "sine.7")


def test_a_step_says_that_a_loop_carries_less(read: Read) -> None:
    change = step(read(CARRIED), read(SHRUNK), "simplify-while-loops")
    said = " ".join((change.headline, *change.account))
    assert "dropped 1 element of 1 loop" in change.headline
    assert "`%while` in `main` changed what it carries: " in said


def test_two_loops_are_told_apart_by_what_they_start_from(read: Read) -> None:
    pair = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %zero = s32[] constant(0)
  %start.1 = (s32[], f32[8]{{0}}, f32[8]{{0}}) tuple(%zero, %a, %a)
  %start.2 = (s32[], f32[8]{{0}}, f32[8]{{0}}) tuple(%zero, %b, %b)
  %{first} = (s32[], f32[8]{{0}}, f32[8]{{0}}) while(%start.1), condition=%region_1.cond, body=%region_0.body
  %{second} = (s32[], f32[8]{{0}}, f32[8]{{0}}) while(%start.2), condition=%region_1.cond, body=%region_0.body
  %x.1 = f32[8]{{0}} get-tuple-element(%{first}), index=2
  %x.2 = f32[8]{{0}} get-tuple-element(%{second}), index=2
  ROOT %sum = f32[8]{{0}} {opcode}(%x.1, %x.2)
}}
"""  # noqa: E501 - lines as XLA writes them
    regions = CARRIED[: CARRIED.index("ENTRY")]
    before = regions + pair.format(first="while.1", second="while.2", opcode="add")
    after = regions + pair.format(first="while.4", second="while.3", opcode="subtract")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "while.1")) == Place("main", "while.4")
    assert matching.partner_after(Place("main", "while.2")) == Place("main", "while.3")


def test_a_loop_whose_body_took_its_place_was_unrolled(read: Read) -> None:
    entry = """
ENTRY %main (a: f32[8], b: f32[8]) -> (s32[], f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %zero = s32[] constant(0)
  %one = s32[] constant(1)
  %next = s32[] add(%zero, %one)
  %sine.1 = f32[8]{0} sine(%b)
  ROOT %out = (s32[], f32[8]{0}, f32[8]{0}) tuple(%next, %a, %sine.1)
}
"""
    said = match(read(CARRIED), read(entry)).pairing_before(Place("main", "while"))
    assert said is not None
    assert (said.relation, said.grade) == (Relation.INLINED, Grade.MATCHED)
    assert said.reason == "into 3 instructions"
    assert {place.instruction for place in said.after} == {"one", "next", "sine.1"}


def test_a_scatter_that_became_a_loop_was_rewritten(read: Read) -> None:
    marked = ', metadata={op_name="jit(f)/scatter"}'
    scatter = f"""
%set (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  ROOT %y = f32[] parameter(1)
}}

ENTRY %main (a: f32[8], b: f32[8], i: s32[1]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %i = s32[1]{{0}} parameter(2)
  ROOT %scatter.1 = f32[8]{{0}} scatter(%a, %i, %b), to_apply=%set{marked}
}}
"""
    before_entry = CARRIED[: CARRIED.index("ENTRY")]
    loop = f"""{before_entry}
ENTRY %main (a: f32[8], b: f32[8], i: s32[1]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %i = s32[1]{{0}} parameter(2)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{{0}}, f32[8]{{0}}) tuple(%zero, %a, %b)
  %while = (s32[], f32[8]{{0}}, f32[8]{{0}}) while(%start), condition=%region_1.cond, body=%region_0.body{marked}
  ROOT %result = f32[8]{{0}} get-tuple-element(%while), index=1
}}
"""  # noqa: E501 - lines as XLA writes them
    said = match(read(scatter), read(loop)).pairing_before(Place("main", "scatter.1"))
    assert said is not None
    assert (said.relation, said.after) == (Relation.REWRITTEN, (Place("main", "while"),))


_SCATTER = """
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8], i: s32[1], b: f32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[1]{0} parameter(1)
  %b = f32[] parameter(2)
  %scatter.1 = f32[8]{0} scatter(%a, %i, %b), to_apply=%add, metadata={op_name="jit(f)/scatter"}
  %scatter.2 = f32[8]{0} scatter(%scatter.1, %i, %b), to_apply=%add, metadata={op_name="jit(f)/scatter"}
  %scatter.3 = f32[8]{0} scatter(%scatter.2, %i, %b), to_apply=%add, metadata={op_name="jit(f)/scatter"}
  ROOT %out = f32[8]{0} negate(%scatter.3)
}
"""  # noqa: E501 - lines as XLA writes them
_STATE = "(s32[], f32[8]{0}, s32[1]{0}, f32[])"
_SCATTERED_IN_LOOPS = f"""
%body (p: (s32[], f32[8], s32[1], f32[])) -> (s32[], f32[8], s32[1], f32[]) {{
  ROOT %p = {_STATE} parameter(0)
}}

%cond (q: (s32[], f32[8], s32[1], f32[])) -> pred[] {{
  %q = {_STATE} parameter(0)
  ROOT %yes = pred[] constant(true)
}}

ENTRY %main (a: f32[8], i: s32[1], b: f32[]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %i = s32[1]{{0}} parameter(1)
  %b = f32[] parameter(2)
  %zero = s32[] constant(0)
  %t.1 = {_STATE} tuple(%zero, %a, %i, %b)
  %while.7 = {_STATE} while(%t.1), condition=%cond, body=%body, metadata={{op_name="jit(f)/scatter"}}
  %g.1 = f32[8]{{0}} get-tuple-element(%while.7), index=1
  %t.2 = {_STATE} tuple(%zero, %g.1, %i, %b)
  %while.8 = {_STATE} while(%t.2), condition=%cond, body=%body, metadata={{op_name="jit(f)/scatter"}}
  %g.2 = f32[8]{{0}} get-tuple-element(%while.8), index=1
  %t.3 = {_STATE} tuple(%zero, %g.2, %i, %b)
  %while.9 = {_STATE} while(%t.3), condition=%cond, body=%body, metadata={{op_name="jit(f)/scatter"}}
  %g.3 = f32[8]{{0}} get-tuple-element(%while.9), index=1
  ROOT %out = f32[8]{{0}} negate(%g.3)
}}
"""  # noqa: E501 - lines as XLA writes them


def test_scatters_in_a_row_became_a_loop_each(read: Read) -> None:
    made = step(read(_SCATTER), read(_SCATTERED_IN_LOOPS), "`scatter_expander`")
    assert "rewrote 3 scatters as whiles" in made.headline
    matching = match(read(_SCATTER), read(_SCATTERED_IN_LOOPS))
    for number, now in (("1", "7"), ("2", "8"), ("3", "9")):
        place = matching.partner_after(Place("main", f"scatter.{number}"))
        assert place == Place("main", f"while.{now}")
