"""What is read instead of an instruction, and what became of that."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.no_ops import behind_no_op
from xlareport.analysis.matching.rules.stand_ins import (
    are_of_reordered,
    could_do_its_work,
    start_behind,
    start_loops,
)
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import element_taken
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_LOOKED_UP = """
HloModule m

ENTRY %main (i: s32[], t: s32[4]) -> s32[] {
  %i = s32[] parameter(0)
  %t = s32[4]{0} parameter(1)
  %dynamic-slice.1 = s32[1]{0} dynamic-slice(%t, %i), dynamic_slice_sizes={1}
  %reshape.1 = s32[] reshape(%dynamic-slice.1)
  ROOT %out = s32[] negate(%reshape.1)
}
"""


def test_work_becomes_other_work_and_the_move_of_its_result_is_gone(read: Read) -> None:
    clamped = _LOOKED_UP.replace(
        "  %dynamic-slice.1 = s32[1]{0} dynamic-slice(%t, %i), dynamic_slice_sizes={1}\n"
        "  %reshape.1 = s32[] reshape(%dynamic-slice.1)\n",
        "  %clamp.1 = s32[] clamp(%i, %i, %i)\n",
    ).replace("negate(%reshape.1)", "negate(%clamp.1)")
    matching = match(read(_LOOKED_UP), read(clamped))
    assert matching.partner_after(Place("main", "dynamic-slice.1")) == Place("main", "clamp.1")
    assert matching.partner_after(Place("main", "reshape.1")) is None


def test_a_table_that_became_arithmetic_and_a_convert_is_no_move_that_became_a_convert(
    read: Read,
) -> None:
    converted = _LOOKED_UP.replace(
        "  %dynamic-slice.1 = s32[1]{0} dynamic-slice(%t, %i), dynamic_slice_sizes={1}\n"
        "  %reshape.1 = s32[] reshape(%dynamic-slice.1)\n",
        "  %clamp.1 = s32[] clamp(%i, %i, %i)\n  %convert.1 = s32[] convert(%clamp.1)\n",
    ).replace("negate(%reshape.1)", "negate(%convert.1)")
    matching = match(read(_LOOKED_UP), read(converted))
    assert matching.partner_after(Place("main", "dynamic-slice.1")) == Place("main", "convert.1")
    assert matching.partner_after(Place("main", "reshape.1")) is None


_SCALED = """
HloModule m

ENTRY %main (a: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %three = f32[] constant(3)
  %four = f32[] constant(4)
  %multiply.1 = f32[] multiply(%a, %three)
  %divide.1 = f32[] divide(%multiply.1, %four)
  ROOT %out = f32[] sine(%divide.1)
}
"""
_GATHERED = _SCALED.replace(
    "%multiply.1 = f32[] multiply(%a, %three)",
    "%quarter = f32[] constant(0.25)\n  %multiply.2 = f32[] multiply(%three, %quarter)",
).replace(
    "%divide.1 = f32[] divide(%multiply.1, %four)", "%divide.1 = f32[] multiply(%a, %multiply.2)"
)


def test_constants_that_were_gathered_are_not_the_arithmetic_they_were_in(read: Read) -> None:
    matching = match(read(_SCALED), read(_GATHERED))
    assert matching.partner_after(Place("main", "multiply.1")) != Place("main", "multiply.2")


def test_the_lone_user_of_a_constant_is_not_what_constants_were_gathered_in(read: Read) -> None:
    """What `algsimp` does to `(18 - i) - 1`."""
    before = """
HloModule m

ENTRY %main (i: s32[]) -> s32[] {
  %i = s32[] parameter(0)
  %size = s32[] constant(18)
  %less = s32[] constant(-1)
  %sub.1 = s32[] subtract(%size, %i)
  %add.1 = s32[] add(%sub.1, %less)
  ROOT %out = s32[] negate(%add.1)
}
"""
    after = before.replace("%sub.1 = s32[] subtract(%size, %i)", "%add.2 = s32[] add(%size, %less)")
    after = after.replace(
        "%add.1 = s32[] add(%sub.1, %less)", "%sub.2 = s32[] subtract(%add.2, %i)"
    )
    after = after.replace("negate(%add.1)", "negate(%sub.2)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "add.1")) != Place("main", "add.2")


def test_a_sum_with_zero_is_not_the_product_of_constants_that_was_made_around_it(
    read: Read,
) -> None:
    """What `algsimp` does to `(0 + i * 2) * 4`, where a comparison reads the sum too."""
    before = """
HloModule m

ENTRY %main (i: s32[]) -> (pred[], s32[]) {
  %i = s32[] parameter(0)
  %two = s32[] constant(2)
  %zero = s32[] constant(0)
  %four = s32[] constant(4)
  %twice = s32[] multiply(%i, %two)
  %sum = s32[] add(%zero, %twice)
  %test = pred[] compare(%i, %sum), direction=EQ
  %place = s32[] multiply(%sum, %four)
  ROOT %out = (pred[], s32[]) tuple(%test, %place)
}
"""
    after = before.replace(
        "%sum = s32[] add(%zero, %twice)", "%eight = s32[] multiply(%two, %four)"
    )
    after = after.replace("(%i, %sum)", "(%i, %twice)").replace("(%sum, %four)", "(%i, %eight)")
    after = after.replace("  %zero = s32[] constant(0)\n", "")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "sum")) is None


_EVALUATED = """
HloModule m

%one (x: s32[]) -> (s32[]) {
  %x = s32[] parameter(0)
  ROOT %made = (s32[]) tuple(%x)
}

%two (y: s32[]) -> (s32[]) {
  %y = s32[] parameter(0)
  ROOT %other = (s32[]) tuple(%y)
}

ENTRY %main (a: s32[4]) -> s32[4] {
  %a = s32[4]{0} parameter(0)
  LINES
  %many = s32[4]{0} broadcast(%value), dimensions={}
  ROOT %out = s32[4]{0} add(%a, %many)
}
"""


def test_a_conditional_on_constants_became_a_constant(read: Read) -> None:
    before = _EVALUATED.replace(
        "LINES",
        "%which = s32[] constant(1)\n  %cond = (s32[]) conditional(%which, %which, %which), "
        "branch_computations={%one, %two}\n  %value = s32[] get-tuple-element(%cond), index=0",
    )
    after = _EVALUATED.replace("LINES", "%value.1 = s32[] constant(7)").replace(
        "(%value)", "(%value.1)"
    )
    assert match(read(before), read(after)).partner_after(Place("main", "cond")) == Place(
        "main", "value.1"
    )


_REASSOCIATED = """
HloModule m

ENTRY %main (x: f32[8,4], scale: f32[4], bias: f32[4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %scale = f32[4]{0} parameter(1)
  %bias = f32[4]{0} parameter(2)
  LINES
}
"""


def test_a_product_of_the_other_factors_is_not_what_was_multiplied_first(read: Read) -> None:
    before = _REASSOCIATED.replace(
        "LINES",
        """%many.1 = f32[8,4]{1,0} broadcast(%scale), dimensions={1}
  %many.2 = f32[8,4]{1,0} broadcast(%bias), dimensions={1}
  %mul.1 = f32[8,4]{1,0} multiply(%x, %many.1)
  ROOT %mul.2 = f32[8,4]{1,0} multiply(%many.2, %mul.1)""",
    )
    after = _REASSOCIATED.replace(
        "LINES",
        """%multiply.9 = f32[4]{0} multiply(%scale, %bias)
  %broadcast.9 = f32[8,4]{1,0} broadcast(%multiply.9), dimensions={1}
  ROOT %mul.2 = f32[8,4]{1,0} multiply(%x, %broadcast.9)""",
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "mul.1")) != Place("main", "broadcast.9")
    assert matching.partner_after(Place("main", "mul.2")) == Place("main", "mul.2")


_REMAINDER = """
HloModule m

ENTRY %main (p: pred[6], x: s32[6]) -> s32[6] {
  %p = pred[6]{0} parameter(0)
  %x = s32[6]{0} parameter(1)
  %zero = s32[] constant(0)
  %many = s32[6]{0} broadcast(%zero), dimensions={}
LINES}
"""


def test_what_is_read_at_another_place_stands_in_for_nothing(read: Read) -> None:
    """`select(p, -(x & 0), x & 0)` became `select(p, many(-0), many(0))`."""
    before = _REMAINDER.replace(
        "LINES",
        """  %and.1 = s32[6]{0} and(%x, %many)
  %negate.1 = s32[6]{0} negate(%and.1)
  ROOT %select.1 = s32[6]{0} select(%p, %negate.1, %and.1)
""",
    )
    after = _REMAINDER.replace(
        "LINES",
        """  %negate.2 = s32[] negate(%zero)
  %broadcast.2 = s32[6]{0} broadcast(%negate.2), dimensions={}
  %negate.1 = s32[6]{0} negate(%many)
  ROOT %select.1 = s32[6]{0} select(%p, %broadcast.2, %many)
""",
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "and.1")) != Place("main", "broadcast.2")


def test_constants_are_not_what_is_left_of_a_framework_op(read: Read) -> None:
    named = ', metadata={op_name="rem"}'
    before = _REMAINDER.replace(
        "LINES",
        f"  %neg.1 = s32[6]{{0}} negate(%x){named}\n"
        "  ROOT %out = s32[6]{0} select(%p, %neg.1, %many)\n",
    )
    after = _REMAINDER.replace(
        "LINES",
        f"  %neg.2 = s32[] negate(%zero){named}\n"
        "  %broadcast.2 = s32[6]{0} broadcast(%neg.2), dimensions={}\n"
        "  ROOT %out = s32[6]{0} select(%p, %many, %broadcast.2)\n",
    )
    assert match(read(before), read(after)).partner_after(Place("main", "neg.1")) is None


def test_what_the_partitioner_selects_of_a_padded_array_is_the_pad(read: Read) -> None:
    whole = """
ENTRY %main (a: f32[8,15], b: f32[8,16]) -> f32[8,16] {
  %a = f32[8,15]{1,0} parameter(0)
  %b = f32[8,16]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %sine = f32[8,15]{1,0} sine(%a), metadata={op_name="sin"}
  %pad.1 = f32[8,16]{1,0} pad(%sine, %zero), padding=0_0x0_1
  ROOT %sum = f32[8,16]{1,0} subtract(%b, %pad.1), metadata={op_name="sub"}
}
"""
    part = """
ENTRY %main_spmd (p: f32[2,8], q: f32[2,8]) -> f32[2,8] {
  %p = f32[2,8]{1,0} parameter(0)
  %q = f32[2,8]{1,0} parameter(1)
  %zero.1 = f32[] constant(0)
  %sine.1 = f32[2,8]{1,0} sine(%p), metadata={op_name="sin"}
  %wide = f32[2,8]{1,0} broadcast(%zero.1), dimensions={}
  %inside = pred[2,8]{1,0} compare(%q, %wide), direction=LT
  %select.1 = f32[2,8]{1,0} select(%inside, %sine.1, %wide)
  ROOT %sum.1 = f32[2,8]{1,0} subtract(%q, %select.1), metadata={op_name="sub"}
}
"""
    partner = match(read(whole), read(part)).partner_after
    assert partner(Place("main", "pad.1")) == Place("main_spmd", "select.1")


def test_a_reshape_that_its_source_made_needless_does_not_become_a_new_transpose(
    read: Read,
) -> None:
    head = "HloModule m\n\nENTRY %main (a: f32[2,8]) -> f32[LAST] {\n"
    head += "  %a = f32[2,8]{1,0} parameter(0)\n  %sine.1 = f32[2,8]{1,0} sine(%a)\n"
    before = head.replace("LAST", "2,8,4") + (
        "  %reshape.1 = f32[2,8,1]{2,1,0} reshape(%sine.1)\n"
        "  %exp.1 = f32[2,8,1]{2,1,0} exponential(%reshape.1)\n"
        "  %reshape.2 = f32[2,8]{1,0} reshape(%exp.1)\n"
        "  ROOT %wide.1 = f32[2,8,4]{2,1,0} broadcast(%reshape.2), dimensions={0,1}\n}\n"
    )
    after = head.replace("LAST", "8,2,4") + (
        "  %exp.2 = f32[2,8]{1,0} exponential(%sine.1)\n"
        "  %transpose.9 = f32[8,2]{0,1} transpose(%exp.2), dimensions={1,0}\n"
        "  ROOT %wide.1 = f32[8,2,4]{2,1,0} broadcast(%transpose.9), dimensions={0,1}\n}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "exp.1")) == Place("main", "exp.2")
    assert matching.partner_before(Place("main", "transpose.9")) is None


_CARRIED = """
HloModule step
ENTRY %main (p: (s32[], f32[8], f32[8])) -> f32[8] {
  %p = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %key = f32[8]{0} get-tuple-element(%p), index=1
  %wide = f32[8]{0} broadcast(%i), dimensions={}
  ROOT %add = f32[8]{0} add(%key, %wide)
}
"""


def test_numbers_of_elements_say_nothing_where_a_tuple_was_reordered(read: Read) -> None:
    turned = _CARRIED.replace("(s32[], f32[8]{0}, f32[8]{0})", "(f32[8]{0}, s32[], f32[8]{0})")
    turned = turned.replace("%add = f32[8]{0} add", "%add = f32[8]{0} subtract")
    assert _of_reordered(read, turned, "key")
    assert not _of_reordered(read, turned, "i")
    same = _CARRIED.replace("%add = f32[8]{0} add", "%add = f32[8]{0} subtract")
    assert not _of_reordered(read, same.replace("index=1", "index=2"), "key")
    more = _CARRIED.replace("(s32[], f32[8]{0}, f32[8]{0})", "(s32[], f32[8]{0}, s32[], f32[8]{0})")
    fewer = _CARRIED.replace("(s32[], f32[8]{0}, f32[8]{0})", "(s32[], f32[8]{0})")
    assert _of_reordered(read, _CARRIED, "key", before=more.replace("index=1", "index=3"))
    assert not _of_reordered(read, fewer, "key")


def _of_reordered(read: Read, after: str, name: str, before: str = _CARRIED) -> bool:
    search = start(read(before), read(after))
    taken = []
    for side in (search.before, search.after):
        (frame,) = side.graph.frames
        node = frame.node(frame.computation.by_name[name])
        node.element = element_taken(node.instruction)
        taken.append(node)
    operands = search.before.graph.operands(taken[0]), search.after.graph.operands(taken[1])
    return are_of_reordered(*taken, *operands)


def test_a_number_in_another_type_goes_on(read: Read) -> None:
    before = """
ENTRY %main (a: f32[8]) -> f32[10] {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %pad = f32[10]{0} pad(%a, %zero), padding=1_1
}
"""
    after = before.replace("%zero = f32[] constant(0)", "%c.1 = bf16[] constant(0)").replace(
        "ROOT %pad = f32[10]{0} pad(%a, %zero)",
        "%b = bf16[8]{0} convert(%a)\n  ROOT %pad = bf16[10]{0} pad(%b, %c.1)",
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "zero")) == Place("main", "c.1")
    other = match(read(before), read(after.replace("constant(0)", "constant(1)")))
    assert other.partner_after(Place("main", "zero")) is None


def test_what_a_swapped_product_reads_now_continues_what_it_read(read: Read) -> None:
    before = """
HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (a: f32[1,4,8], b: f32[4,5]) -> f32[8,5] {
  %a = f32[1,4,8]{2,1,0} parameter(0)
  %b = f32[4,5]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %e = f32[4,5]{1,0} exponential(%b)
  %reduce.1 = f32[4,8]{1,0} reduce(%a, %zero), dimensions={0}, to_apply=%sum
  ROOT %dot.1 = f32[8,5]{1,0} dot(%reduce.1, %e), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""
    after = """
HloModule m

ENTRY %main (a: f32[1,4,8], b: f32[4,5]) -> f32[8,5] {
  %a = f32[1,4,8]{2,1,0} parameter(0)
  %b = f32[4,5]{1,0} parameter(1)
  %e = f32[4,5]{1,0} exponential(%b)
  %reshape.1 = f32[4,8]{1,0} reshape(%a)
  %dot.2 = f32[5,8]{0,1} dot(%e, %reshape.1), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT %transpose.1 = f32[8,5]{1,0} transpose(%dot.2), dimensions={1,0}
}
"""
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "dot.1")) == Place("main", "dot.2")
    assert matching.partner_after(Place("main", "reduce.1")) == Place("main", "reshape.1")


_NO_OPS = """
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add.9 = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8,1], p: pred[8]) -> (f32[8], f32[8]) {
  %a = f32[8,1]{1,0} parameter(0)
  %p = pred[8]{0} parameter(1)
  %zero = f32[] constant(0)
  %reduce.1 = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum
  %broadcast.1 = f32[8]{0} broadcast(%reduce.1), dimensions={0}
  %fill.1 = f32[8]{0} broadcast(%zero), dimensions={}
  %select.1 = f32[8]{0} select(%p, %fill.1, %fill.1)
  %sine.1 = f32[8]{0} sine(%broadcast.1)
  %cosine.1 = f32[8]{0} cosine(%select.1)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%sine.1, %cosine.1)
}
"""


def test_what_had_no_effect_does_not_become_what_its_operand_became(read: Read) -> None:
    after = _NO_OPS.replace("%broadcast.1)", "%reshape.1)").replace("%select.1)", "%fill.2)")
    kept = [line for line in after.splitlines(keepends=True) if "%broadcast.1 =" not in line]
    after = "".join(line for line in kept if "%select.1 =" not in line)
    reduced = "%reduce.1 = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum"
    after = after.replace(reduced, "%reshape.1 = f32[8]{0} reshape(%a)").replace("fill.1", "fill.2")
    matching = match(read(_NO_OPS), read(after))
    assert matching.partner_after(Place("main", "reduce.1")) == Place("main", "reshape.1")
    assert matching.partner_after(Place("main", "fill.1")) == Place("main", "fill.2")
    assert matching.partner_after(Place("main", "broadcast.1")) is None
    assert matching.partner_after(Place("main", "select.1")) is None


_STARTED = """
%body (p: (f32[4,2], f32[2,4], f32[8])) -> (f32[4,2], f32[2,4], f32[8]) {
  %p = (f32[4,2]{1,0}, f32[2,4]{1,0}, f32[8]{0}) parameter(0)
  %x = f32[4,2]{1,0} get-tuple-element(%p), index=0
  %y = f32[2,4]{1,0} get-tuple-element(%p), index=1
  %z = f32[8]{0} get-tuple-element(%p), index=2
  %s = f32[4,2]{1,0} sine(%x)
  ROOT %r = (f32[4,2]{1,0}, f32[2,4]{1,0}, f32[8]{0}) tuple(%s, %y, %z)
}

%until (q: (f32[4,2], f32[2,4], f32[8])) -> pred[] {
  %q = (f32[4,2]{1,0}, f32[2,4]{1,0}, f32[8]{0}) parameter(0)
  ROOT %never = pred[] constant(false)
}

ENTRY %main (a: f32[4,2], b: f32[2,4], c: f32[8]) -> (f32[4,2], f32[2,4], f32[8]) {
  %a = f32[4,2]{1,0} parameter(0)
  %b = f32[2,4]{1,0} parameter(1)
  %c = f32[8]{0} parameter(2)
  %start.1 = (f32[4,2]{1,0}, f32[2,4]{1,0}, f32[8]{0}) tuple(%a, %b, %c)
  ROOT %while = (f32[4,2]{1,0}, f32[2,4]{1,0}, f32[8]{0}) while(%start.1), condition=%until, body=%body
}
"""  # noqa: E501 - lines as XLA writes them


def test_a_start_of_elements_of_the_former_start_is_not_that(read: Read) -> None:
    old = "%start.1 = (f32[4,2]{1,0}, f32[2,4]{1,0}, f32[8]{0}) tuple(%a, %b, %c)"
    new = f"""{old.replace("start.1", "start.2")}
  %e.0 = f32[4,2]{{1,0}} get-tuple-element(%start.2), index=0
  %e.1 = f32[2,4]{{1,0}} get-tuple-element(%start.2), index=1
  %moved = f32[2,4]{{0,1}} copy(%e.1)
  %e.2 = f32[8]{{0}} get-tuple-element(%start.2), index=2
  %start.3 = (f32[4,2]{{1,0}}, f32[2,4]{{0,1}}, f32[8]{{0}}) tuple(%e.0, %moved, %e.2)"""
    after = _STARTED.replace(old, new).replace("while(%start.1)", "while(%start.3)")
    head, entry = after.split("ENTRY")
    head = head.replace("f32[2,4]{1,0}", "f32[2,4]{0,1}")
    search = start(read(_STARTED), read(f"{head}ENTRY{entry}"), same_program=True)
    nodes = {node.instruction.name: node for node in search.after.open()}
    assert start_behind(nodes["start.3"]) is nodes["start.2"]
    assert start_behind(nodes["start.2"]) is nodes["start.2"]


_STARTED_TWICE = """
%body (p: (f32[4], f32[2,4], f32[8])) -> (f32[4], f32[2,4], f32[8]) {
  %p = (f32[4]{0}, f32[2,4]{1,0}, f32[8]{0}) parameter(0)
  %x = f32[4]{0} get-tuple-element(%p), index=0
  %y = f32[2,4]{1,0} get-tuple-element(%p), index=1
  %z = f32[8]{0} get-tuple-element(%p), index=2
  ROOT %r = (f32[4]{0}, f32[2,4]{1,0}, f32[8]{0}) tuple(%x, %y, %z)
}

%until (q: (f32[4], f32[2,4], f32[8])) -> pred[] {
  %q = (f32[4]{0}, f32[2,4]{1,0}, f32[8]{0}) parameter(0)
  ROOT %never = pred[] constant(false)
}

ENTRY %main (a: f32[4], c: f32[8]) -> f32[2,4] {
  %a = f32[4]{0} parameter(0)
  %c = f32[8]{0} parameter(1)
  %zero = f32[] constant(0)
  %wide.1 = f32[2,4]{0,1} broadcast(%zero), dimensions={}
  %start.1 = (f32[4]{0}, f32[2,4]{0,1}, f32[8]{0}) tuple(%a, %wide.1, %c)
  %e.0 = f32[4]{0} get-tuple-element(%start.1), index=0
  %e.1 = f32[2,4]{0,1} get-tuple-element(%start.1), index=1
  %copy.1 = f32[2,4]{1,0} copy(%e.1)
  %e.2 = f32[8]{0} get-tuple-element(%start.1), index=2
  %start.2 = (f32[4]{0}, f32[2,4]{1,0}, f32[8]{0}) tuple(%e.0, %copy.1, %e.2)
  %while = (f32[4]{0}, f32[2,4]{1,0}, f32[8]{0}) while(%start.2), condition=%until, body=%body
  %made = f32[2,4]{1,0} get-tuple-element(%while), index=1
  ROOT %copy.2 = f32[2,4]{0,1} copy(%made)
}
"""
_NORMALIZED = {
    "%wide.1 = f32[2,4]{0,1} broadcast(%zero), dimensions={}": (
        "%wide.2 = f32[4,2]{1,0} broadcast(%zero), dimensions={}\n"
        "  %bitcast.1 = f32[2,4]{0,1} bitcast(%wide.2)"
    ),
    "%copy.1 = f32[2,4]{1,0} copy(%e.1)": (
        "%bitcast.2 = f32[4,2]{1,0} bitcast(%e.1)\n"
        "  %transpose.1 = f32[2,4]{1,0} transpose(%bitcast.2), dimensions={1,0}"
    ),
    "ROOT %copy.2 = f32[2,4]{0,1} copy(%made)": (
        "%transpose.2 = f32[4,2]{1,0} transpose(%made), dimensions={1,0}\n"
        "  ROOT %bitcast.3 = f32[2,4]{0,1} bitcast(%transpose.2)"
    ),
    "%wide.1": "%bitcast.1",
    "%copy.1": "%transpose.1",
}


def test_a_start_of_elements_of_another_start_remains_one(read: Read) -> None:
    """What `layout_normalization` does to the copy of an element."""
    after = _STARTED_TWICE
    for old, new in _NORMALIZED.items():
        after = after.replace(old, new)
    matching = match(read(_STARTED_TWICE), read(after))
    for name in ("start.1", "start.2"):
        assert matching.partner_after(Place("main", name)) == Place("main", name)
    assert matching.partner_after(Place("main", "copy.1")) == Place("main", "transpose.1")


_BROKEN = """
ENTRY %main (a: f32[2,4], p: pred[8]) -> f32[2,4] {
  %a = f32[2,4]{1,0} parameter(0)
  %none.1 = f32[2,4]{1,0} broadcast(), dimensions={0,1}
  %none.2 = f32[2,4]{1,0} select()
  %moved.1 = f32[2,4]{1,0} reshape(%p)
  %moved.2 = f32[2,4]{1,0} transpose(%a), dimensions={x,}
  %moved.3 = f32[2,4]{1,0} transpose(%a), dimensions={1,0}
  ROOT %out = f32[2,4]{1,0} negate(%a)
}
"""


def test_broken_instructions_are_no_error(read: Read) -> None:
    search = start(read(_BROKEN), read(""), same_program=True)
    nodes = {node.instruction.name: node for node in search.before.open()}
    for name in ("none.1", "none.2"):
        assert behind_no_op(search.before, nodes[name], nodes["out"]) is nodes[name]
    assert could_do_its_work(nodes["moved.1"], nodes["moved.2"])
    assert not could_do_its_work(nodes["moved.1"], nodes["moved.3"])


_CHOICE = """
HloModule m
%first (p: (f32[8], s32[4])) -> f32[8] {
  %p = (f32[8]{0}, s32[4]{0}) parameter(0)
  ROOT %x = f32[8]{0} get-tuple-element(%p), index=0
}
%second (q: f32[8]) -> f32[8] {
  ROOT %q = f32[8]{0} parameter(0)
}
ENTRY %main (i: pred[], a: f32[8], b: s32[4]) -> f32[8] {
  %i = pred[] parameter(0)
  %a = f32[8]{0} parameter(1)
  %b = s32[4]{0} parameter(2)
  %given = (f32[8]{0}, s32[4]{0}) tuple(%a, %b)
  ROOT %either = f32[8]{0} conditional(%i, %given, %a), true_computation=%first, \
false_computation=%second
}
"""


def test_what_a_branch_gets_goes_on_with_its_elements_in_another_order(read: Read) -> None:
    after = _CHOICE.replace("%given = (f32[8]{0}, s32[4]{0}) tuple(%a, %b)", "%cond.2 = TUPLE")
    after = after.replace("%given", "%cond.2").replace("TUPLE", "(s32[4], f32[8]) tuple(%b, %a)")
    after = after.replace("(f32[8]{0}, s32[4]{0}) parameter", "(s32[4], f32[8]) parameter")
    after = after.replace("index=0", "index=1").replace("(f32[8], s32[4])", "(s32[4], f32[8])")
    search = start(read(_CHOICE), read(after))
    home, other = search.before.homes["main"], search.after.homes["main"]
    tuples = tuple(
        frame.node(frame.computation.by_name[name])
        for frame, name in ((home, "given"), (other, "cond.2"))
    )
    either = home.node(home.computation.by_name["either"])
    assert start_loops(either, (tuples[0], tuples[1]))
    assert not start_loops(tuples[0], (tuples[0], tuples[1]))


_TURNED_BACK = """
HloModule m

%add.1 (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (a: f32[4,12,5]) -> f32[4,4,3] {
  %a = f32[4,12,5]{2,1,0} parameter(0)
  %zero = f32[] constant(0)
  %reshape.1 = f32[4,4,3,5]{3,2,1,0} reshape(%a)
  %reduce.1 = f32[4,4,3]{2,1,0} reduce(%reshape.1, %zero), dimensions={3}, to_apply=%add.1, OF_SUM
  %transpose.1 = f32[4,4,3]{2,0,1} transpose(%reduce.1), dimensions={1,0,2}, OF_SUM
  %transpose.2 = f32[4,4,3]{2,1,0} transpose(%transpose.1), dimensions={1,0,2}
  ROOT %out = f32[4,4,3]{2,1,0} negate(%transpose.2)
}
""".replace("OF_SUM", 'metadata={op_name="sum"}')
_NOT_TURNED = _TURNED_BACK.replace(
    "  %reshape.1 = f32[4,4,3,5]{3,2,1,0} reshape(%a)\n", ""
).replace(
    "%reduce.1 = f32[4,4,3]{2,1,0} reduce(%reshape.1, %zero), dimensions={3}",
    "%reduce.2 = f32[4,12]{1,0} reduce(%a, %zero), dimensions={2}",
)
_NOT_TURNED = (
    _NOT_TURNED[: _NOT_TURNED.index("  %transpose.1")]
    + """  %reshape.2 = f32[4,4,3]{2,1,0} reshape(%reduce.2), metadata={op_name="sum"}
  ROOT %out = f32[4,4,3]{2,1,0} negate(%reshape.2)
}
"""
)


def test_a_reshape_of_what_was_turned_and_turned_back_is_not_the_first_turn(read: Read) -> None:
    """What `algsimp` does to a reduce of a reshape, between two transposes that undo each other."""
    matching = match(read(_TURNED_BACK), read(_NOT_TURNED))
    assert matching.partner_after(Place("main", "reduce.1")) == Place("main", "reduce.2")
    assert matching.partner_after(Place("main", "transpose.1")) is None


_CONVERTED_FIRST = """HloModule m

ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %half = f32[] constant(0.5)
  %halves = f32[8]{0} broadcast(%half), dimensions={}
  %multiply.1 = f32[8]{0} multiply(%x, %halves)
  %erf.1 = f32[8]{0} erf(%multiply.1)
  %two = f32[] constant(2)
  %twos = f32[8]{0} broadcast(%two), dimensions={}
  %divide.1 = f32[8]{0} divide(%x, %twos)
  %erf.2 = f32[8]{0} erf(%divide.1)
  %whole = s64[] constant(1)
  %one = f32[] convert(%whole)
  %ones = f32[8]{0} broadcast(%one), dimensions={}
  %add.1 = f32[8]{0} add(%ones, %erf.2)
  %multiply.2 = f32[8]{0} multiply(%y, %add.1)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%erf.1, %multiply.2)
}
"""
_CONSTANT_LAST = """HloModule m

ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %half = f32[] constant(0.5)
  %halves = f32[8]{0} broadcast(%half), dimensions={}
  %multiply.1 = f32[8]{0} multiply(%x, %halves)
  %erf.1 = f32[8]{0} erf(%multiply.1)
  %one.9 = f32[] constant(1)
  %ones.9 = f32[8]{0} broadcast(%one.9), dimensions={}
  %add.9 = f32[8]{0} add(%erf.1, %ones.9)
  %multiply.9 = f32[8]{0} multiply(%y, %add.9)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%erf.1, %multiply.9)
}
"""


def test_a_constant_that_a_sum_reads_last_now_replaced_the_constant_that_it_read_first(
    read: Read,
) -> None:
    matching = match(read(_CONVERTED_FIRST), read(_CONSTANT_LAST))
    pairing = matching.pairing_before(Place("main", "ones"))
    assert pairing is not None
    assert pairing.after == (Place("main", "ones.9"),)


def test_what_is_read_without_a_copy_now_is_what_the_copy_read(read: Read) -> None:
    before = """
HloModule m

ENTRY %main (a: f32[8,2,4], w: f32[16,3]) -> f32[4,3] {
  %a = f32[8,2,4]{2,0,1} parameter(0)
  %w = f32[16,3]{1,0} parameter(1)
  %turned = f32[4,2,8]{0,2,1} transpose(%a), dimensions={2,1,0}
  %reshape.1 = f32[4,16]{0,1} reshape(%turned)
  %copy.2 = f32[4,16]{1,0} copy(%reshape.1)
  ROOT %dot.3 = f32[4,3]{1,0} dot(%copy.2, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
    after = (
        before.replace(
            "%turned = f32[4,2,8]{0,2,1} transpose(%a), dimensions={2,1,0}",
            "%bitcast.8 = f32[4,2,8]{0,2,1} bitcast(%a)",
        )
        .replace(
            "  %reshape.1 = f32[4,16]{0,1} reshape(%turned)\n"
            "  %copy.2 = f32[4,16]{1,0} copy(%reshape.1)\n",
            "  %bitcast.9 = f32[4,16]{0,1} bitcast(%bitcast.8)\n",
        )
        .replace("dot(%copy.2, %w)", "dot(%bitcast.9, %w)")
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "reshape.1")) == Place("main", "bitcast.9")
    assert matching.partner_after(Place("main", "copy.2")) is None


_REDUCES_NOTHING = """HloModule m

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[4,1], b: f32[4]) -> f32[4] {
  %a = f32[4,1]{1,0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %zero = f32[] constant(0)
  %minus = f32[4,1]{1,0} negate(%a)
  %sum = f32[4]{0} reduce(%minus, %zero), dimensions={1}, to_apply=%add
  ROOT %out = f32[4]{0} multiply(%sum, %b)
}
"""


def test_what_a_reduction_of_nothing_read_goes_on_as_what_is_read_instead(read: Read) -> None:
    after = _REDUCES_NOTHING.replace(
        "%minus = f32[4,1]{1,0} negate(%a)", "%flat = f32[4]{0} bitcast(%a)"
    )
    after = after.replace(
        "%sum = f32[4]{0} reduce(%minus, %zero), dimensions={1}, to_apply=%add",
        "%less = f32[4]{0} negate(%flat)",
    ).replace("(%sum, %b)", "(%less, %b)")
    matching = match(read(_REDUCES_NOTHING), read(after))
    assert matching.partner_after(Place("main", "minus")) == Place("main", "less")
    assert matching.partner_after(Place("main", "sum")) is None


@pytest.mark.parametrize(("number", "may_be"), [("0", True), ("0.25", False)])
def test_only_a_fill_of_zeros_can_replace_a_product_of_values(
    read: Read, number: str, *, may_be: bool
) -> None:
    """`dot(x, zeros)` is zeros; of no other product is every element one number."""
    text = f"""HloModule step

ENTRY %main (a: f32[4,8], b: f32[8,4]) -> (f32[4,4], f32[4,4]) {{
  %a = f32[4,8]{{1,0}} parameter(0)
  %b = f32[8,4]{{1,0}} parameter(1)
  %dot = f32[4,4]{{1,0}} dot(%a, %b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %c = f32[] constant({number})
  %fill = f32[4,4]{{1,0}} broadcast(%c), dimensions={{}}
  ROOT %out = (f32[4,4]{{1,0}}, f32[4,4]{{1,0}}) tuple(%dot, %fill)
}}
"""
    search = start(read(text), read(""), same_program=True)
    nodes = {node.instruction.name: node for node in search.before.open()}
    assert could_do_its_work(nodes["dot"], nodes["fill"]) is may_be


_NO_OP = """HloModule m

ENTRY %main (a: f32[8]) -> f32[2,4] {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %zeros = f32[8]{0} broadcast(%zero), dimensions={}
  %wave = f32[8]{0} sine(%a)
  %more = f32[8]{0} add(%wave, %zeros)
  %rows = f32[2,4]{1,0} reshape(%more)
  ROOT %out = f32[2,4]{1,0} negate(%rows)
}
"""


def test_a_sum_with_zero_goes_on_nowhere(read: Read) -> None:
    after = _NO_OP.replace("  %more = f32[8]{0} add(%wave, %zeros)\n", "").replace("%rows", "%r.9")
    matching = match(read(_NO_OP), read(after.replace("(%more)", "(%wave)")))
    assert matching.partner_after(Place("main", "more")) is None
    assert matching.partner_after(Place("main", "rows")) == Place("main", "r.9")


_PRODUCT_AND_SUM = """HloModule step

ENTRY %main (a: f32[4,8], b: f32[8,4]) -> (f32[4,4], f32[4], f32[4,4], f32[4]) {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8,4]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %dot = f32[4,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %sum = f32[4]{0} reduce(%a, %zero), dimensions={1}, to_apply=%add
  %all = f32[4]{0} all-reduce(%sum), to_apply=%add
  %mean = f32[4]{0} divide(%sum, %all)
  %part = f32[4,4]{1,0} slice(%a), slice={[0:4], [0:4]}
  %row = f32[4]{0} bitcast(%part)
  %first = f32[4]{0} slice(%row), slice={[0:4]}
  ROOT %out = (f32[4,4]{1,0}, f32[4]{0}, f32[4,4]{1,0}, f32[4]{0}) tuple(%dot, %sum, %part, %first)
}
"""


def test_no_move_of_data_multiplies_and_no_slice_adds_up(read: Read) -> None:
    search = start(read(_PRODUCT_AND_SUM), read(""), same_program=True)
    nodes = {node.instruction.name: node for node in search.before.open()}
    assert not could_do_its_work(nodes["dot"], nodes["part"])
    assert not could_do_its_work(nodes["sum"], nodes["first"])
    assert could_do_its_work(nodes["row"], nodes["first"])
    assert not could_do_its_work(nodes["row"], nodes["sum"])
    assert not could_do_its_work(nodes["row"], nodes["all"])
    assert not could_do_its_work(nodes["all"], nodes["sum"])
    assert not could_do_its_work(nodes["mean"], nodes["sum"])


_PAIR = "(f32[8]{0}, f32[8]{0})"
_OF_A_TUPLE = f"""
HloModule m

%called (p.1: {_PAIR}) -> f32[8] {{
  %p.1 = {_PAIR} parameter(0)
  %g.0 = f32[8]{{0}} get-tuple-element(%p.1), index=0
  %g.1 = f32[8]{{0}} get-tuple-element(%p.1), index=1
  ROOT %sum = f32[8]{{0}} add(%g.0, %g.1)
}}

%wrapper (p.0: {_PAIR}) -> f32[8] {{
  %p.0 = {_PAIR} parameter(0)
  ROOT %call = f32[8]{{0}} call(%p.0), to_apply=%called
}}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %both = {_PAIR} tuple(%a, %b)
  %start = (({_PAIR}), f32[8]{{0}}, u32[]) async-start(%both), calls=%wrapper
  ROOT %done = f32[8]{{0}} async-done(%start)
}}
"""


def test_a_tuple_of_parameters_of_a_called_computation_is_no_parameter_of_the_caller(
    read: Read,
) -> None:
    """`inline-inputs-and-outputs` passes on the elements of a tuple."""
    inlined = f"""
HloModule m

%called (q.0: f32[8], q.1: f32[8]) -> f32[8] {{
  %q.0 = f32[8]{{0}} parameter(0)
  %q.1 = f32[8]{{0}} parameter(1)
  %tuple.5 = {_PAIR} tuple(%q.0, %q.1)
  %g.0 = f32[8]{{0}} get-tuple-element(%tuple.5), index=0
  %g.1 = f32[8]{{0}} get-tuple-element(%tuple.5), index=1
  ROOT %sum = f32[8]{{0}} add(%g.0, %g.1)
}}

%wrapper (r.0: f32[8], r.1: f32[8]) -> f32[8] {{
  %r.0 = f32[8]{{0}} parameter(0)
  %r.1 = f32[8]{{0}} parameter(1)
  ROOT %call = f32[8]{{0}} call(%r.0, %r.1), to_apply=%called
}}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %start = ((f32[8]{{0}}, f32[8]{{0}}), f32[8]{{0}}, u32[]) async-start(%a, %b), calls=%wrapper
  ROOT %done = f32[8]{{0}} async-done(%start)
}}
"""
    matching = match(read(_OF_A_TUPLE), read(inlined))
    assert matching.partner_after(Place("wrapper", "p.0")) != Place("called", "tuple.5")
