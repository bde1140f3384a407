from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules import frames
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

WHOLE = """
HloModule step
ENTRY %main.1 (rate: f32[], a: f32[64,64], b: f32[64,32]) -> (f32[64,64], f32[64,32]) {
  %rate = f32[] parameter(0)
  %a = f32[64,64]{1,0} parameter(1)
  %b = f32[64,32]{1,0} parameter(2)
  %wide = f32[64,64]{1,0} broadcast(%rate), dimensions={}
  %narrow = f32[64,32]{1,0} broadcast(%rate), dimensions={}
  %sub.1 = f32[64,64]{1,0} subtract(%a, %wide)
  %sub.2 = f32[64,32]{1,0} subtract(%b, %narrow)
  ROOT %out = (f32[64,64]{1,0}, f32[64,32]{1,0}) tuple(%sub.1, %sub.2)
}
"""
DIVIDED = """
HloModule step, num_partitions=2
ENTRY %main.1_spmd (param: f32[], param.1: f32[64,32], param.2: f32[64,16]) -> (f32[64,32], f32[64,16]) {
  %param = f32[] parameter(0)
  %param.1 = f32[64,32]{1,0} parameter(1)
  %param.2 = f32[64,16]{1,0} parameter(2)
  %broadcast = f32[64,32]{1,0} broadcast(%param), dimensions={}
  %broadcast.1 = f32[64,16]{1,0} broadcast(%param), dimensions={}
  %subtract = f32[64,32]{1,0} subtract(%param.1, %broadcast)
  %subtract.1 = f32[64,16]{1,0} subtract(%param.2, %broadcast.1)
  ROOT %tuple = (f32[64,32]{1,0}, f32[64,16]{1,0}) tuple(%subtract, %subtract.1)
}
"""  # noqa: E501 - as XLA prints it


def test_an_argument_keeps_its_number_though_another_has_its_shape_now(read: Read) -> None:
    matching = match(read(WHOLE), read(DIVIDED))
    for name, argument in (("a", "param.1"), ("b", "param.2")):
        assert matching.partner_after(Place("main.1", name)) == Place("main.1_spmd", argument)


def test_arguments_of_another_type_are_not_paired_by_number(read: Read) -> None:
    other = DIVIDED.replace("param.1: f32[64,32]", "param.1: s32[64,32]").replace(
        "%param.1 = f32[64,32]{1,0} parameter(1)", "%param.1 = s32[64,32]{1,0} parameter(1)"
    )
    matching = match(read(WHOLE), read(other))
    assert matching.partner_after(Place("main.1", "a")) != Place("main.1_spmd", "param.1")


def test_the_result_of_a_body_that_loses_an_element_is_the_same_tuple(read: Read) -> None:
    before = """
HloModule step
%body (p: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %p = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %count = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %rest = f32[8]{0} get-tuple-element(%p), index=2
  %more = s32[] add(%count, %count)
  %sine = f32[8]{0} sine(%x)
  ROOT %tuple.5 = (s32[], f32[8]{0}, f32[8]{0}) tuple(%more, %sine, %rest)
}
%condition (q: (s32[], f32[8], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %number = s32[] get-tuple-element(%q), index=0
  ROOT %less = pred[] compare(%number, %number), direction=LT
}
ENTRY %main (a: (s32[], f32[8], f32[8])) -> f32[8] {
  %a = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %while = (s32[], f32[8]{0}, f32[8]{0}) while(%a), condition=%condition, body=%body
  ROOT %out = f32[8]{0} get-tuple-element(%while), index=1
}
"""
    after = before.replace("(s32[], f32[8]{0}, f32[8]{0})", "(s32[], f32[8]{0})")
    after = after.replace("(s32[], f32[8], f32[8])", "(s32[], f32[8])").replace(", %rest)", ")")
    after = after.replace("  %rest = f32[8]{0} get-tuple-element(%p), index=2\n", "")
    after = after.replace("%tuple.5", "%tuple.9")
    matching = match(read(before), read(after))
    said = matching.pairing_before(Place("body", "tuple.5"))
    assert said is not None
    assert (said.after, said.relation) == ((Place("body", "tuple.9"),), Relation.SAME)


CALLING = """
%pair (x: f32[64,8]) -> (f32[64,8], f32[64,8]) {
  %x = f32[64,8]{1,0} parameter(0)
  %sine = f32[64,8]{1,0} sine(%x)
  %cosine = f32[64,8]{1,0} cosine(%x)
  ROOT %both = (f32[64,8]{1,0}, f32[64,8]{1,0}) tuple(%sine, %cosine)
}

ENTRY %main (a: f32[64,8]) -> f32[64,8] {
  %a = f32[64,8]{1,0} parameter(0)
  %call = (f32[64,8]{1,0}, f32[64,8]{1,0}) call(%a), to_apply=%pair, metadata={op_name="f"}
  %first = f32[64,8]{1,0} get-tuple-element(%call), index=0
  ROOT %out = f32[64,8]{1,0} negate(%first)
}
"""


def test_the_tuple_that_a_continued_call_returns_continues(read: Read) -> None:
    after = CALLING.replace("f32[64,8]", "f32[32,8]").replace("%", "%new_")
    matching = match(read(CALLING), read(after))
    assert matching.partner_after(Place("pair", "both")) == Place("new_pair", "new_both")


_FUSED = """
%fused (p.0: f32[], p.1: f32[4], p.2: f32[4], p.3: f32[4]) -> f32[4] {
  %p.0 = f32[] parameter(0)
  %p.1 = f32[4] parameter(1)
  %p.2 = f32[4] parameter(2)
  %p.3 = f32[4] parameter(3)
  %wide = f32[4] broadcast(%p.0), dimensions={}
  %less = f32[4] subtract(%p.2, %p.3)
  %far = f32[4] multiply(%less, %p.1)
  ROOT %result = f32[4] add(%far, %wide)
}

ENTRY %main (a: f32[4], b: f32[4], c: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  %b = f32[4] parameter(1)
  %c = f32[4] parameter(2)
  %one = f32[] constant(1)
  ROOT %fusion.1 = f32[4] fusion(%one, %a, %b, %c), kind=kLoop, calls=%fused
}
"""


def test_parameters_of_a_fusion_stay_where_it_took_in_an_operand_before_them(read: Read) -> None:
    lines = [line for line in _FUSED.splitlines() if "%one =" not in line]
    after = "\n".join(lines).replace("p.0: f32[], ", "").replace("fusion(%one, ", "fusion(")
    after = after.replace("%p.0 = f32[] parameter(0)", "%q = f32[] constant(1)")
    after = after.replace("%p.0", "%q")
    for number in (1, 2, 3):
        after = after.replace(
            f"%p.{number} = f32[4] parameter({number})",
            f"%r.{number} = f32[4] parameter({number - 1})",
        )
        after = after.replace(f"p.{number}:", f"r.{number}:").replace(
            f"%p.{number}", f"%r.{number}"
        )
    change = step(read(_FUSED), read(after))
    assert change.matching is not None
    for number in (1, 2, 3):
        place = change.matching.partner_after(Place("fused", f"p.{number}"))
        assert place == Place("fused", f"r.{number}")
    assert not any(
        known.kind is Kind.OPERANDS
        for known in change.changes
        if known.opcodes[0] in ("subtract", "multiply")
    )
    parameters = [known for known in change.modified if known.opcodes[0] == "parameter"]
    assert {known.kind for known in parameters} == {Kind.RENAMED}


def test_a_parameter_with_the_number_that_another_had_is_no_copy_of_it(read: Read) -> None:
    after = (
        _FUSED.replace("p.3: f32[4])", "p.3: f32[4], p.4: f32[4])")
        .replace("%p.3 = f32[4] parameter(3)", "%p.3 = f32[4] parameter(2)")
        .replace("%p.2 = f32[4] parameter(2)", "%p.2 = f32[4] parameter(4)")
        .replace("  %wide =", "  %q = f32[4] parameter(3)\n  %wide =")
        .replace("add(%far, %wide)", "add(%far, %both)")
        .replace("  ROOT %result", "  %both = f32[4] power(%wide, %q)\n  ROOT %result")
        .replace("c: f32[4]) ->", "c: f32[4], d: f32[4]) ->")
        .replace("  %one =", "  %d = f32[4] parameter(3)\n  %one =")
        .replace("fusion(%one, %a, %b, %c)", "fusion(%one, %a, %c, %d, %b)")
    )
    matching = match(read(_FUSED), read(after))
    for name in ("p.2", "p.3"):
        pairing = matching.pairing_before(Place("fused", name))
        assert pairing is not None
        assert pairing.after == (Place("fused", name),)
    assert Place("fused", "q") in matching.added


_FUSION_ALONE = """
%fused.N (p: f32[4,8], n: s32[]) -> f32[8] {
  %p = f32[4,8]{1,0} parameter(0)
  %n = s32[] parameter(1)
  %zero = s32[] constant(0)
  %row = f32[1,8]{1,0} dynamic-slice(%p, %n, %zero), dynamic_slice_sizes={1,8}
  ROOT %flat = f32[8]{0} bitcast(%row)
}

ENTRY %main (a: f32[4,8], i: s32[]) -> f32[8] {
  %a = f32[4,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %fusion.N = f32[8]{0} fusion(%a, %i), kind=kLoop, calls=%fused.N
  ROOT %out = f32[8]{0} WORK(%fusion.N)
}
"""


@pytest.mark.parametrize("lines", [("row", "flat"), ("flat",)])
def test_a_fusion_that_is_left_is_the_same_where_all_its_lines_are(
    read: Read, lines: tuple[str, ...]
) -> None:
    before = _FUSION_ALONE.replace(".N", ".1").replace("WORK", "sine")
    after = _FUSION_ALONE.replace(".N", ".2").replace("WORK", "cosine")
    search = start(read(before), read(after))
    old = {node.instruction.name: node for node in search.before.nodes}
    new = {node.instruction.name: node for node in search.after.nodes}
    for name in lines:
        search.link(old[name], new[name], Grade.MATCHED, "")
    frames.holders(search)
    known = old["row"].frame.caller, new["row"].frame.caller
    assert known[0] is not None
    assert known[0].partner is (known[1] if len(lines) > 1 else None)


_EQUAL = """
%bodyMARK (p: TYPES) -> TYPES {
  %p = TYPES parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %v = f32[8]{0} get-tuple-element(%p), index=2
  %w = f32[8]{0} get-tuple-element(%p), index=3
  %u = f32[8]{0} get-tuple-element(%p), index=4
  %more = s32[] add(%n, %n)
  %sine = f32[8]{0} sine(%v)
  %cosine = f32[8]{0} cosine(%w)
  %tangent = f32[8]{0} tan(%u)
  %both = f32[8]{0} add(%sine, %cosine)
  %y = f32[8]{0} multiply(%both, %tangent)
  ROOT %t = TYPES tuple(%more, %y, %v, %w, %u)
}

%condMARK (q: TYPES) -> pred[] {
  %q = TYPES parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: f32[8], i: s32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %startMARK = TYPES tuple(%i, %a, %a, %a, %a)
  %loopMARK = TYPES while(%startMARK), condition=%condMARK, body=%bodyMARK
  ROOT %out = f32[8]{0} get-tuple-element(%loopMARK), index=1
}
"""


def test_the_elements_of_a_loop_that_were_equal_are_read_as_the_remaining_one(read: Read) -> None:
    before = _EQUAL.replace("MARK", "")
    before = before.replace("TYPES", "(s32[], f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0})")
    after = _EQUAL.replace("MARK", ".1").replace("TYPES", "(s32[], f32[8]{0}, f32[8]{0})")
    for number in (3, 4):
        after = after.replace(f"index={number}\n", "index=2\n")
    after = after.replace("%v, %w, %u)\n", "%v)\n").replace("%a, %a, %a, %a)", "%a, %a)")
    for name in ("v", "w", "u"):
        after = after.replace(f"%{name} ", f"%element.{name} ").replace(
            f"%{name})", f"%element.{name})"
        )
    matching = match(read(before), read(after))
    for name in ("v", "w", "u"):
        assert matching.partner_after(Place("body", name)) == Place("body.1", f"element.{name}")


_MANUAL = """
%body (p: f32[8], q: f32[4], r: f32[8], s: f32[4]) -> (f32[8], f32[4], f32[8], f32[4]) {
  %p = f32[8]{0} parameter(0), metadata={op_name="shard_map"}
  %q = f32[4]{0} parameter(1), metadata={op_name="shard_map"}
  %r = f32[8]{0} parameter(2), metadata={op_name="shard_map"}
  %s = f32[4]{0} parameter(3), metadata={op_name="shard_map"}
  %sine.1 = f32[8]{0} sine(%p)
  %sine.2 = f32[4]{0} sine(%q)
  %sine.3 = f32[8]{0} sine(%r)
  %sine.4 = f32[4]{0} sine(%s)
  ROOT %tuple.1 = (f32[8], f32[4], f32[8], f32[4]) tuple(%sine.1, %sine.2, %sine.3, %sine.4),
    metadata={op_name="out"}
}

ENTRY %main (a: f32[8], b: f32[4], c: f32[8], d: f32[4]) -> (f32[8], f32[4], f32[8], f32[4]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %c = f32[8]{0} parameter(2)
  %d = f32[4]{0} parameter(3)
  ROOT %call.1 = (f32[8], f32[4], f32[8], f32[4]) call(%a, %b, %c, %d), to_apply=%body
}
"""


def test_the_parameters_of_a_call_keep_their_numbers_in_any_order_of_lines(read: Read) -> None:
    before = _MANUAL.replace("),\n    metadata", "), metadata")
    lines = [line for line in before.splitlines() if "shard_map" in line]
    turned = before
    for line in lines:
        turned = turned.replace(f"{line}\n", "")
    head = turned.splitlines()[1]
    listed = "\n".join([lines[2], lines[3], lines[0], lines[1]])
    turned = turned.replace(f"{head}\n", f"{head}\n{listed}\n").replace("sine", "cosine")
    for name in "pqrs":
        turned = turned.replace(f"%{name} ", f"%{name}.0 ").replace(f"(%{name})", f"(%{name}.0)")
    for name in "abcd":
        turned = turned.replace(f"%{name},", f"%copy.{name},").replace(
            f"%{name})", f"%copy.{name})"
        )
        line = next(line for line in turned.splitlines() if f"%{name} = " in line)
        shape = line.split()[2]
        turned = turned.replace(line, f"{line}\n  %copy.{name} = {shape} sine(%{name})")
    matching = match(read(before), read(turned.replace("%body", "%inner")))
    for name in "pqrs":
        known = matching.pairing_before(Place("body", name))
        assert known is not None
        assert known.after == (Place("inner", f"{name}.0"),)
        assert known.grade is Grade.EXACT


_RESULT = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %tanh = f32[8]{0} tanh(%b)
  %copy.1 = f32[8]{0} copy(%tanh)
  ROOT %tuple.1 = (f32[8]{0}, f32[8]{0}) tuple(%a, %copy.1)
}
"""
_TAKEN = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %tanh = f32[8]{0} tanh(%b)
  %tuple.1 = (f32[8]{0}, f32[8]{0}) tuple(%a, %tanh)
  %get-tuple-element.1 = f32[8]{0} get-tuple-element(%tuple.1), index=0
  %get-tuple-element.2 = f32[8]{0} get-tuple-element(%tuple.1), index=INDEX
  %copy.2 = f32[8]{0} copy(%get-tuple-element.2)
  ROOT %tuple.2 = (f32[8]{0}, f32[8]{0}) tuple(%get-tuple-element.1, %copy.2)
}
"""


def test_a_result_of_which_a_new_one_takes_all_elements_stays(read: Read) -> None:
    matching = match(read(_RESULT), read(_TAKEN.replace("INDEX", "1")))
    was = Place("main", "tuple.1")
    assert matching.partner_after(was) == was
    assert matching.partner_after(Place("main", "copy.1")) == Place("main", "copy.2")
    added = matching.pairing_after(Place("main", "tuple.2"))
    assert added is not None
    assert not added.before
    other = match(read(_RESULT), read(_TAKEN.replace("INDEX", "0")))
    known = other.pairing_before(was)
    assert known is not None
    assert "takes its elements" not in str(known.reason)


def test_a_parameter_that_was_partitioned_goes_on_by_its_number(read: Read) -> None:
    whole = """
%body (p: f32[8,4], q: f32[8,4]) -> f32[] {
  %p = f32[8,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %q = f32[8,4]{1,0} parameter(1), sharding={devices=[2,1]<=[2]}
  %pair = (f32[8,4]{1,0}, f32[8,4]{1,0}) tuple(%p, %q)
  ROOT %r = f32[] custom-call(%pair), custom_call_target="f"
}

ENTRY %main (a: f32[8,4], b: f32[8,4]) -> f32[] {
  %a = f32[8,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %b = f32[8,4]{1,0} parameter(1), sharding={devices=[2,1]<=[2]}
  ROOT %call = f32[] call(%a, %b), to_apply=%body
}
"""
    share = (
        whole.replace("[8,4]", "[4,4]").replace("%main", "%main_spmd").replace("%body", "%b_spmd")
    )
    share = share.replace("%p", "%s").replace("%q", "%t").replace('"f"', '"g"')
    matching = match(read(whole), read(share))
    for old, new in (("p", "s"), ("q", "t")):
        assert matching.partner_after(Place("body", old)) == Place("b_spmd", new)


_COMPARED = """
HloModule m

%cond (n: s32[]) -> pred[] {
  %n = s32[] parameter(0)
  %five = s32[] constant(5)
  ROOT %lt = pred[] compare(%n, %five), direction=LT
}

%body (i: s32[]) -> s32[] {
  %i = s32[] parameter(0)
  ROOT %next = s32[] negate(%i)
}

ENTRY %main (a: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  ROOT %w = s32[] while(%a), condition=%cond, body=%body
}
"""
_WRAPPED = """
HloModule m

%wrapped (p: s32[], q: s32[]) -> pred[] {
  %p = s32[] parameter(0)
  %q = s32[] parameter(1)
  ROOT %lt.1 = pred[] compare(%p, %q), direction=LT
}

%cond.1 (n: s32[]) -> pred[] {
  %n.1 = s32[] parameter(0)
  %five.1 = s32[] constant(5)
  ROOT %fusion = pred[] fusion(%n.1, %five.1), kind=kLoop, calls=%wrapped
}

%body (i: s32[]) -> s32[] {
  %i = s32[] parameter(0)
  ROOT %next = s32[] negate(%i)
}

ENTRY %main (a: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  ROOT %w = s32[] while(%a), condition=%cond.1, body=%body
}
"""


def test_a_result_that_a_fusion_took_in_is_no_fusion(read: Read) -> None:
    for before, after, pair in (
        (_COMPARED, _WRAPPED, ("cond", "cond.1")),
        (_WRAPPED, _COMPARED, ("cond.1", "cond")),
    ):
        search = start(read(before), read(after))
        search.computations.pair(*pair)
        frames.results(search)
        opcodes = {
            (link.before.instruction.opcode, link.after.instruction.opcode) for link in search.links
        }
        assert opcodes == {("compare", "compare"), ("while", "while")}


_SELECTED = """
%ge (x: f32[], y: f32[]) -> pred[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %more = pred[] compare(%x, %y), direction=GE
}

%add (v: f32[], w: f32[]) -> f32[] {
  %v = f32[] parameter(0)
  %w = f32[] parameter(1)
  ROOT %sum = f32[] add(%v, %w)
}

ENTRY %main (a: f32[8,8], b: f32[4,4], zero: f32[]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[4,4]{1,0} parameter(1)
  %zero = f32[] parameter(2)
  ROOT %pool = f32[8,8]{1,0} select-and-scatter(%a, %b, %zero), window={size=2x2 stride=2x2}, \
select=%ge, scatter=%add
}
"""
_SELECTED_NARROW = """
%ge.1 (x.1: bf16[], y.1: bf16[]) -> pred[] {
  %x.1 = bf16[] parameter(0)
  %y.1 = bf16[] parameter(1)
  ROOT %more.1 = pred[] compare(%x.1, %y.1), direction=GE
}

%add.1 (v.1: bf16[], w.1: bf16[]) -> bf16[] {
  %v.1 = bf16[] parameter(0)
  %w.1 = bf16[] parameter(1)
  ROOT %sum.1 = bf16[] add(%v.1, %w.1)
}

ENTRY %main (a: f32[8,8], b: f32[4,4], zero: f32[]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[4,4]{1,0} parameter(1)
  %zero = f32[] parameter(2)
  %a.1 = bf16[8,8]{1,0} convert(%a)
  %b.1 = bf16[4,4]{1,0} convert(%b)
  %low = bf16[] convert(%zero)
  %pool.1 = bf16[8,8]{1,0} select-and-scatter(%a.1, %b.1, %low), window={size=2x2 stride=2x2}, \
select=%ge.1, scatter=%add.1
  ROOT %out = f32[8,8]{1,0} convert(%pool.1)
}
"""


def test_computations_in_other_types_are_paired_line_by_line_as_their_callers(read: Read) -> None:
    matching = match(read(_SELECTED), read(_SELECTED_NARROW))
    for name in ("ge/x", "ge/y", "ge/more", "add/v", "add/w", "add/sum"):
        home, line = name.split("/")
        pairing = matching.pairing_before(Place(home, line))
        after = Place(f"{home}.1", f"{line}.1")
        if pairing is None:
            assert matching.partner_after(Place(home, line)) == after
            continue
        assert pairing.after == (after,)
        assert pairing.grade is not Grade.GUESSED


def test_a_computation_that_does_something_else_is_not_paired_line_by_line(read: Read) -> None:
    other = _SELECTED_NARROW.replace("add(%v.1, %w.1)", "maximum(%v.1, %w.1)")
    matching = match(read(_SELECTED), read(other))
    assert matching.partner_after(Place("add", "sum")) != Place("add.1", "sum.1")


def test_a_reducer_that_changed_in_place_goes_on_under_other_names(read: Read) -> None:
    other = _SELECTED_NARROW.replace("%add.1", "%add").replace("%ge.1", "%ge")
    other = other.replace("%sum.1", "%total")
    matching = match(read(_SELECTED), read(other))
    assert matching.partner_after(Place("add", "sum")) == Place("add", "total")


_ELEMENT_TAKEN = """
HloModule step
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %one = f32[8]{0} sine(%a)
  %out = (f32[8]{0}) tuple(%one)
  ROOT %result = f32[8]{0} get-tuple-element(%out), index=0
}
"""
_FUSED_RESULT = """
HloModule step
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %two = f32[8]{0} sine(%p)
}
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %fusion = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused
}
"""


def test_a_fusion_does_not_replace_what_only_took_an_element(read: Read) -> None:
    change = step(read(_ELEMENT_TAKEN), read(_FUSED_RESULT))
    words = " ".join((change.headline, *change.account))
    assert "with a fusion" not in words
    matching = match(read(_ELEMENT_TAKEN), read(_FUSED_RESULT))
    assert matching.partner_after(Place("main", "result")) is None
    assert matching.partner_after(Place("main", "one")) == Place("fused", "two")
