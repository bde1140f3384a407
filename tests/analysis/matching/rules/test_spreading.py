from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.sources import behind_share
from xlareport.analysis.matching.rules.spreading import neighbors
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

BEFORE = """
HloModule step
ENTRY %main.1 (w: f32[8,8], v: f32[8,8], x: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %w = f32[8,8]{1,0} parameter(0)
  %v = f32[8,8]{1,0} parameter(1)
  %x = f32[8,8]{1,0} parameter(2)
  %first = f32[8,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %middle = f32[8,8]{1,0} tanh(%first)
  %second = f32[8,8]{1,0} dot(%middle, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %back = f32[8,8]{1,0} dot(%second, %w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT %out = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%second, %back)
}
"""
AFTER = """
HloModule step
ENTRY %main.1 (param: f32[8,8], param.1: f32[8,8], param.2: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %param = f32[8,8]{1,0} parameter(0)
  %param.1 = f32[8,8]{1,0} parameter(1)
  %param.2 = f32[8,8]{1,0} parameter(2)
  %transpose = f32[8,8]{1,0} transpose(%param.2), dimensions={1,0}
  %dot = f32[8,8]{1,0} dot(%transpose, %param), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  %tanh.1 = f32[8,8]{1,0} tanh(%dot)
  %dot.1 = f32[8,8]{1,0} dot(%tanh.1, %param.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  %dot.2 = f32[8,8]{1,0} dot(%dot.1, %param), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %tuple = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%dot.1, %dot.2)
}
"""


def test_a_dot_that_looks_like_another_is_not_it_where_other_dots_lie_above(read: Read) -> None:
    matching = match(read(BEFORE), read(AFTER))
    for name, other in (("first", "dot"), ("second", "dot.1"), ("back", "dot.2")):
        assert matching.partner_after(Place("main.1", name)) == Place("main.1", other)


def _module(lines: str) -> str:
    return (
        "HloModule step\nENTRY %main (a: f32[4,8], b: f32[8]) -> f32[8] {\n"
        "  %a = f32[4,8]{1,0} parameter(0)\n  %b = f32[8]{0} parameter(1)\n"
        f"{lines}}}\n"
    )


def test_a_normalized_copy_goes_on_as_the_transpose_behind_a_bitcast(read: Read) -> None:
    before = _module(
        "  %copy.1 = f32[4,8]{0,1} copy(%a)\n"
        '  ROOT %call = f32[8]{0} custom-call(%copy.1, %b), custom_call_target="f"\n'
    )
    after = _module(
        "  %transpose.3 = f32[8,4]{1,0} transpose(%a), dimensions={1,0}\n"
        "  %bitcast.4 = f32[4,8]{0,1} bitcast(%transpose.3)\n"
        '  ROOT %call = f32[8]{0} custom-call(%bitcast.4, %b), custom_call_target="f"\n'
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "copy.1")) == Place("main", "transpose.3")


def test_a_value_goes_on_behind_the_collective_that_sends_it(read: Read) -> None:
    before = _module(
        "  %sine.1 = f32[8]{0} sine(%b)\n  ROOT %out = f32[8]{0} multiply(%sine.1, %b)\n"
    )
    after = _module(
        "  %sine.5 = f32[8]{0} sine(%c)\n  %all-reduce.2 = f32[8]{0} all-reduce(%sine.5)\n"
        "  ROOT %out = f32[8]{0} multiply(%all-reduce.2, %b)\n"
    ).replace("  %sine.5", "  %c = f32[8]{0} negate(%b)\n  %sine.5")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "sine.1")) == Place("main", "sine.5")


def test_a_transpose_does_not_become_a_copy_to_another_memory(read: Read) -> None:
    """The dot gives the transposed result itself; the copy only brings it where it is read."""
    head = """
HloModule m
ENTRY %main (x: f32[8,4], y: f32[4,8]) -> f32[8,8] {
  %x = f32[8,4]{1,0} parameter(0)
  %y = f32[4,8]{1,0} parameter(1)
"""
    before = f"""{head}  %sort = f32[8,8]{{1,0}} custom-call(%x, %y), custom_call_target="mine"
  %transpose = f32[8,8]{{0,1}} transpose(%sort), dimensions={{1,0}}
  ROOT %tanh = f32[8,8]{{1,0}} tanh(%transpose)
}}
"""
    after = f"""{head}  %other = f32[8,8]{{1,0}} custom-call(%y, %x), custom_call_target="theirs"
  %start = (f32[8,8]{{1,0:S(1)}}, f32[8,8]{{1,0}}, u32[]) copy-start(%other)
  %done = f32[8,8]{{1,0:S(1)}} copy-done(%start)
  ROOT %tanh = f32[8,8]{{1,0}} tanh(%done)
}}
"""
    claim = match(read(before), read(after)).pairing_before(Place("main", "transpose"))
    assert claim is not None
    assert Place("main", "done") not in claim.after


POWER = """
HloModule m

ENTRY %main (a: f32[8], b: f32[8], c: f32[8,1]) -> f32[8,3] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %c = f32[8,1]{1,0} parameter(2)
  %one = f32[] constant(1)
  %broadcast.19 = f32[8]{0} broadcast(%one), dimensions={}
  %two = f32[] constant(2)
  %pow.6 = f32[8,1]{1,0} broadcast(%two), dimensions={}
  LINES
  ROOT %broadcast.20 = f32[8,3]{1,0} broadcast(%OPERAND), dimensions={0}
}
"""
DIVIDED = POWER.replace("OPERAND", "divide").replace(
    "LINES",
    """%in = f32[8,1]{1,0} reshape(%a), metadata={op_name="in"}
  %pow.7 = f32[8,1]{1,0} power(%in, %pow.6), metadata={op_name="pow"}
  %div.13 = f32[8]{0} reshape(%pow.7), metadata={op_name="div"}
  %divide = f32[8]{0} divide(%broadcast.19, %div.13), metadata={op_name="div"}""",
)
MOVED = POWER.replace("OPERAND", "reshape.32").replace(
    "LINES",
    """%in.2 = f32[8]{0} reshape(%pow.6), metadata={op_name="pow"}
  %pow.8 = f32[8]{0} power(%a, %in.2), metadata={op_name="pow"}
  %reshape.28 = f32[8,1]{1,0} reshape(%pow.8), metadata={op_name="pow"}
  %reshape.31 = f32[8,1]{1,0} reshape(%broadcast.19), metadata={op_name="div"}
  %divide.1 = f32[8,1]{1,0} divide(%reshape.31, %reshape.28), metadata={op_name="div"}
  %reshape.32 = f32[8]{0} reshape(%divide.1), metadata={op_name="div"}""",
)


def test_an_operation_is_not_what_is_read_instead_where_its_like_is_left(read: Read) -> None:
    matching = match(read(DIVIDED), read(MOVED))
    for old, new in (("pow.7", "pow.8"), ("divide", "divide.1")):
        assert matching.partner_after(Place("main", old)) == Place("main", new)


def test_what_is_folded_into_a_constant_is_the_move_and_not_its_constant(read: Read) -> None:
    before = """
HloModule m

ENTRY %main (a: s32[1]) -> s32[1] {
  %a = s32[1]{0} parameter(0)
  %sixteen = s32[] constant(16), metadata={op_name="f"}
  %reshape = s32[1]{0} reshape(%sixteen), metadata={op_name="f"}
  ROOT %out = s32[1]{0} multiply(%a, %reshape)
}
"""
    lines = [line for line in before.splitlines() if "%sixteen =" not in line]
    after = "\n".join(lines).replace("reshape(%sixteen)", "constant({16})")
    after = after.replace("%reshape", "%folded")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "reshape")) == Place("main", "folded")
    assert matching.partner_after(Place("main", "sixteen")) is None


def test_the_places_of_elements_in_another_order_say_nothing(read: Read) -> None:
    named = ', metadata={op_name="where"}'
    head = "HloModule m\n\nENTRY %main (a: f32[]) -> TYPES {\n  %a = f32[] parameter(0)\n"
    before = head.replace("TYPES", "(f32[4], pred[4])") + (
        "  %no = pred[] constant(false)\n  %x = f32[4]{0} broadcast(%a), dimensions={}\n"
        f"  %mask = pred[4]{{0}} broadcast(%no), dimensions={{}}{named}\n"
        "  ROOT %out = (f32[4]{0}, pred[4]{0}) tuple(%x, %mask)\n}\n"
    )
    after = head.replace("TYPES", "(pred[4], f32[4])") + (
        "  %b = f32[] negate(%a)\n  %yes = pred[] constant(true)\n"
        "  %other = pred[4]{0} broadcast(%yes), dimensions={}\n"
        f"  %fill = f32[4]{{0}} broadcast(%b), dimensions={{}}{named}\n"
        "  ROOT %out = (pred[4]{0}, f32[4]{0}) tuple(%other, %fill)\n}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "mask")) != Place("main", "fill")


_REPEATED = """
ENTRY %main (a: s32[4], b: s32[1,4,24]) -> (s32[4,24], pred[1,4,24]) {
  %a = s32[4]{0} parameter(0)
  %b = s32[1,4,24]{2,1,0} parameter(1)
  %shifted = s32[4]{0} negate(%a)
  %wide.1 = s32[4,24]{1,0} broadcast(%shifted), dimensions={0}
  %high = s32[4,24]{1,0} add(%wide.1, %wide.1)
  %wide.2 = s32[1,4,24]{2,1,0} broadcast(%shifted), dimensions={1}
  %equal = pred[1,4,24]{2,1,0} compare(%wide.2, %b), direction=EQ
  ROOT %out = (s32[4,24]{1,0}, pred[1,4,24]{2,1,0}) tuple(%high, %equal)
}
"""


def test_a_broadcast_that_lost_a_dimension_is_no_copy_of_another(read: Read) -> None:
    after = _REPEATED.replace(
        "  %wide.2 = s32[1,4,24]{2,1,0} broadcast(%shifted), dimensions={1}\n"
        "  %equal = pred[1,4,24]{2,1,0} compare(%wide.2, %b), direction=EQ\n",
        "  %wide.3 = s32[4,24]{1,0} broadcast(%shifted), dimensions={0}\n"
        "  %flat = s32[4,24]{1,0} reshape(%b)\n"
        "  %equal.1 = pred[4,24]{1,0} compare(%wide.3, %flat), direction=EQ\n"
        "  %back = pred[1,4,24]{2,1,0} reshape(%equal.1)\n",
    ).replace("tuple(%high, %equal)", "tuple(%high, %back)")
    matching = match(read(_REPEATED), read(after))
    assert matching.partner_after(Place("main", "wide.2")) == Place("main", "wide.3")
    assert not matching.removed


_COUNTED = """
%body (p: (s32[], s32[])) -> (s32[], s32[]) {
  %p = (s32[], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one), metadata={op_name="jit(f)/while/body/next"}
  %j = s32[] get-tuple-element(%p), index=1
  %other = s32[] add(%j, %one), metadata={op_name="jit(f)/while/body/other"}
  ROOT %t = (s32[], s32[]) tuple(%next, %other)
}
"""
_LOOP = """
%condition (q: (s32[], s32[])) -> pred[] {
  %q = (s32[], s32[]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[], b: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %start = (s32[], s32[]) tuple(%a, %b)
  %while.1 = (s32[], s32[]) while(%start), condition=%condition, body=%body
  ROOT %out = s32[] get-tuple-element(%while.1), index=1
}
"""
_COUNTED_ONCE = """
%body (p: (s32[], s32[])) -> (s32[], s32[]) {
  %p = (s32[], s32[]) parameter(0)
  %g.1 = s32[] get-tuple-element(%p), index=0
  %g.2 = s32[] get-tuple-element(%p), index=1
  %uno = s32[] constant(1)
  %times = s32[] multiply(%g.1, %uno)
  %sum = s32[] add(%g.2, %times)
  %inner = (s32[], s32[]) tuple(%g.1, %sum)
  %i.1 = s32[] get-tuple-element(%inner), index=0
  %one.1 = s32[] constant(1)
  %next.1 = s32[] add(%i.1, %one.1), metadata={op_name="jit(f)/while/body/next"}
  %j.1 = s32[] get-tuple-element(%inner), index=1
  %other.1 = s32[] add(%j.1, %one.1), metadata={op_name="jit(f)/while/body/other"}
  %t.1 = (s32[], s32[]) tuple(%next.1, %other.1)
  %n = s32[] get-tuple-element(%t.1), index=0
  ROOT %t.2 = (s32[], s32[]) tuple(%n, %g.2)
}
"""


def test_a_sole_user_without_the_framework_op_is_not_what_has_it(read: Read) -> None:
    matching = match(read(_COUNTED + _LOOP), read(_COUNTED_ONCE + _LOOP))
    assert matching.partner_after(Place("body", "other")) == Place("body", "other.1")
    assert Place("body", "sum") in matching.added
    assert matching.partner_after(Place("body", "t")) != Place("body", "inner")


def test_nor_where_the_body_was_made_anew(read: Read) -> None:
    """Its frame has no partner yet, where its parameter has."""
    anew = (_COUNTED_ONCE + _LOOP).replace("%body", "%wide.clone")
    matching = match(read(_COUNTED + _LOOP), read(anew))
    assert matching.partner_after(Place("body", "other")) == Place("wide.clone", "other.1")
    assert Place("wide.clone", "sum") in matching.added


_BUFFERS = """
%inner (r: (s32[], u32[8], u32[8])) -> (s32[], u32[8], u32[8]) {
  %r = (s32[], u32[8], u32[8]) parameter(0)
  %m = s32[] get-tuple-element(%r), index=0
  %u = u32[8] get-tuple-element(%r), index=1
  %uno = s32[] constant(1)
  %m.next = s32[] add(%m, %uno)
  %w = u32[8] get-tuple-element(%r), index=2
  %u.next = u32[8] negate(%u)
  ROOT %v = (s32[], u32[8], u32[8]) tuple(%m.next, %u.next, %w)
}

%ends.2 (s: (s32[], u32[8], u32[8])) -> pred[] {
  %s = (s32[], u32[8], u32[8]) parameter(0)
  %l = s32[] get-tuple-element(%s), index=0
  ROOT %less = pred[] compare(%l, %l), direction=LT
}

%body (p: (s32[], u32[8], u32[8])) -> (s32[], u32[8], u32[8]) {
  %p = (s32[], u32[8], u32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %first = u32[8] custom-call(), custom_call_target="AllocateBuffer"
  %second = u32[8] custom-call(), custom_call_target="AllocateBuffer"
  %begin = (s32[], u32[8], u32[8]) tuple(%one, %first, %second)
  %while.2 = (s32[], u32[8], u32[8]) while(%begin), condition=%ends.2, body=%inner
  %got = u32[8] get-tuple-element(%while.2), index=1
  ROOT %t = (s32[], u32[8], u32[8]) tuple(%next, %got, %got)
}

%condition (q: (s32[], u32[8], u32[8])) -> pred[] {
  %q = (s32[], u32[8], u32[8]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[], b: u32[8]) -> u32[8] {
  %a = s32[] parameter(0)
  %b = u32[8] parameter(1)
  %start = (s32[], u32[8], u32[8]) tuple(%a, %b, %b)
  %while.1 = (s32[], u32[8], u32[8]) while(%start), condition=%condition, body=%body
  ROOT %out = u32[8] get-tuple-element(%while.1), index=1
}
"""


def test_buffers_in_a_body_made_anew_are_no_duplicates(read: Read) -> None:
    anew = _BUFFERS.replace("u32[8])", "u32[8], s32[])").replace("b: u32[8], s32[])", "b: u32[8])")
    anew = anew.replace("%uno = s32[] constant(1)", "%uno = s32[] get-tuple-element(%r), index=3")
    anew = anew.replace("%one = s32[] constant(1)", "%one = s32[] get-tuple-element(%p), index=3")
    for given in ("%next, %got, %got", "%one, %first, %second", "%a, %b, %b"):
        anew = anew.replace(f"tuple({given})", f"tuple({given}, %one)")
    anew = anew.replace("%u.next, %w)", "%u.next, %w, %uno)")
    anew = anew.replace("  %start =", "  %one = s32[] constant(1)\n  %start =")
    for name in ("first", "second", "body", "inner", "begin"):
        for end in (" ", ",", ")", "\n"):
            anew = anew.replace(f"%{name}{end}", f"%{name}.7{end}")
    matching = match(read(_BUFFERS), read(anew))
    for name in ("first", "second"):
        said = matching.pairing_before(Place("body", name))
        assert said is not None
        assert said.relation is not Relation.MERGED
        assert said.after == (Place("body.7", f"{name}.7"),)


def test_a_reshape_of_a_broadcast_becomes_the_broadcast_of_its_framework_op(read: Read) -> None:
    before = """
ENTRY %main (a: f32[2,8], b: f32[16]) -> (f32[2,8], f32[16]) {
  %a = f32[2,8] parameter(0)
  %b = f32[16] parameter(1)
  %two = f32[] constant(2)
  %wide = f32[2,8] broadcast(%two), dimensions={}, metadata={op_name="jit(f)/mul"}
  %flat = f32[16] reshape(%wide), metadata={op_name="jit(f)/reshape"}
  %more = f32[2,8] multiply(%a, %wide)
  %less = f32[16] subtract(%b, %flat)
  ROOT %out = (f32[2,8], f32[16]) tuple(%more, %less)
}
"""
    after = before.replace(
        "%flat = f32[16] reshape(%wide)", "%n = f32[16] broadcast(%two), dimensions={}"
    )
    matching = match(read(before), read(after.replace("%flat", "%n")))
    pairing = matching.pairing_before(Place("main", "flat"))
    assert pairing is not None
    assert pairing.after == (Place("main", "n"),)
    other = after.replace("jit(f)/reshape", "jit(f)/fill").replace("%flat", "%n")
    pairing = match(read(before), read(other)).pairing_before(Place("main", "flat"))
    assert pairing is not None
    assert not pairing.after


def test_work_behind_a_move_that_stays_is_found(read: Read) -> None:
    before = """
ENTRY %main (a: f32[4,8]) -> (f32[4,8,2], f32[4,8,1]) {
  %a = f32[4,8] parameter(0)
  %narrow = f32[8,4] bitcast(%a)
  %wide = f32[4,8,1] bitcast(%narrow)
  %root.1 = f32[4,8,1] rsqrt(%wide), metadata={op_name="jit(f)/rsqrt"}
  %turned = f32[8,4,1] bitcast(%root.1)
  %kept = f32[4,8,1] bitcast(%turned)
  %back = f32[8,4,1] bitcast(%kept)
  %rows = f32[8,4] bitcast(%back)
  %flat = f32[4,8] bitcast(%rows)
  %all = f32[4,8,2] broadcast(%flat), dimensions={0,1}
  %half = f32[4,8,1] negate(%kept)
  ROOT %out = (f32[4,8,2], f32[4,8,1]) tuple(%all, %half)
}
"""
    after = before.replace("  %wide = f32[4,8,1] bitcast(%narrow)\n", "")
    for line in ("%back = f32[8,4,1] bitcast(%kept)", "%rows = f32[8,4] bitcast(%back)"):
        after = after.replace(f"  {line}\n", "")
    after = after.replace("  %flat = f32[4,8] bitcast(%rows)\n", "")
    after = after.replace("  %narrow = f32[8,4] bitcast(%a)\n", "")
    after = after.replace("  %turned = f32[8,4,1] bitcast(%root.1)\n", "")
    after = after.replace("%root.1 = f32[4,8,1] rsqrt(%wide)", "%root.2 = f32[4,8] rsqrt(%a)")
    after = after.replace("(%turned)", "(%root.2)").replace(
        "broadcast(%flat)", "broadcast(%root.2)"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "root.1")) == Place("main", "root.2")
    assert matching.partner_after(Place("main", "flat")) is None


def _stacked(size: int, other: int, tail: str) -> str:
    state = f"(f32[3,{size}], f32[3,{other}], s32[])"
    return f"""
HloModule step
%body{tail} (p{tail}: {state}) -> {state} {{
  %p{tail} = {state} parameter(0)
  %a{tail} = f32[3,{size}] get-tuple-element(%p{tail}), index=0
  %b{tail} = f32[3,{other}] get-tuple-element(%p{tail}), index=1
  %i{tail} = s32[] get-tuple-element(%p{tail}), index=2
  %z{tail} = s32[] constant(0)
  %s{tail} = f32[1,{size}] dynamic-slice(%a{tail}, %i{tail}, %z{tail}), dynamic_slice_sizes={{1,{size}}}, metadata={{op_name="slice"}}
  %t{tail} = f32[1,{other}] dynamic-slice(%b{tail}, %i{tail}, %z{tail}), dynamic_slice_sizes={{1,{other}}}, metadata={{op_name="slice"}}
  %u{tail} = f32[3,{size}] dynamic-update-slice(%a{tail}, %s{tail}, %z{tail}, %z{tail})
  %v{tail} = f32[3,{other}] dynamic-update-slice(%b{tail}, %t{tail}, %z{tail}, %z{tail})
  %k{tail} = s32[] add(%i{tail}, %z{tail})
  ROOT %r{tail} = {state} tuple(%u{tail}, %v{tail}, %k{tail})
}}
%more{tail} (q{tail}: {state}) -> pred[] {{
  %q{tail} = {state} parameter(0)
  %j{tail} = s32[] get-tuple-element(%q{tail}), index=2
  %n{tail} = s32[] constant(3)
  ROOT %l{tail} = pred[] compare(%j{tail}, %n{tail}), direction=LT
}}
ENTRY %main (x: f32[3,{size}], y: f32[3,{other}]) -> {state} {{
  %x = f32[3,{size}] parameter(0)
  %y = f32[3,{other}] parameter(1)
  %o = s32[] constant(0)
  %first{tail} = {state} tuple(%x, %y, %o)
  ROOT %w{tail} = {state} while(%first{tail}), condition=%more{tail}, body=%body{tail}
}}
"""  # noqa: E501, lines of HLO


def test_a_shard_with_the_shape_of_another_array_is_not_paired_with_that(read: Read) -> None:
    matching = match(read(_stacked(8, 4, "")), read(_stacked(4, 2, ".1")))
    for name in ("s", "t", "u", "v"):
        assert matching.partner_after(Place("body", name)) == Place("body.1", f"{name}.1")


def test_work_on_fewer_dimensions_of_size_one_goes_on(read: Read) -> None:
    before = _module(
        "  %r = f32[1,4,8]{2,1,0} reshape(%a)\n  %e = f32[1,4,8]{2,1,0} exponential(%r)\n"
        "  %m = f32[1,4,8]{2,1,0} multiply(%e, %e)\n  %z = f32[] constant(0)\n"
        "  ROOT %s = f32[8]{0} reduce(%m, %z), dimensions={0,1}, to_apply=%sum\n"
    )
    after = _module(
        "  %e.1 = f32[4,8]{1,0} exponential(%a)\n"
        "  %m.1 = f32[4,8]{1,0} multiply(%e.1, %e.1)\n  %z = f32[] constant(0)\n"
        "  ROOT %s = f32[8]{0} reduce(%m.1, %z), dimensions={0}, to_apply=%sum\n"
    )
    matching = match(read(before), read(after))
    for name in ("e", "m"):
        assert matching.partner_after(Place("main", name)) == Place("main", f"{name}.1")


def test_a_bitcast_is_the_transpose_that_a_removed_copy_read(read: Read) -> None:
    before = _module(
        "  %t = f32[8,4]{0,1} transpose(%a), dimensions={1,0}\n"
        "  %c = f32[8,4]{1,0} copy(%t)\n"
        "  %n = f32[8,4]{0,1} negate(%t)\n  %m = f32[8,4]{1,0} tanh(%c)\n"
        '  ROOT %s = f32[8]{0} custom-call(%m, %n), custom_call_target="both"\n'
    )
    after = _module(
        "  %b.1 = f32[8,4]{0,1} bitcast(%a)\n"
        "  %n = f32[8,4]{0,1} negate(%b.1)\n  %m = f32[8,4]{1,0} tanh(%b.1)\n"
        '  ROOT %s = f32[8]{0} custom-call(%m, %n), custom_call_target="both"\n'
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "t")) == Place("main", "b.1")
    assert matching.partner_after(Place("main", "c")) is None


def test_the_zero_of_a_select_is_not_what_the_mask_of_a_product_became(read: Read) -> None:
    before = """
ENTRY %main (p: pred[8], x: f32[8]) -> f32[8] {
  %p = pred[8]{0} parameter(0)
  %x = f32[8]{0} parameter(1)
  %mask = f32[8]{0} convert(%p)
  %kept = f32[8]{0} multiply(%mask, %x)
  ROOT %sine = f32[8]{0} sine(%kept)
}
"""
    after = before.replace(
        "%mask = f32[8]{0} convert(%p)",
        "%zero = f32[] constant(0)\n  %zeros = f32[8]{0} broadcast(%zero), dimensions={}",
    ).replace("%kept = f32[8]{0} multiply(%mask, %x)", "%s.1 = f32[8]{0} select(%p, %x, %zeros)")
    matching = match(read(before), read(after.replace("(%kept)", "(%s.1)")))
    assert matching.partner_after(Place("main", "mask")) is None
    assert matching.partner_after(Place("main", "kept")) == Place("main", "s.1")


def test_two_partitioned_reduces_of_a_value_keep_their_dimensions(read: Read) -> None:
    whole = """
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8,16]) -> (f32[16], f32[8]) {
  %a = f32[8,16]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}
  %zero = f32[] constant(0)
  %sine = f32[8,16]{1,0} sine(%a), sharding={devices=[2,2]<=[4]}
  %over.0 = f32[16]{0} reduce(%sine, %zero), dimensions={0}, to_apply=%sum, metadata={op_name="r"}
  %over.1 = f32[8]{0} reduce(%sine, %zero), dimensions={1}, to_apply=%sum, metadata={op_name="r"}
  ROOT %out = (f32[16]{0}, f32[8]{0}) tuple(%over.0, %over.1)
}
"""
    share = whole.replace("f32[8,16]", "f32[4,8]").replace("f32[8]", "f32[4]")
    share = share.replace("f32[16]", "f32[8]").replace("%main", "%main_spmd")
    share = share.replace("%over.0", "%reduce.5").replace("%over.1", "%reduce.6")
    share = share.replace(
        "%sine = f32[4,8]{1,0} sine(%a), sharding={devices=[2,2]<=[4]}",
        "%sine.9 = f32[4,8]{1,0} sine(%a)",
    ).replace("(%sine,", "(%sine.9,")
    matching = match(read(whole), read(share))
    for old, new in (("over.0", "reduce.5"), ("over.1", "reduce.6")):
        assert matching.partner_after(Place("main", old)) == Place("main_spmd", new)


def test_an_index_that_a_device_limits_to_its_share_goes_on(read: Read) -> None:
    whole = """
HloModule m
ENTRY %main (t: f32[64,4], i: s32[8]) -> f32[8,4] {
  %t = f32[64,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %i = s32[8]{0} parameter(1), sharding={replicated}
  %index.1 = s32[8,1]{1,0} reshape(%i), sharding={replicated}
  ROOT %taken = f32[8,4]{1,0} gather(%t, %index.1), slice_sizes={1,4}, metadata={op_name="g"}
}
"""
    share = """
HloModule m
ENTRY %main_spmd (t: f32[32,4], i: s32[8]) -> f32[8,4] {
  %t = f32[32,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %i = s32[8]{0} parameter(1), sharding={replicated}
  %index.2 = s32[8,1]{1,0} reshape(%i), metadata={op_name="other"}
  %least = s32[8,1]{1,0} broadcast(%low), dimensions={}
  %low = s32[] partition-id()
  %within = s32[8,1]{1,0} clamp(%least, %index.2, %least)
  %local = s32[8,1]{1,0} subtract(%within, %least)
  %sent = s32[8,1]{1,0} collective-permute(%index.2), source_target_pairs={{0,1},{1,0}}
  %bounded = s32[8,1]{1,0} clamp(%least, %sent, %least)
  %later = s32[8,1]{1,0} subtract(%bounded, %least)
  ROOT %part = f32[8,4]{1,0} gather(%t, %local), slice_sizes={1,4}, metadata={op_name="g"}
}
"""
    search = start(read(whole), read(share), same_program=True)
    old, new = (
        {node.instruction.name: node for node in side.open()}
        for side in (search.before, search.after)
    )
    assert behind_share(search, old["index.1"], new["local"]) is new["index.2"]
    assert behind_share(search, old["index.1"], new["within"]) is None
    assert behind_share(search, old["index.1"], new["later"]) is new["index.2"]


def test_a_slice_that_bitcasts_hide_goes_on_in_another_order_of_dimensions(read: Read) -> None:
    before = """
HloModule m
ENTRY %main (a: f32[8,4]) -> f32[8,2] {
  %a = f32[8,4]{0,1} parameter(0)
  %part.1 = f32[8,2]{0,1} slice(%a), slice={[0:8], [0:2]}, metadata={op_name="s"}
  %n = f32[8,2]{0,1} negate(%part.1), metadata={op_name="n"}
  ROOT %out = f32[8,2]{0,1} custom-call(%n), custom_call_target="f"
}
"""
    after = """
HloModule m
ENTRY %main (a: f32[8,4]) -> f32[8,2] {
  %a = f32[8,4]{0,1} parameter(0)
  %b.1 = f32[4,8]{1,0} bitcast(%a)
  %part.2 = f32[2,8]{1,0} slice(%b.1), slice={[0:2], [0:8]}, metadata={op_name="s"}
  %b.2 = f32[8,2]{0,1} bitcast(%part.2)
  %b.3 = f32[2,8]{1,0} bitcast(%b.2)
  %n.1 = f32[2,8]{1,0} negate(%b.3), metadata={op_name="n"}
  %b.4 = f32[8,2]{0,1} bitcast(%n.1)
  ROOT %out = f32[8,2]{0,1} custom-call(%b.4), custom_call_target="f"
}
"""
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "part.1")) == Place("main", "part.2")


def test_a_constant_mask_does_not_become_the_zero_of_the_select_that_it_became(read: Read) -> None:
    before = """
HloModule m
ENTRY %main (a: f32[4,4], b: f32[4,4]) -> f32[4,4] {
  %a = f32[4,4]{1,0} parameter(0)
  %b = f32[4,4]{1,0} parameter(1)
  %rows = s32[4,4]{1,0} iota(), iota_dimension=0
  %columns = s32[4,4]{1,0} iota(), iota_dimension=1
  %same = pred[4,4]{1,0} compare(%rows, %columns), direction=EQ
  %mask = f32[4,4]{1,0} convert(%same), metadata={op_name="mask"}
  %sum = f32[4,4]{1,0} add(%a, %b), metadata={op_name="sum"}
  %kept = f32[4,4]{1,0} multiply(%mask, %sum)
  ROOT %out = f32[4,4]{1,0} negate(%kept)
}
"""
    select = """%zero = f32[] constant(0)
  %zeros = f32[4,4]{1,0} broadcast(%zero), dimensions={}
  %kept.1 = f32[4,4]{1,0} select(%same, %sum, %zeros)"""
    old = "%kept = f32[4,4]{1,0} multiply(%mask, %sum)"
    lines = before.replace(old, select).replace("(%kept)", "(%kept.1)").splitlines()
    after = "\n".join(line for line in lines if "%mask =" not in line)
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "mask")) is None


_ELEMENTS = """
HloModule step
ENTRY %main (a: f32[32,8], b: f32[32,32]) -> (f32[32,32], f32[32,8]) {
  %a = f32[32,8]{1,0} parameter(0), sharding={devices=[1,4]<=[4]}
  %b = f32[32,32]{1,0} parameter(1), sharding={devices=[1,4]<=[4]}
  %pair = (f32[32,32]{1,0}, f32[32,8]{1,0}) tuple(%b, %a)
  %both = (f32[32,32]{1,0}, f32[32,8]{1,0}) opt-barrier(%pair), metadata={op_name="remat"}
  %x = f32[32,32]{1,0} get-tuple-element(%both), index=0, metadata={op_name="while"}
  %y = f32[32,8]{1,0} get-tuple-element(%both), index=1, metadata={op_name="while"}
  %sine.x = f32[32,32]{1,0} sine(%x)
  %cosine.y = f32[32,8]{1,0} cosine(%y)
  ROOT %out = (f32[32,32]{1,0}, f32[32,8]{1,0}) tuple(%sine.x, %cosine.y)
}
"""
_DIVIDED = """
HloModule step
ENTRY %main_spmd (p: f32[32,2], p.1: f32[32,8]) -> (f32[32,8], f32[32,2]) {
  %p = f32[32,2]{1,0} parameter(0), sharding={devices=[1,4]<=[4]}
  %p.1 = f32[32,8]{1,0} parameter(1), sharding={devices=[1,4]<=[4]}
  %pair.1 = (f32[32,8]{1,0}, f32[32,2]{1,0}) tuple(%p.1, %p)
  %both.1 = (f32[32,8]{1,0}, f32[32,2]{1,0}) opt-barrier(%pair.1), metadata={op_name="remat"}
  %e = f32[32,8]{1,0} get-tuple-element(%both.1), index=0, metadata={op_name="while"}
  %e.1 = f32[32,2]{1,0} get-tuple-element(%both.1), index=1, metadata={op_name="while"}
  %sine.1 = f32[32,8]{1,0} sine(%e)
  %cosine.1 = f32[32,2]{1,0} cosine(%e.1)
  ROOT %out = (f32[32,8]{1,0}, f32[32,2]{1,0}) tuple(%sine.1, %cosine.1)
}
"""


def test_a_divided_element_is_not_another_that_had_its_shape(read: Read) -> None:
    search = start(read(_ELEMENTS), read(_DIVIDED), same_program=True)
    old, new = (
        {node.instruction.name: node for node in side.open()}
        for side in (search.before, search.after)
    )
    search.link(old["both"], new["both.1"], Grade.MATCHED, "known")
    neighbors(search)
    assert {name: old[name].partner for name in ("x", "y")} == {"x": new["e"], "y": new["e.1"]}


_TWO_SLICES = """
HloModule m
ENTRY %main (a: f32[4,8], b: bf16[4,3,2], i: s32[]) -> (f32[4,4], bf16[4,3,1]) {
  %a = f32[4,8]{0,1} parameter(0)
  %b = bf16[4,3,2]{2,1,0} parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  %one = f32[4,4]{0,1} dynamic-slice(%a, %zero, %i), dynamic_slice_sizes={4,4}, \
metadata={op_name="slice"}
  %two = bf16[4,3,1]{2,1,0} dynamic-slice(%b, %zero, %zero, %i), dynamic_slice_sizes={4,3,1}, \
metadata={op_name="slice"}
  ROOT %t = (f32[4,4]{0,1}, bf16[4,3,1]{2,1,0}) tuple(%one, %two)
}
"""
_TURNED_SLICES = """
HloModule m
ENTRY %main (a: f32[4,8], b: bf16[4,3,2], i: s32[]) -> (f32[4,4], bf16[4,3,1]) {
  %a = f32[4,8]{0,1} parameter(0)
  %b = bf16[4,3,2]{2,1,0} parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  %turned = f32[8,4]{1,0} bitcast(%a)
  %one.1 = f32[4,4]{1,0} dynamic-slice(%turned, %i, %zero), dynamic_slice_sizes={4,4}, \
metadata={op_name="slice"}
  %back = f32[4,4]{0,1} bitcast(%one.1)
  %moved = bf16[4,2,3]{1,2,0} bitcast(%b)
  %two.1 = bf16[4,1,3]{1,2,0} dynamic-slice(%moved, %zero, %i, %zero), \
dynamic_slice_sizes={4,1,3}, metadata={op_name="slice"}
  %last = bf16[4,3,1]{2,1,0} bitcast(%two.1)
  ROOT %t = (f32[4,4]{0,1}, bf16[4,3,1]{2,1,0}) tuple(%back, %last)
}
"""


def test_a_constant_that_two_slices_read_does_not_pair_them(read: Read) -> None:
    matching = match(read(_TWO_SLICES), read(_TURNED_SLICES))
    for name in ("one", "two"):
        assert matching.partner_after(Place("main", name)) == Place("main", f"{name}.1")


_LAID_OUT = """
HloModule step
ENTRY %main (a: f32[4,8], w: f32[8,8]) -> (f32[4,8], f32[8,8]) {
  %a = f32[4,8]{0,1} parameter(0)
  %w = f32[8,8]{1,0} parameter(1)
  %grad = f32[4,8]{0,1} sine(%a)
  %copy = f32[4,8]{1,0} copy(%grad), metadata={op_name="add"}
  %turned = f32[8,4]{1,0} transpose(%grad), dimensions={1,0}, metadata={op_name="add"}
  %flat.1 = f32[1,4,8]{2,1,0} bitcast(%copy)
  %flat.2 = f32[1,8,4]{2,1,0} bitcast(%turned)
  %exp.1 = f32[1,4,8]{2,1,0} exponential(%flat.1)
  %exp.2 = f32[1,8,4]{2,1,0} exponential(%flat.2)
  ROOT %out = (f32[1,4,8]{2,1,0}, f32[1,8,4]{2,1,0}) tuple(%exp.1, %exp.2)
}
"""
_NORMALIZED = """
HloModule step
ENTRY %main (a: f32[4,8], w: f32[8,8]) -> (f32[4,8], f32[8,8]) {
  %a = f32[4,8]{0,1} parameter(0)
  %w = f32[8,8]{1,0} parameter(1)
  %given = f32[8,4]{1,0} bitcast(%a)
  %grad.1 = f32[8,4]{1,0} sine(%given)
  %turned.1 = f32[4,8]{1,0} transpose(%grad.1), dimensions={1,0}, metadata={op_name="add"}
  %kept = f32[8,4]{1,0} bitcast(%grad.1)
  %flat.1 = f32[1,4,8]{2,1,0} bitcast(%turned.1)
  %flat.2 = f32[1,8,4]{2,1,0} bitcast(%kept)
  %exp.1 = f32[1,4,8]{2,1,0} exponential(%flat.1)
  %exp.2 = f32[1,8,4]{2,1,0} exponential(%flat.2)
  ROOT %out = (f32[1,4,8]{2,1,0}, f32[1,8,4]{2,1,0}) tuple(%exp.1, %exp.2)
}
"""


def test_a_new_transpose_is_what_its_user_read_not_the_former_transpose(read: Read) -> None:
    matching = match(read(_LAID_OUT), read(_NORMALIZED))
    after = [matching.pairing_before(Place("main", name)) for name in ("copy", "turned")]
    assert [pairing and pairing.after for pairing in after] == [
        (Place("main", "turned.1"),),
        (Place("main", "kept"),),
    ]


def test_of_equal_literals_the_clone_of_the_old_name_continues_it(read: Read) -> None:
    """The SPMD partitioner clones constants, and makes zeros for what it slices."""
    before = """HloModule step

ENTRY %main (a: f32[4,8], i: s32[]) -> f32[1,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %part = f32[1,8]{1,0} dynamic-slice(%a, %i, %zero), dynamic_slice_sizes={1,8}
  ROOT %out = f32[1,8]{1,0} negate(%part)
}
"""
    after = """HloModule step

ENTRY %main_spmd (a: f32[4,8], i: s32[]) -> f32[1,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero.clone = s32[] constant(0), sharding={replicated}
  %other = s32[] constant(0), metadata={op_name="slice"}
  %part.1 = f32[1,8]{1,0} dynamic-slice(%a, %i, %other), dynamic_slice_sizes={1,8}
  ROOT %out.1 = f32[1,8]{1,0} negate(%part.1)
}
"""
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "zero")) == Place("main_spmd", "zero.clone")
    assert matching.partner_after(Place("main", "part")) == Place("main_spmd", "part.1")


_TWO_ZEROS = """
HloModule m
ENTRY %main () -> (f32[16], f32[16]) {
  %x = f32[16]{0} iota(), iota_dimension=0
  %one = f32[] constant(1)
  %ones = f32[16]{0} broadcast(%one), dimensions={}
  %s = f32[16]{0} add(%x, %ones)
  %e = f32[16]{0} exponential(%s)
  %zero = f32[] constant(0)
  %zeros = f32[16]{0} broadcast(%zero), dimensions={}
  %zero.1 = f32[] constant(0)
  %zeros.1 = f32[16]{0} broadcast(%zero.1), dimensions={}
  %n = f32[16]{0} maximum(%x, %zeros)
  %m = f32[16]{0} multiply(%zeros.1, %s)
  %y = f32[16]{0} subtract(%m, %n)
  ROOT %t = (f32[16]{0}, f32[16]{0}) tuple(%e, %y)
}
"""
_TWO_SUMS = """
HloModule m
ENTRY %main () -> (f32[16], f32[16]) {
  %x = f32[16]{0} iota(), iota_dimension=0
  %o.9 = f32[] constant(1)
  %os.9 = f32[16]{0} broadcast(%o.9), dimensions={}
  %s.5 = f32[16]{0} add(%x, %os.9)
  %e.9 = f32[16]{0} exponential(%s.5)
  %zr.9 = f32[] constant(0)
  %z.9 = f32[16]{0} broadcast(%zr.9), dimensions={}
  %n.9 = f32[16]{0} maximum(%x, %z.9)
  %s.6 = f32[16]{0} add(%x, %os.9)
  %m.5 = f32[16]{0} multiply(%z.9, %s.6)
  %y.9 = f32[16]{0} subtract(%m.5, %n.9)
  ROOT %t = (f32[16]{0}, f32[16]{0}) tuple(%e.9, %y.9)
}
"""


def test_a_copy_of_one_operand_does_not_replace_the_other(read: Read) -> None:
    """One of two equal zeros is gone, and the sum is computed for each user."""
    matching = match(read(_TWO_ZEROS), read(_TWO_SUMS))
    assert matching.partner_after(Place("main", "zeros.1")) == Place("main", "z.9")
    copied = matching.pairing_after(Place("main", "s.6"))
    assert copied is not None
    assert copied.relation is Relation.CLONED


_FILLED = """
ENTRY %main (s: f32[], a: f32[8,8], b: f32[8,4]) -> (f32[8,8], f32[8,4]) {
  %s = f32[] parameter(0)
  %a = f32[8,8]{1,0} parameter(1)
  %b = f32[8,4]{1,0} parameter(2)
  %wide = f32[8,8]{1,0} broadcast(%s), dimensions={}
  %narrow = f32[8,4]{1,0} broadcast(%s), dimensions={}
  %sine = f32[8,8]{1,0} sine(%a)
  %also_sine = f32[8,4]{1,0} sine(%b)
  %mul.1 = f32[8,8]{1,0} multiply(%sine, %wide)
  %mul.2 = f32[8,4]{1,0} multiply(%also_sine, %narrow)
  ROOT %out = (f32[8,8]{1,0}, f32[8,4]{1,0}) tuple(%mul.1, %mul.2)
}
"""
_FILLED_SHARES = """
ENTRY %main_spmd (t: f32[], c: f32[8,4], d: f32[8,2]) -> (f32[8,4], f32[8,2]) {
  %t = f32[] parameter(0)
  %c = f32[8,4]{1,0} parameter(1)
  %d = f32[8,2]{1,0} parameter(2)
  %fill.1 = f32[8,4]{1,0} broadcast(%t), dimensions={}
  %fill.2 = f32[8,2]{1,0} broadcast(%t), dimensions={}
  %sine.1 = f32[8,4]{1,0} sine(%c)
  %sine.2 = f32[8,2]{1,0} sine(%d)
  %mul.3 = f32[8,4]{1,0} multiply(%sine.1, %fill.1)
  %mul.4 = f32[8,2]{1,0} multiply(%sine.2, %fill.2)
  ROOT %out.1 = (f32[8,4]{1,0}, f32[8,2]{1,0}) tuple(%mul.3, %mul.4)
}
"""


def test_an_array_of_one_value_does_not_say_whose_share_its_user_is(
    read: Callable[[str], HloModule],
) -> None:
    matching = match(read(_FILLED), read(_FILLED_SHARES))
    assert matching.partner_before(Place("main_spmd", "mul.3")) == Place("main", "mul.1")
    assert matching.partner_before(Place("main_spmd", "mul.4")) == Place("main", "mul.2")
