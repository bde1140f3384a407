"""Where instructions are after a step: in a loop, out of one, or elsewhere."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.destinations import destination, detail_of_copy
from xlareport.analysis.steps.details import LeftFusion
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_LOOP = """
HloModule m

%body (p: (s32[], s32[])) -> (s32[], s32[]) {
  %p = (s32[], s32[]) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %by = s32[] get-tuple-element(%p), index=1
  ROOT %out = (s32[], s32[]) tuple(%by, %n)
}

%condition (q: (s32[], s32[])) -> pred[] {
  %q = (s32[], s32[]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[]) -> (s32[], s32[]) {
  %a = s32[] parameter(0)
  %in = (s32[], s32[]) tuple(%a, %a)
  ROOT %while = (s32[], s32[]) while(%in), condition=%condition, body=%body
}
"""
_OUTSIDE, _INSIDE = Place("main", "x"), Place("body", "x")


@pytest.mark.parametrize(
    ("before", "after", "opcode", "kind"),
    [
        (_OUTSIDE, _INSIDE, "add", Kind.SUNK),
        (_INSIDE, _OUTSIDE, "add", Kind.HOISTED),
        (_INSIDE, _OUTSIDE, "tuple", Kind.MOVED),
        (_OUTSIDE, Place("condition", "x"), "parameter", Kind.MOVED),
    ],
)
def test_a_loop_is_entered_or_left(
    read: Read, before: Place, after: Place, opcode: str, kind: Kind
) -> None:
    matching = match(read(_LOOP), read(_LOOP))
    assert [*destination(matching, before, after, opcode)] == [kind]


def test_a_copy_in_a_loop_has_that_loop(read: Read) -> None:
    matching = match(read(_LOOP), read(_LOOP))
    known = detail_of_copy(matching, _OUTSIDE, _INSIDE, "constant", "")
    assert known == "in the loop %while"
    outside = detail_of_copy(matching, _INSIDE, _OUTSIDE, "constant", "")
    assert outside == "outside the loop %while"
    assert not detail_of_copy(matching, _OUTSIDE, _INSIDE, "parameter", "")


def test_a_copy_of_another_shape_is_told_with_it(read: Read) -> None:
    text = """
ENTRY %main (a: f32[], b: f32[8]) -> (f32[8], f32[4,2]) {
  %a = f32[] parameter(0)
  %b = f32[8]{0} parameter(1)
  %broadcast.1 = f32[8]{0} broadcast(%a), dimensions={}
  %add.1 = f32[8]{0} add(%broadcast.1, %b)
  %reshape.1 = f32[4,2]{1,0} reshape(%broadcast.1)
  ROOT %out = (f32[8]{0}, f32[4,2]{1,0}) tuple(%add.1, %reshape.1)
}
"""
    after = text.replace("%reshape.1", "%broadcast.2").replace(
        "reshape(%broadcast.1)", 'broadcast(%a), dimensions={}, metadata={op_name="jit(f)/fill"}'
    )
    told = step(read(text), read(after), "`algsimp`")
    assert (
        "`%broadcast.1` in `main` was cloned to `%broadcast.2` in the shape `f32[4,2]{1,0}`"
        in " ".join((told.headline, *told.account))
    )


_DEEP = """
HloModule m

%inner (a: f32[8]) -> f32[8] {
  %a = f32[8] parameter(0)
  ROOT %x = f32[8] sine(%a)
}

%body (p: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8], f32[8]) parameter(0)
  %n = f32[8] get-tuple-element(%p), index=0
  %fusion = f32[8] fusion(%n), kind=kLoop, calls=%inner
  ROOT %out = (f32[8], f32[8]) tuple(%fusion, %n)
}

%condition (q: (f32[8], f32[8])) -> pred[] {
  %q = (f32[8], f32[8]) parameter(0)
  ROOT %ends = pred[] constant(false)
}

ENTRY %main (b: f32[8]) -> (f32[8], f32[8]) {
  %b = f32[8] parameter(0)
  %in = (f32[8], f32[8]) tuple(%b, %b)
  ROOT %while = (f32[8], f32[8]) while(%in), condition=%condition, body=%body
}
"""


def test_what_leaves_a_fusion_in_a_loop_is_no_more_in_the_loop_than_before(read: Read) -> None:
    matching = match(read(_DEEP), read(_DEEP))
    inside = Place("inner", "x")
    assert destination(matching, inside, Place("body", "x"), "sine") == {
        Kind.MOVED: LeftFusion("fusion", stands=True)
    }
    assert destination(matching, inside, Place("main", "x"), "sine") == {
        Kind.HOISTED: "moved out of the loop %while"
    }


def test_a_loop_within_a_loop_is_entered(read: Read) -> None:
    loop = "ROOT %out = (s32[], s32[]) while(%in), condition=%condition, body=%body"
    outer = f"""
%outer (r: (s32[], s32[])) -> (s32[], s32[]) {{
  %r = (s32[], s32[]) parameter(0)
  %m = s32[] get-tuple-element(%r), index=0
  %in = (s32[], s32[]) tuple(%m, %m)
  {loop}
}}

ENTRY"""
    head, _, entry = _LOOP.partition("\nENTRY")
    nested = head + outer + entry.replace("body=%body", "body=%outer")
    matching = match(read(nested), read(nested))
    assert [*destination(matching, _OUTSIDE, _INSIDE, "add")] == [Kind.SUNK]


def test_what_was_called_in_a_loop_body_is_inlined_and_not_moved_into_the_loop(read: Read) -> None:
    text = """
%inner (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %t = f32[8]{0} tanh(%x)
}
%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %v = f32[8]{0} get-tuple-element(%p), index=1
  %w = f32[8]{0} call(%v), to_apply=%inner
  ROOT %r = (s32[], f32[8]) tuple(%i, %w)
}
%more (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  ROOT %l = pred[] compare(%j, %j), direction=LT
}
ENTRY %main (a: (s32[], f32[8])) -> (s32[], f32[8]) {
  %a = (s32[], f32[8]) parameter(0)
  ROOT %loop = (s32[], f32[8]) while(%a), condition=%more, body=%body
}
"""
    after = text[text.index("%body") :].replace("call(%v), to_apply=%inner", "tanh(%v)")
    changes = step(read(text), read(after)).changes
    details = [str(detail) for change in changes for detail in change.details]
    assert "inlined into %body" in details
    assert not any("moved into" in detail for detail in details)


_FUSED = """
HloModule m

%fused (q: f32[2,8]) -> bf16[16] {
  %q = f32[2,8]{1,0} parameter(0)
  %narrow = bf16[2,8]{1,0} convert(%q)
  ROOT %flat = bf16[16]{0} bitcast(%narrow)
}

ENTRY %main (a: f32[2,8]) -> bf16[16] {
  %a = f32[2,8]{1,0} parameter(0)
  ROOT %fusion = bf16[16]{0} fusion(%a), kind=kLoop, calls=%fused
}
"""
_LEFT = """
HloModule m

%fused (q: f32[16]) -> bf16[16] {
  %q = f32[16]{0} parameter(0)
  ROOT %narrow = bf16[16]{0} convert(%q)
}

ENTRY %main (a: f32[2,8]) -> bf16[16] {
  %a = f32[2,8]{1,0} parameter(0)
  %flat.1 = f32[16]{0} bitcast(%a)
  ROOT %fusion = bf16[16]{0} fusion(%flat.1), kind=kLoop, calls=%fused
}
"""


def test_what_passed_another_and_left_its_fusion_says_both(read: Read) -> None:
    result = step(read(_FUSED), read(_LEFT))
    moved = next(change for change in result.changes if change.kind is Kind.SWAPPED)
    assert (str(moved.reason), moved.details) == (
        "past %narrow",
        (LeftFusion("fusion", stands=True),),
    )
    clauses = " ".join(result.account)
    assert "was moved past `%narrow` (renamed to `%flat.1`), moved out of `%fusion`" in clauses


_NESTED = """
HloModule m

%inner (q: f32[2,8]) -> f32[16] {
  %q = f32[2,8]{1,0} parameter(0)
  ROOT %flat = f32[16]{0} bitcast(%q)
}

%outer (r: f32[2,8]) -> f32[16] {
  %r = f32[2,8]{1,0} parameter(0)
  %inside = f32[16]{0} fusion(%r), kind=kLoop, calls=%inner
  ROOT %neg = f32[16]{0} negate(%inside)
}

%body (p: (s32[], f32[2,8])) -> (s32[], f32[2,8]) {
  %p = (s32[], f32[2,8]{1,0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %x = f32[2,8]{1,0} get-tuple-element(%p), index=1
  %fusion = f32[16]{0} fusion(%x), kind=kLoop, calls=%outer
  %back = f32[2,8]{1,0} reshape(%fusion)
  ROOT %out = (s32[], f32[2,8]{1,0}) tuple(%n, %back)
}

%condition (q.1: (s32[], f32[2,8])) -> pred[] {
  %q.1 = (s32[], f32[2,8]{1,0}) parameter(0)
  %k = s32[] get-tuple-element(%q.1), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: (s32[], f32[2,8])) -> (s32[], f32[2,8]) {
  %a = (s32[], f32[2,8]{1,0}) parameter(0)
  ROOT %while = (s32[], f32[2,8]{1,0}) while(%a), condition=%condition, body=%body
}
"""


def test_what_left_nested_fusions_did_not_enter_the_loop_that_it_was_in(read: Read) -> None:
    inner = _NESTED[_NESTED.index("%inner (") : _NESTED.index("%outer (")]
    after = (
        _NESTED.replace(inner, "")
        .replace("(r: f32[2,8])", "(r: f32[16])")
        .replace("%r = f32[2,8]{1,0}", "%r = f32[16]{0}")
        .replace("  %inside = f32[16]{0} fusion(%r), kind=kLoop, calls=%inner\n", "")
        .replace("negate(%inside)", "negate(%r)")
        .replace("  %fusion =", "  %flat.1 = f32[16]{0} bitcast(%x)\n  %fusion =")
        .replace("fusion(%x)", "fusion(%flat.1)")
    )
    details = [
        detail for change in step(read(_NESTED), read(after)).changes for detail in change.details
    ]
    assert LeftFusion("fusion") in details
    assert not any("%while" in str(detail) for detail in details)


_NESTED_CALLS = """
HloModule m
%clip (c: f32[8]) -> f32[8] {
  %c = f32[8]{0} parameter(0)
  ROOT %least = f32[8]{0} abs(%c)
}

%layer (l: f32[8]) -> f32[8] {
  %l = f32[8]{0} parameter(0)
  %inner = f32[8]{0} call(%l), to_apply=%clip
  ROOT %sine = f32[8]{0} sine(%inner)
}

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %outer = f32[8]{0} call(%x), to_apply=%layer
  ROOT %t = (s32[], f32[8]{0}) tuple(%i, %outer)
}

%condition (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %most = s32[] constant(4)
  ROOT %less = pred[] compare(%j, %most), direction=LT
}

ENTRY %main (n: s32[], a: f32[8]) -> (s32[], f32[8]) {
  %n = s32[] parameter(0)
  %a = f32[8]{0} parameter(1)
  %start = (s32[], f32[8]{0}) tuple(%n, %a)
  ROOT %loop = (s32[], f32[8]{0}) while(%start), condition=%condition, body=%body
}
"""


def test_what_ran_in_the_loop_in_nested_calls_is_inlined_and_not_moved_into_it(
    read: Callable[[str], HloModule],
) -> None:
    clip, layer = _NESTED_CALLS.index("%clip ("), _NESTED_CALLS.index("%body (")
    after = (_NESTED_CALLS[:clip] + _NESTED_CALLS[layer:]).replace(
        "%outer = f32[8]{0} call(%x), to_apply=%layer",
        "%least.1 = f32[8]{0} abs(%x)\n  %sine.1 = f32[8]{0} sine(%least.1)",
    )
    change = step(read(_NESTED_CALLS), read(after.replace("%outer)", "%sine.1)")))
    details = {
        row.before.instruction: [str(detail) for detail in row.details]
        for row in change.modified
        if row.before
    }
    for name in ("least", "sine"):
        assert "inlined into %body" in details[name]


_BESIDE = """
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %tanh.1 = f32[8]{0} tanh(%p)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %add.1 = f32[8]{0} add(%a, %b)
  ROOT %fusion = f32[8]{0} fusion(%add.1), kind=kLoop, calls=%fused
}
"""
_WITHIN = """
%fused (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %add.2 = f32[8]{0} add(%p, %q)
  ROOT %tanh.1 = f32[8]{0} tanh(%add.2)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  ROOT %fusion = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%fused
}
"""


def test_what_goes_into_a_fusion_that_was_there_is_fused_into_it(read: Read) -> None:
    change = step(read(_BESIDE), read(_WITHIN), "`fusion`")
    account = " ".join((change.headline, *change.account))
    assert "fused 1 add into an existing fusion" in account
    assert "`%add.1` in `main` was fused into `%fusion`" in account
    back = step(read(_WITHIN), read(_BESIDE), "`fusion`")
    assert "`%add.2` in `fused` moved out of `%fusion`" in " ".join((back.headline, *back.account))


_PRODUCT = """
HloModule step
ENTRY %main (a: f32[8,4], b: f32[4,8]) -> f32[8,8] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[4,8]{1,0} parameter(1)
  %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="f/dot_general"}
  ROOT %out = f32[8,8]{1,0} negate(%dot.1)
}
"""
_WINDOWED = """
HloModule step
%windowed (p: (f32[8,4], f32[4,8], f32[4,8], s32[])) -> (f32[8,4], f32[4,8], f32[4,8], s32[]) {
  %p = (f32[8,4]{1,0}, f32[4,8]{1,0}, f32[4,8]{1,0}, s32[]) parameter(0)
  %x = f32[8,4]{1,0} get-tuple-element(%p), index=0
  %y = f32[4,8]{1,0} get-tuple-element(%p), index=1
  %n = s32[] get-tuple-element(%p), index=3
  %half = f32[4,4]{1,0} slice(%x), slice={[0:4], [0:4]}
  %dot.2 = f32[4,8]{1,0} dot(%half, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="f/dot_general"}
  ROOT %next = (f32[8,4]{1,0}, f32[4,8]{1,0}, f32[4,8]{1,0}, s32[]) tuple(%x, %y, %dot.2, %n)
}
%until (q: (f32[8,4], f32[4,8], f32[4,8], s32[])) -> pred[] {
  %q = (f32[8,4]{1,0}, f32[4,8]{1,0}, f32[4,8]{1,0}, s32[]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=3
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}
ENTRY %main (a: f32[8,4], b: f32[4,8]) -> f32[4,8] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[4,8]{1,0} parameter(1)
  %zero = s32[] constant(0)
  %start = (f32[8,4]{1,0}, f32[4,8]{1,0}, f32[4,8]{1,0}, s32[]) tuple(%a, %b, %b, %zero)
  %while.1 = (f32[8,4]{1,0}, f32[4,8]{1,0}, f32[4,8]{1,0}, s32[]) while(%start), \
condition=%until, body=%windowed
  %sum = f32[4,8]{1,0} get-tuple-element(%while.1), index=2
  ROOT %out = f32[4,8]{1,0} negate(%sum)
}
"""


def test_a_product_that_a_new_loop_computes_in_parts_moved_into_that_loop(read: Read) -> None:
    headline = step(read(_PRODUCT), read(_WINDOWED)).headline
    assert "moved 1 dot into loops" in headline


_TWO_FUSIONS = """
%fused.1 (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %copy.1 = f32[4] copy(%p)
  ROOT %sine.1 = f32[4] sine(%copy.1)
}

%fused.2 (q: f32[4]) -> f32[4] {
  %q = f32[4] parameter(0)
  %negate.2 = f32[4] negate(%q)
  %cosine.2 = f32[4] cosine(%negate.2)
  ROOT %exp.2 = f32[4] exponential(%cosine.2)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %fusion.1 = f32[4] fusion(%x), kind=kLoop, calls=%fused.1
  ROOT %fusion.2 = f32[4] fusion(%fusion.1), kind=kLoop, calls=%fused.2
}
"""
_UNFUSED = """
%fused.2 (q: f32[4]) -> f32[4] {
  %q = f32[4] parameter(0)
  %cosine.2 = f32[4] cosine(%q)
  ROOT %exp.2 = f32[4] exponential(%cosine.2)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %copy.3 = f32[4] copy(%x)
  %sine.3 = f32[4] sine(%copy.3)
  %negate.3 = f32[4] negate(%sine.3)
  ROOT %fusion.2 = f32[4] fusion(%negate.3), kind=kLoop, calls=%fused.2
}
"""


def test_what_left_a_fusion_that_stands_is_counted_apart_from_inlined_fusions(read: Read) -> None:
    result = step(read(_TWO_FUSIONS), read(_UNFUSED), "unfuser")
    assert "inlined 1 fusion into 2 instructions, moved 1 negate out of a fusion" in result.headline
    assert (
        "Moved 1 negate out of a fusion: `%negate.2` in `fused.2` moved out of `%fusion.2`."
        in result.account
    )
