"""Equal values in the order in which they are listed."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: u32[], b: u32[]) -> (u32[], u32[]) {
  %a = u32[] parameter(0)
  %b = u32[] parameter(1)
  %two = u32[] constant(2)
  %less = u32[] negate(%two)
  %first = u32[] add(%a, %less)
  %unit = u32[] constant(1)
  %twice = u32[] add(%unit, %unit)
  %second = u32[] add(%b, %twice)
  %more = u32[] multiply(%second, %unit)
  ROOT %r = (u32[], u32[]) tuple(%first, %more)
}
"""
_FOLDED = """
ENTRY %main (a: u32[], b: u32[]) -> (u32[], u32[]) {
  %a = u32[] parameter(0)
  %b = u32[] parameter(1)
  %constant.1 = u32[] constant(4294967294)
  %first = u32[] add(%a, %constant.1)
  %unit = u32[] constant(1)
  %constant.2 = u32[] constant(2)
  %second = u32[] add(%b, %constant.2)
  %more = u32[] multiply(%second, %unit)
  ROOT %r = (u32[], u32[]) tuple(%first, %more)
}
"""


def test_a_constant_that_was_folded_is_not_an_equal_one_that_is_gone(read: Read) -> None:
    matching = match(read(_BEFORE), read(_FOLDED))
    assert matching.partner_after(Place("main", "two")) is None
    assert matching.partner_after(Place("main", "twice")) == Place("main", "constant.2")
    assert matching.partner_after(Place("main", "less")) == Place("main", "constant.1")


def test_a_parameter_for_another_operand_of_its_fusion_is_new(read: Read) -> None:
    text = """
%held (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%p)
}
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %t = f32[8]{0} tanh(%a)
  ROOT %f = f32[8]{0} fusion(%t), kind=kLoop, calls=%held
}
"""
    after = """
%held (p.1: f32[8], q: f32[8]) -> (f32[8], f32[8]) {
  %p.1 = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %t.clone = f32[8]{0} tanh(%q)
  %n = f32[8]{0} negate(%t.clone)
  %s = f32[8]{0} sine(%p.1)
  ROOT %both = (f32[8]{0}, f32[8]{0}) tuple(%n, %s)
}
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f = (f32[8]{0}, f32[8]{0}) fusion(%b, %a), kind=kLoop, calls=%held
  ROOT %e = f32[8]{0} get-tuple-element(%f), index=0
}
"""
    matching = match(read(text), read(after))
    assert matching.partner_after(Place("held", "p")) != Place("held", "p.1")


def _body(name: str, first: str, second: str, work: str) -> str:
    order = ("%sine", "%index.1"), ("%work", "%index.2")
    one, two = (", ".join(read if name[0] == "m" else read[::-1]) for read in order)
    return f"""
%{name} (p: f32[8]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  %id.{first} = u32[] partition-id()
  %index.{first} = s32[] convert(%id.{first})
  %id.{second} = u32[] partition-id()
  %index.{second} = s32[] convert(%id.{second})
  %sine = f32[8]{{0}} sine(%p)
  %work = f32[8]{{0}} {work}(%sine)
  %n.1 = f32[8]{{0}} custom-call({one}), custom_call_target="one"
  %n.2 = f32[8]{{0}} custom-call({two}), custom_call_target="two"
  ROOT %sum = f32[8]{{0}} add(%n.1, %n.2)
}}
"""


def _calling(name: str, first: str, second: str) -> str:
    """Return a module that calls two computations, whose names say nothing."""
    works = ("cosine", "tanh") if name == "manual" else ("exponential", "log")
    bodies = "".join(
        _body(f"{name}.{number}", first, second, work) for number, work in enumerate(works)
    )
    return f"""
HloModule step
{bodies}
ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %{name}.call = f32[8]{{0}} call(%a), to_apply=%{name}.0, metadata={{op_name="first"}}
  ROOT %{name}.last = f32[8]{{0}} call(%{name}.call), to_apply=%{name}.1, metadata={{op_name="b"}}
}}
"""


def test_equal_constants_of_what_is_called_alike_go_with_their_users(read: Read) -> None:
    matching = match(read(_calling("manual", "1", "2")), read(_calling("inlinable", "2", "1")))
    for number in range(2):
        partners = {
            name: matching.partner_after(Place(f"manual.{number}", name))
            for name in ("id.1", "id.2", "index.1", "index.2")
        }
        assert partners == {name: Place(f"inlinable.{number}", name) for name in partners}


def test_a_move_without_users_is_rewritten_too(read: Read) -> None:
    before = """
ENTRY %main (p: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %unread = f32[1]{0} broadcast(%p), dimensions={}
  ROOT %out = f32[] negate(%p)
}
"""
    old = "%unread = f32[1]{0} broadcast(%p), dimensions={}"
    after = before.replace(old, "%new = f32[1]{0} reshape(%p)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "unread")) == Place("main", "new")


def test_work_on_constants_that_was_cloned_goes_on_in_a_renamed_computation(read: Read) -> None:
    before = """
%body.1 (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %iota.1 = f32[8]{0} iota(), iota_dimension=0
  %power.1 = f32[8]{0} multiply(%iota.1, %iota.1), metadata={op_name="pow"}
  %cos.1 = f32[8]{0} cosine(%power.1), metadata={op_name="cos"}
  %sum.1 = f32[8]{0} add(%x, %cos.1), metadata={op_name="sum"}
  ROOT %out = (s32[], f32[8]{0}) tuple(%n, %sum.1)
}

%until.1 (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: (s32[], f32[8])) -> (s32[], f32[8]) {
  %a = (s32[], f32[8]{0}) parameter(0)
  ROOT %while = (s32[], f32[8]{0}) while(%a), condition=%until.1, body=%body.1
}
"""
    clones = """  %iota.2 = f32[8]{0} iota(), iota_dimension=0
  %power.2 = f32[8]{0} multiply(%iota.2, %iota.2), sharding={replicated}, metadata={op_name="pow"}
  %cos.2 = f32[8]{0} cosine(%power.2), sharding={replicated}, metadata={op_name="cos"}
  %iota.3 = f32[8]{0} iota(), iota_dimension=0
  %power.3 = f32[8]{0} multiply(%iota.3, %iota.3), sharding={replicated}, metadata={op_name="pow"}
  %cos.3 = f32[8]{0} cosine(%power.3), sharding={replicated}, metadata={op_name="cos"}
  %twice = f32[8]{0} subtract(%cos.2, %cos.3)
"""
    kept = [line for line in before.splitlines(keepends=True) if "iota.1" not in line]
    after = "".join(kept).replace("  %cos.1 =", f"{clones}  %cos.1 =")
    lines = after.splitlines(keepends=True)
    after = "".join(line for line in lines if "%cos.1 =" not in line)
    after = (
        after.replace("%cos.1)", "%twice)").replace(".1 (", ".7 (").replace("%body.1", "%body.7")
    )
    after = after.replace("%until.1", "%until.7")
    cosines = match(read(before), read(after)).pairing_before(Place("body.1", "cos.1"))
    assert cosines is not None
    assert {place.instruction for place in cosines.after} == {"cos.2", "cos.3"}


_IDLE = """
HloModule step
ENTRY %main (a: bf16[4]) -> bf16[4] {
  %a = bf16[4]{0} parameter(0)
  %c = bf16[] constant(3)
  %fill = bf16[4]{0} broadcast(%c), dimensions={}
  %wide.0 = f32[4]{0} convert(%fill), metadata={op_name="f/convert"}
  ROOT %sum = bf16[4]{0} add(%fill, %a)
}
"""
_IDLE_FUSION = """
HloModule step
%fused.1 () -> f32[4] {
  %c.1 = bf16[] constant(3)
  %fill.1 = bf16[4]{0} broadcast(%c.1), dimensions={}
  ROOT %wide.1 = f32[4]{0} convert(%fill.1), metadata={op_name="f/convert"}
}
%fused.2 (p: bf16[4]) -> bf16[4] {
  %p = bf16[4]{0} parameter(0)
  %c.2 = bf16[] constant(3)
  %fill.2 = bf16[4]{0} broadcast(%c.2), dimensions={}
  ROOT %sum.2 = bf16[4]{0} add(%fill.2, %p)
}
ENTRY %main (a: bf16[4]) -> bf16[4] {
  %a = bf16[4]{0} parameter(0)
  %fusion.1 = f32[4]{0} fusion(), kind=kLoop, calls=%fused.1
  ROOT %fusion.2 = bf16[4]{0} fusion(%a), kind=kLoop, calls=%fused.2
}
"""


def test_what_had_no_users_continues_in_the_fusion_that_has_none(read: Read) -> None:
    matching = match(read(_IDLE), read(_IDLE_FUSION))
    assert matching.partner_after(Place("main", "wide.0")) == Place("fused.1", "wide.1")
    made = [pairing for pairing in matching.pairings if pairing.relation is Relation.FUSED]
    assert {pairing.after[0].instruction for pairing in made} == {"fusion.1", "fusion.2"}


_INDEXED = """
ENTRY %main (a: f32[8], i: s32[8]) -> (f32[4], s32[8]) {
  %a = f32[8]{0} parameter(0)
  %i = s32[8]{0} parameter(1)
  %zero.1 = s32[] constant(0)
  %most = s32[8]{0} maximum(%i, %i)
  %first = s32[1]{0} slice(%most), slice={[0:1]}
  %at = s32[] reshape(%first)
  %part = f32[4]{0} dynamic-slice(%a, %at), dynamic_slice_sizes={4}
  %fill = s32[8]{0} broadcast(%zero.1), dimensions={}
  %sum = s32[8]{0} add(%i, %fill)
  ROOT %out = (f32[4]{0}, s32[8]{0}) tuple(%part, %sum)
}
"""


def test_a_constant_in_the_place_of_other_values_is_not_an_equal_one_that_is_gone(
    read: Read,
) -> None:
    lines = [
        line
        for line in _INDEXED.splitlines(keepends=True)
        if not any(f"%{name} = " in line for name in ("zero.1", "most", "first", "fill", "sum"))
    ]
    after = "".join(lines).replace("%sum)", "%i)").replace("%at)", "%zero.9)")
    after = after.replace("  %at = s32[] reshape(%first)", "  %zero.9 = s32[] constant(0)")
    matching = match(read(_INDEXED), read(after))
    assert matching.partner_after(Place("main", "zero.1")) is None
    assert matching.partner_after(Place("main", "at")) == Place("main", "zero.9")
