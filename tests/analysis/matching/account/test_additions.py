from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import ChangeCause, Place, Relation
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

BEFORE = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %sine.1 = f32[8]{0} sine(%a)
  %abs.1 = f32[8]{0} abs(%sine.1)
  %cosine.1 = f32[8]{0} cosine(%b)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%abs.1, %cosine.1)
}
"""
AFTER = BEFORE.replace(
    "  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%abs.1, %cosine.1)",
    "  %tanh.1 = f32[8]{0} tanh(%OPERAND)\n  %abs.1.7 = f32[8]{0} abs(%tanh.1)\n"
    "  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%abs.1, %abs.1.7)",
)
RESHAPED = """
ENTRY %main (a: f32[8]) -> f32[4,2] {
  %a = f32[8]{0} parameter(0)
  %reshape.1 = f32[2,4]{1,0} reshape(%a)
  ROOT %transpose = f32[4,2]{1,0} transpose(%reshape.1), dimensions={1,0}
}
"""


def at(name: str) -> Place:
    return Place("main", name)


def test_an_operation_over_results_of_other_opcodes_is_no_copy_whatever_its_name(
    read: Read,
) -> None:
    said = match(read(BEFORE), read(AFTER.replace("OPERAND", "cosine.1"))).pairing_after(
        at("abs.1.7")
    )
    assert said is not None
    assert said.relation is Relation.ADDED


def test_a_reshape_goes_on_as_the_bitcast_and_not_as_the_copy_of_that(read: Read) -> None:
    after = RESHAPED.replace(
        "%reshape.1 = f32[2,4]{1,0} reshape(%a)",
        "%bitcast = f32[2,4]{1,0} bitcast(%a)\n  %copy = f32[2,4]{0,1} copy(%bitcast)",
    ).replace("transpose(%reshape.1)", "transpose(%copy)")
    matching = match(read(RESHAPED), read(after))
    assert matching.partner_after(at("reshape.1")) == at("bitcast")
    assert [one.instruction for one in matching.added] == ["copy"]


def test_a_new_parameter_of_the_entry_is_one_of_the_module(read: Read) -> None:
    more = RESHAPED.replace("(a: f32[8])", "(a: f32[8], n: s32[])").replace(
        "  %reshape.1", "  %n = s32[] parameter(1)\n  %reshape.1"
    )
    said = match(read(RESHAPED), read(more)).pairing_after(at("n"))
    assert said is not None
    assert said.reason == "parameter 1 of the module"


def test_a_new_fusion_of_new_instructions_is_not_said_to_hold_known_ones(read: Read) -> None:
    body = """
%fused (p: f32[8]) -> f32[2,4] {
  %p = f32[8]{0} parameter(0)
  ROOT %bitcast.9 = f32[2,4]{1,0} bitcast(%p)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[2,4]) {
  %a = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%a)
  %fusion.9 = f32[2,4]{1,0} fusion(%sine.1), kind=kLoop, calls=%fused
  ROOT %out = (f32[8]{0}, f32[2,4]{1,0}) tuple(%sine.1, %fusion.9)
}
"""
    before = """
ENTRY %main (a: f32[8]) -> (f32[8]) {
  %a = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%a)
  ROOT %out = (f32[8]{0}) tuple(%sine.1)
}
"""
    pairing = match(read(before), read(body)).pairing_after(at("fusion.9"))
    assert pairing is not None
    assert pairing.grade is not Grade.EXACT
    assert pairing.reason == "gives a value to %out"


def test_a_second_reshape_of_a_value_beside_the_first_is_added_not_cloned(read: Read) -> None:
    before = """
ENTRY %main (a: f32[8]) -> (f32[2,4], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%a)
  %reshape.1 = f32[2,4]{1,0} reshape(%sine.1)
  %abs.1 = f32[8]{0} abs(%sine.1)
  ROOT %out = (f32[2,4]{1,0}, f32[8]{0}) tuple(%reshape.1, %abs.1)
}
"""
    new = """  %reshape.2 = f32[2,4]{1,0} reshape(%sine.1)
  %back = f32[8]{0} reshape(%reshape.2)
  %abs.1 = f32[8]{0} abs(%back)"""
    after = before.replace("  %abs.1 = f32[8]{0} abs(%sine.1)", new)
    matching = match(read(before), read(after))
    said = matching.pairing_after(at("reshape.2"))
    assert said is not None
    assert said.relation is Relation.ADDED


def test_what_a_call_is_given_is_used_by_the_call(read: Read) -> None:
    called = """
%called (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %tan = f32[8]{0} tan(%p)
  ROOT %sine = f32[8]{0} sine(%tan)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %call = f32[8]{0} call(%a), to_apply=%called
}
"""
    after = called.replace("  ROOT %call", "  %abs = f32[8]{0} abs(%a)\n  ROOT %call").replace(
        "call(%a)", "call(%abs)"
    )
    after = after.replace("called", "inlinable").replace("%tan", "%tan.2").replace("%p", "%p.2")
    pairing = match(read(called), read(after)).pairing_after(at("abs"))
    assert pairing is not None
    assert "%call" in pairing.reason


_APART = """
HloModule m

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %exp.1 = f32[8]{0} exponential(%a)
  ROOT %out = f32[8]{0} negate(%exp.1)
}
"""
_BETWEEN = _APART.replace(
    "  ROOT %out = f32[8]{0} negate(%exp.1)",
    "  %copy.1 = f32[8]{0} copy(%exp.1)\n  %abs.1 = f32[8]{0} abs(%copy.1)\n"
    "  ROOT %out = f32[8]{0} negate(%abs.1)",
)


def test_what_is_inserted_behind_an_unchanged_line_says_so(read: Read) -> None:
    after = _BETWEEN.replace("  %abs.1 = f32[8]{0} abs(%copy.1)\n", "").replace("%abs.1", "%copy.1")
    pairing = match(read(_APART), read(after)).pairing_after(Place("main", "copy.1"))
    assert pairing is not None
    assert pairing.reason == "inserted between %exp.1 and %out"


def test_what_is_inserted_in_a_chain_names_both_ends(read: Read) -> None:
    pairing = match(read(_APART), read(_BETWEEN)).pairing_after(Place("main", "copy.1"))
    assert pairing is not None
    assert pairing.reason == "inserted between %exp.1 and %out"


def test_what_a_new_operand_is_read_by_says_where_that_leads(read: Read) -> None:
    after = _BETWEEN.replace("abs(%copy.1)", "add(%copy.1, %more)").replace(
        "  %copy.1", "  %more = f32[8]{0} tanh(%a)\n  %copy.1"
    )
    pairing = match(read(_APART), read(after)).pairing_after(Place("main", "more"))
    assert pairing is not None
    assert pairing.reason == "an operand of the new %abs.1, which leads to %out"


def test_what_is_inserted_behind_an_element_names_the_element(read: Read) -> None:
    before = """
HloModule m

%body (p: (s32[], s32[])) -> (s32[], s32[]) {
  %p = (s32[], s32[]) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %m = s32[] get-tuple-element(%p), index=1
  %more = s32[] add(%n, %m)
  ROOT %out = (s32[], s32[]) tuple(%more, %m)
}

ENTRY %main (a: s32[]) -> s32[] {
  ROOT %a = s32[] parameter(0)
}
"""
    after = before.replace(
        "  %more = s32[] add(%n, %m)",
        "  %copy.1 = s32[] copy(%n)\n  %more = s32[] add(%copy.1, %m)",
    )
    pairing = match(read(before), read(after)).pairing_after(Place("body", "copy.1"))
    assert pairing is not None
    assert pairing.reason == "inserted between %n and %more"


_SCALED = """
HloModule m

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %half = f32[] constant(0.5)
  %halves = f32[8]{0} broadcast(%half), dimensions={}
  %scaled = f32[8]{0} multiply(%a, %halves)
  %x = f32[8]{0} sine(%scaled)
  %y = f32[8]{0} cosine(%scaled)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%x, %y)
}
"""
_FUSED_APART = _SCALED.replace(
    "ENTRY",
    """%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %half.1 = f32[] constant(0.5)
  %halves.1 = f32[8]{0} broadcast(%half.1), dimensions={}
  %scaled.1 = f32[8]{0} multiply(%p, %halves.1)
  ROOT %y.1 = f32[8]{0} cosine(%scaled.1)
}

ENTRY""",
).replace("%y = f32[8]{0} cosine(%scaled)", "%y = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused")


def test_constants_that_a_cloned_user_takes_along_are_clones(read: Read) -> None:
    matching = match(read(_SCALED), read(_FUSED_APART))
    for name, copy in (("half", "half.1"), ("halves", "halves.1"), ("scaled", "scaled.1")):
        pairing = matching.pairing_after(Place("fused", copy))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert Place("main", name) in pairing.before


def test_a_constant_of_another_value_beside_a_cloned_user_is_new(read: Read) -> None:
    other = _FUSED_APART.replace("%half.1 = f32[] constant(0.5)", "%half.1 = f32[] constant(0.25)")
    pairing = match(read(_SCALED), read(other)).pairing_after(Place("fused", "half.1"))
    assert pairing is None or pairing.relation is not Relation.CLONED


_ROWS = """
HloModule m

ENTRY %main (a: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %a = f32[4,8]{0,1} parameter(0)
  %rows.1 = f32[4,8]{1,0} copy(%a)
  %scaled.1 = f32[4,8]{1,0} sine(%rows.1)
  %x = f32[4,8]{1,0} tanh(%scaled.1)
  %y = f32[4,8]{1,0} cosine(%scaled.1)
  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%x, %y)
}
"""
_ROWS_FUSED_APART = _ROWS.replace(
    "ENTRY",
    """%fused (p: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8]{0,1} parameter(0)
  %rows.2 = f32[4,8]{1,0} copy(%p)
  %scaled.2 = f32[4,8]{1,0} sine(%rows.2)
  ROOT %y.1 = f32[4,8]{1,0} cosine(%scaled.2)
}

ENTRY""",
).replace("cosine(%scaled.1)", "fusion(%a), kind=kLoop, calls=%fused")


def test_a_copy_that_a_fusion_takes_along_with_its_reader_is_a_clone(read: Read) -> None:
    pairing = match(read(_ROWS), read(_ROWS_FUSED_APART)).pairing_after(Place("fused", "rows.2"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.before == (Place("main", "rows.1"),)


def test_a_copy_in_a_fusion_to_another_layout_is_no_clone(read: Read) -> None:
    other = _ROWS_FUSED_APART.replace("%rows.2 = f32[4,8]{1,0}", "%rows.2 = f32[4,8]{1,0:T(4,8)}")
    pairing = match(read(_ROWS), read(other)).pairing_after(Place("fused", "rows.2"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED


SUMMED = """
%sum (s: f32[], t: f32[]) -> f32[] {
  %s = f32[] parameter(0)
  %t = f32[] parameter(1)
  ROOT %u = f32[] add(%s, %t)
}

ENTRY %main (a: f32[8,12]) -> (f32[8,12], f32[8,12,1]) {
  %a = f32[8,12]{1,0} parameter(0)
  %sine.1 = f32[8,12]{1,0} sine(%a)
  %zero = f32[] constant(0)
  %sums.1 = f32[8,12]{1,0} reduce-window(%sine.1, %zero), window={size=1x12 pad=0_0x11_0}, \
to_apply=%sum
  %reshape.1 = f32[8,12,1]{2,1,0} reshape(%sums.1)
  %tanh.1 = f32[8,12,1]{2,1,0} tanh(%reshape.1)
  ROOT %out = (f32[8,12]{1,0}, f32[8,12,1]{2,1,0}) tuple(%sums.1, %tanh.1)
}
"""
SUMMED_AGAIN = SUMMED.replace(
    "  %reshape.1 = f32[8,12,1]{2,1,0} reshape(%sums.1)\n",
    """  %reshape.1 = f32[8,12,1]{2,1,0} reshape(%sums.1)
  %reshape.2 = f32[8,12,1]{2,1,0} reshape(%sine.1)
  %sums.1.clone = f32[8,12,1]{2,1,0} reduce-window(%reshape.2, %zero), \
window={size=1x12x1 pad=0_0x11_0x0_0}, to_apply=%sum
""",
).replace("tanh(%reshape.1)", "tanh(%sums.1.clone)")


def test_a_clone_in_another_shape_is_a_copy(read: Read) -> None:
    said = match(read(SUMMED), read(SUMMED_AGAIN)).pairing_after(at("sums.1.clone"))
    assert said is not None
    assert (said.relation, said.before) == (Relation.CLONED, (at("sums.1"),))


def test_a_clone_of_something_else_is_no_copy(read: Read) -> None:
    other = SUMMED_AGAIN.replace("reshape(%sine.1)", "reshape(%a)")
    said = match(read(SUMMED), read(other)).pairing_after(at("sums.1.clone"))
    assert said is not None
    assert said.relation is Relation.ADDED


PADDED = """
ENTRY %main (a: f32[2,16], b: f32[16,3]) -> (f32[2,16], f32[16,3]) {
  %a = f32[2,16]{1,0} parameter(0)
  %b = f32[16,3]{1,0} parameter(1)
  %less.1 = f32[2,16]{1,0} negate(%a), metadata={op_name="jit(f)/neg"}
  %exp.1 = f32[2,16]{1,0} exponential(%less.1), metadata={op_name="jit(f)/exp"}
  %less.1.clone = f32[16,3]{1,0} negate(%b), metadata={op_name="jit(f)/neg"}
  %exp.1.clone = f32[16,3]{1,0} exponential(%less.1.clone), metadata={op_name="jit(f)/exp"}
  ROOT %out = (f32[2,16]{1,0}, f32[16,3]{1,0}) tuple(%exp.1, %exp.1.clone)
}
"""


def test_a_clone_with_padding_is_a_copy_of_what_has_its_framework_op(read: Read) -> None:
    lines = PADDED.splitlines(keepends=True)
    before = "".join(line for line in lines if ".clone = " not in line)
    before = before.replace("%exp.1.clone)", "%b)")
    said = match(read(before), read(PADDED)).pairing_after(at("exp.1.clone"))
    assert said is not None
    assert (said.relation, said.before) == (Relation.CLONED, (at("exp.1"),))
    told = 'exponential(%less.1.clone), metadata={op_name="jit(f)/exp"}'
    unnamed = PADDED.replace(told, "exponential(%less.1.clone)")
    said = match(read(before), read(unnamed)).pairing_after(at("exp.1.clone"))
    assert said is not None
    assert said.relation is Relation.ADDED


LOOP = """
%cond (p: (s32[], f32[8])) -> pred[] {
  %p = (s32[], f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %four = s32[] constant(4)
  ROOT %less = pred[] compare(%n, %four), direction=LT
}

%body (q: (s32[], f32[8])) -> (s32[], f32[8]) {
  %q = (s32[], f32[8]{0}) parameter(0)
  %m = s32[] get-tuple-element(%q), index=0
  %x = f32[8]{0} get-tuple-element(%q), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%m, %one)
  ROOT %result = (s32[], f32[8]{0}) tuple(%next, %x)
}

ENTRY %main (a: f32[8]) -> (f32[8], s32[]) {
  %a = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %copy.74 = s32[] copy(%zero)
  %start = (s32[], f32[8]{0}) tuple(%zero, %a)
  %while.1 = (s32[], f32[8]{0}) while(%start), condition=%cond, body=%body
  %end = f32[8]{0} get-tuple-element(%while.1), index=1
  ROOT %out = (f32[8]{0}, s32[]) tuple(%end, %copy.74)
}
"""


def test_a_copy_for_the_start_of_a_loop_says_so(read: Read) -> None:
    """What `copy-insertion` does; another user reads the copy too."""
    after = (
        LOOP.replace("  %copy.74", "  %copy.171 = s32[] copy(%zero)\n  %copy.74")
        .replace("copy(%zero)\n  %start", "copy(%copy.171)\n  %start")
        .replace("tuple(%zero, %a)", "tuple(%copy.171, %a)")
    )
    said = match(read(LOOP), read(after)).pairing_after(at("copy.171"))
    assert said is not None
    assert (said.relation, said.reason) == (
        Relation.ADDED,
        "a copy of %zero for the start of %while.1 and 1 other user",
    )


_HELD = """
%held (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %t = f32[8]{0} tanh(%p)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%held
  ROOT %n = f32[8]{0} negate(%f)
}
"""
_HELD_TWICE = (
    _HELD.replace("-> f32[8] {\n  %p", "-> (f32[8], f32[8]) {\n  %p", 1)
    .replace("ROOT %t = f32[8]{0} tanh(%p)\n",
             "%t = f32[8]{0} tanh(%p)\n  %s = f32[8]{0} sine(%p)\n"
             "  ROOT %both = (f32[8]{0}, f32[8]{0}) tuple(%t, %s)\n")
    .replace("%f = f32[8]{0} fusion", "%f = (f32[8]{0}, f32[8]{0}) fusion")
    .replace("ROOT %n = f32[8]{0} negate(%f)", "%e = f32[8]{0} get-tuple-element(%f), index=1\n"
             "  %g = f32[8]{0} get-tuple-element(%f), index=0\n  ROOT %n = f32[8]{0} add(%g, %e)")
)  # fmt: skip


def test_a_new_root_is_the_result_of_its_computation(read: Read) -> None:
    pairing = match(read(_HELD), read(_HELD_TWICE)).pairing_after(Place("held", "both"))
    assert pairing is not None
    assert pairing.reason == "the result of %held"


def test_a_transpose_of_another_framework_op_is_new_beside_an_equal_one(read: Read) -> None:
    text = """
ENTRY %main (a: f32[4,8]) -> (f32[8,4], f32[8,4]) {
  %a = f32[4,8]{1,0} parameter(0)
  %t = f32[8,4]{0,1} transpose(%a), dimensions={1,0}, metadata={op_name="einsum"}
  %n = f32[8,4]{1,0} negate(%t)
  %u = f32[8,4]{1,0} transpose(%a), dimensions={1,0}, metadata={op_name="convert"}
  ROOT %out = (f32[8,4]{1,0}, f32[8,4]{1,0}) tuple(%n, %u)
}
"""
    before = "".join(line for line in text.splitlines(keepends=True) if "%u = " not in line)
    before = before.replace("tuple(%n, %u)", "tuple(%n, %n)")
    pairing = match(read(before), read(text)).pairing_after(at("u"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED
    same = match(read(before), read(text.replace('"convert"', '"einsum"'))).pairing_after(at("u"))
    assert same is not None
    assert same.relation is Relation.CLONED


_MASK = """
HloModule step
ENTRY %main (a: f32[4,4], b: f32[4,4]) -> (f32[4,4], f32[4,4]) {
  %a = f32[4,4]{1,0} parameter(0)
  %b = f32[4,4]{1,0} parameter(1)
  %rows = s32[4,4]{1,0} iota(), iota_dimension=0, metadata={op_name="jit(f)/eye"}
  %columns = s32[4,4]{1,0} iota(), iota_dimension=1, metadata={op_name="jit(f)/eye"}
  %eq.1 = pred[4,4]{1,0} compare(%rows, %columns), direction=EQ, metadata={op_name="jit(f)/eye"}
  %first = f32[4,4]{1,0} select(%eq.1, %a, %b), metadata={op_name="jit(f)/one"}
  %second = f32[4,4]{1,0} select(%eq.1, %b, %a), metadata={op_name="jit(f)/two"}
  ROOT %r = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%first, %second)
}
"""


@pytest.mark.parametrize(
    ("op_name", "relation"), [("jit(f)/eye", Relation.CLONED), ("jit(f)/tri", Relation.ADDED)]
)
def test_an_equal_constant_of_one_framework_op_is_a_copy(
    read: Read, op_name: str, relation: Relation
) -> None:
    copy = (
        "  %eq.2 = pred[4,4]{1,0} compare(%rows, %columns), direction=EQ, "
        f'metadata={{op_name="{op_name}"}}\n'
        "  %both = pred[4,4]{1,0} and(%eq.2, %eq.1)\n"
        "  %third = f32[4,4]{1,0} select(%both, %a, %b)\n  ROOT"
    )
    after = _MASK.replace("  ROOT", copy).replace("tuple(%first", "tuple(%third")
    pairing = match(read(_MASK), read(after)).pairing_after(Place("main", "eq.2"))
    assert pairing is not None
    assert pairing.relation is relation


def test_a_reshape_of_a_copied_constant_is_a_copy_too(read: Read) -> None:
    eye = """
  %rows = s32[4,4]{1,0} iota(), iota_dimension=0, metadata={op_name="jit(f)/eye"}
  %flat = s32[16]{0} reshape(%rows), metadata={op_name="jit(f)/eye"}
"""
    before = f"""
HloModule step
ENTRY %main (a: s32[16]) -> s32[16] {{
  %a = s32[16]{{0}} parameter(0)
{eye}  ROOT %sum = s32[16]{{0}} add(%a, %flat)
}}
"""
    copy = eye.replace("%rows", "%rows.2").replace("%flat", "%flat.2")
    product = (
        "  %more = s32[16]{0} multiply(%sum, %flat.2)\n  ROOT %all = s32[16]{0} negate(%more)\n}"
    )
    after = before.replace("  ROOT %sum", f"{copy}  %sum").replace("\n}", f"\n{product}")
    pairing = match(read(before), read(after)).pairing_after(at("flat.2"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED


def test_a_copied_iota_is_of_the_equal_iota_that_its_reader_read(read: Read) -> None:
    before = """
HloModule step
ENTRY %main (a: s32[8]) -> (s32[8], s32[8]) {
  %a = s32[8]{0} parameter(0)
  %other.0 = s32[8]{0} iota(), iota_dimension=0, metadata={op_name="jit(f)/split"}
  %less.0 = s32[8]{0} subtract(%other.0, %a)
  %first.0 = s32[8]{0} iota(), iota_dimension=0, metadata={op_name="jit(f)/split"}
  %twice.0 = s32[8]{0} multiply(%first.0, %first.0), metadata={op_name="jit(f)/twice"}
  %sum.0 = s32[8]{0} add(%twice.0, %a)
  ROOT %out = (s32[8]{0}, s32[8]{0}) tuple(%sum.0, %less.0)
}
"""
    fused = """
%held (b: s32[8]) -> s32[8] {
  %b = s32[8]{0} parameter(0)
  %first.1 = s32[8]{0} iota(), iota_dimension=0, metadata={op_name="jit(f)/split"}
  %twice.1 = s32[8]{0} multiply(%first.1, %first.1), metadata={op_name="jit(f)/twice"}
  ROOT %power.1 = s32[8]{0} power(%twice.1, %b)
}

ENTRY"""
    call = "%fusion = s32[8]{0} fusion(%a), kind=kLoop, calls=%held\n  ROOT"
    after = before.replace("ROOT", call).replace("ENTRY", fused, 1)
    after = after.replace("tuple(%sum.0", "tuple(%fusion").replace("add(%twice.0", "add(%first.0")
    pairing = match(read(before), read(after)).pairing_after(Place("held", "first.1"))
    assert pairing is not None
    assert at("first.0") in pairing.before


_UNFUSED = """
ENTRY %main (p: (f32[4,8], f32[4,8])) -> (f32[8,4], f32[4,8]) {
  %p = (f32[4,8]{0,1}, f32[4,8]{1,0}) parameter(0)
  %a = f32[4,8]{0,1} get-tuple-element(%p), index=0
  %b = f32[4,8]{1,0} get-tuple-element(%p), index=1
  %bitcast.1.0 = f32[8,4]{1,0} bitcast(%a)
  %sine.1.0 = f32[8,4]{1,0} sine(%bitcast.1.0)
  %transpose.1.0 = f32[4,8]{1,0} transpose(%bitcast.1.0), dimensions={1,0}
  %add.1.0 = f32[4,8]{1,0} add(%transpose.1.0, %b)
  ROOT %out = (f32[8,4]{1,0}, f32[4,8]{1,0}) tuple(%sine.1.0, %add.1.0)
}
"""
_FUSED_TOO = """
%fused_computation (param_0: f32[4,8], param_1: f32[4,8]) -> f32[4,8] {
  %param_0 = f32[4,8]{0,1} parameter(0)
  %bitcast.1.7 = f32[8,4]{1,0} bitcast(%param_0)
  %transpose.1.7 = f32[4,8]{1,0} transpose(%bitcast.1.7), dimensions={1,0}
  %param_1 = f32[4,8]{1,0} parameter(1)
  ROOT %add.1.1 = f32[4,8]{1,0} add(%transpose.1.7, %param_1)
}

ENTRY %main (p: (f32[4,8], f32[4,8])) -> (f32[8,4], f32[4,8]) {
  %p = (f32[4,8]{0,1}, f32[4,8]{1,0}) parameter(0)
  %a = f32[4,8]{0,1} get-tuple-element(%p), index=0
  %b = f32[4,8]{1,0} get-tuple-element(%p), index=1
  %bitcast.1.0 = f32[8,4]{1,0} bitcast(%a)
  %sine.1.0 = f32[8,4]{1,0} sine(%bitcast.1.0)
  %fusion = f32[4,8]{1,0} fusion(%a, %b), kind=kLoop, calls=%fused_computation
  ROOT %out = (f32[8,4]{1,0}, f32[4,8]{1,0}) tuple(%sine.1.0, %fusion)
}
"""


def test_a_fused_copy_of_a_move_that_stays_is_a_copy(read: Read) -> None:
    matching = match(read(_UNFUSED), read(_FUSED_TOO))
    pairing = matching.pairing_after(Place("fused_computation", "bitcast.1.7"))
    assert pairing is not None
    assert pairing.before == (Place("main", "bitcast.1.0"),)


def test_a_fill_in_the_place_of_a_moved_one_is_no_copy_of_a_third_that_is_equal(
    read: Read,
) -> None:
    before = """
ENTRY %main (a: f32[4], b: f32[1,4], c: f32[1,4]) -> (f32[4], f32[1,4], f32[1,4]) {
  %a = f32[4]{0} parameter(0)
  %b = f32[1,4]{1,0} parameter(1)
  %c = f32[1,4]{1,0} parameter(2)
  %one = f32[] constant(1)
  %flat = f32[4]{0} broadcast(%one), dimensions={}, metadata={op_name="body"}
  %wide = f32[1,4]{1,0} reshape(%flat), metadata={op_name="body"}
  %equal = f32[1,4]{1,0} broadcast(%one), dimensions={}, metadata={op_name="body"}
  %x = f32[4]{0} add(%a, %flat)
  %y = f32[1,4]{1,0} add(%b, %wide)
  %z = f32[1,4]{1,0} add(%c, %equal)
  ROOT %out = (f32[4]{0}, f32[1,4]{1,0}, f32[1,4]{1,0}) tuple(%x, %y, %z)
}
"""
    after = before.replace("%wide = f32[1,4]{1,0} reshape(%flat)", "%new = FILL").replace(
        "FILL", "f32[1,4]{1,0} broadcast(%one), dimensions={}"
    )
    matching = match(read(before), read(after.replace("%wide)", "%new)")))
    pairing = matching.pairing_after(at("new"))
    assert pairing is not None
    assert pairing.before == (at("flat"),)
    assert pairing.grade is Grade.MATCHED


_PLACES = """
%inner (x: s32[8]) -> s32[8] {
  %x = s32[8]{0} parameter(0)
  %iota.1 = s32[8]{0} iota(), iota_dimension=0, metadata={op_name="jit(f)/inner/iota"}
  ROOT %sum = s32[8]{0} add(%x, %iota.1)
}

ENTRY %main (a: s32[8]) -> (s32[8], s32[8]) {
  %a = s32[8]{0} parameter(0)
  %call = s32[8]{0} call(%a), to_apply=%inner
  %iota.2 = s32[8]{0} iota(), iota_dimension=0, metadata={op_name="jit(f)/outer/iota"}
  ROOT %out = (s32[8], s32[8]) tuple(%call, %iota.2)
}
"""


def test_a_copy_is_of_the_equal_instruction_beside_it_not_of_one_elsewhere(read: Read) -> None:
    op = 'metadata={op_name="jit(f)/inner/iota"}'
    again = f"  %iota.3 = s32[8]{{0}} iota(), iota_dimension=0, {op}\n"
    further = "  %both = s32[8]{0} maximum(%sum, %iota.3)\n  ROOT %most = s32[8]{0} abs(%both)"
    after = _PLACES.replace("  ROOT %sum", f"{again}  %sum")
    after = after.replace("add(%x, %iota.1)", f"add(%x, %iota.1)\n{further}")
    after = after.replace("iota_dimension=0,", "iota_dimension=0, sharding={replicated},")
    pairing = match(read(_PLACES), read(after)).pairing_after(Place("inner", "iota.3"))
    assert pairing is not None
    assert pairing.before == (Place("inner", "iota.1"),)


_ALONE = """
%rows (p.1: f32[8]) -> f32[8] {
  %p.1 = f32[8]{0} parameter(0)
  ROOT %wave.1 = f32[8]{0} sine(%p.1)
}

%held (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %rows.1 = f32[8]{0} fusion(%p), kind=kCustom, calls=%rows
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %start = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%a), calls=%held
  ROOT %done = f32[8]{0} async-done(%start)
}
"""
_WRAPPED = _ALONE.replace(
    "  ROOT %rows.1 = f32[8]{0} fusion(%p), kind=kCustom, calls=%rows\n",
    "  %start.1 = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%p), calls=%async\n"
    "  ROOT %done.1 = f32[8]{0} async-done(%start.1)\n",
).replace(
    "%held (p",
    """%called (p.2: f32[8]) -> f32[8] {
  %p.2 = f32[8]{0} parameter(0)
  ROOT %rows.2 = f32[8]{0} fusion(%p.2), kind=kCustom, calls=%rows
}

%async (p.3: f32[8]) -> f32[8] {
  %p.3 = f32[8]{0} parameter(0)
  ROOT %call.1 = f32[8]{0} call(%p.3), to_apply=%called
}

%held (p""",
)


def test_parameters_of_what_a_new_start_calls_are_those_of_a_call(read: Read) -> None:
    """They are told with the start, as those of new fusions and calls are told with these."""
    matching = match(read(_ALONE), read(_WRAPPED))
    for name, parameter, reason in (
        ("async", "p.3", "parameter 0 of %start.1"),
        ("called", "p.2", "parameter 0 of %call.1"),
    ):
        pairing = matching.pairing_after(Place(name, parameter))
        assert pairing is not None
        assert (str(pairing.reason), pairing.cause) == (reason, ChangeCause.PARAMETER)


def test_a_broadcast_for_another_framework_op_is_no_copy_of_the_equal_one(read: Read) -> None:
    """What a matmul became has broadcasts of its own, equal to those of other work."""
    before = """
ENTRY %main (a: f32[8], b: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %wide.1 = f32[8,8]{1,0} broadcast(%a), dimensions={0}, metadata={op_name="jit(f)/back/mul"}
  %left = f32[8,8]{1,0} multiply(%wide.1, %b), metadata={op_name="jit(f)/back/mul"}
  ROOT %out = (f32[8,8], f32[8,8]) tuple(%left, %b)
}
"""
    op = 'metadata={op_name="jit(f)/ahead/dot"}'
    lines = (
        f"  %wide.2 = f32[8,8]{{1,0}} broadcast(%a), dimensions={{0}}, {op}\n"
        f"  %right = f32[8,8]{{1,0}} add(%wide.2, %b), {op}\n"
    )
    after = before.replace("  ROOT", f"{lines}  ROOT").replace(
        "tuple(%left, %b)", "tuple(%left, %right)"
    )
    place = Place("main", "wide.2")
    pairing = match(read(before), read(after)).pairing_after(place)
    assert pairing is not None
    assert pairing.relation is Relation.ADDED
    same = after.replace("jit(f)/ahead/dot", "jit(f)/back/mul")
    pairing = match(read(before), read(same)).pairing_after(place)
    assert pairing is not None
    assert pairing.relation is Relation.CLONED


_DIVIDED = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %two = f32[] constant(2)
  %by = f32[8]{0} broadcast(%two), dimensions={}
  %half = f32[8]{0} divide(%a, %by)
  %sine = f32[8]{0} sine(%half)
  %sum = f32[8]{0} add(%half, %b)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%sine, %sum)
}
"""
_MULTIPLIED_TWICE = """
%first (p.1: f32[8]) -> f32[8] {
  %p.1 = f32[8]{0} parameter(0)
  %c.1 = f32[] constant(0.5)
  %w.1 = f32[8]{0} broadcast(%c.1), dimensions={}
  %m.1 = f32[8]{0} multiply(%p.1, %w.1)
  ROOT %sine.1 = f32[8]{0} sine(%m.1)
}

%second (p.2: f32[8], q.2: f32[8]) -> f32[8] {
  %p.2 = f32[8]{0} parameter(0)
  %q.2 = f32[8]{0} parameter(1)
  %c.2 = f32[] constant(0.5)
  %w.2 = f32[8]{0} broadcast(%c.2), dimensions={}
  %m.2 = f32[8]{0} multiply(%p.2, %w.2)
  ROOT %sum.2 = f32[8]{0} add(%m.2, %q.2)
}

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%first
  %f.2 = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%second
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%f.1, %f.2)
}
"""


def test_a_further_copy_of_what_was_rewritten_is_a_copy(read: Read) -> None:
    pairing = match(read(_DIVIDED), read(_MULTIPLIED_TWICE)).pairing_before(at("half"))
    assert pairing is not None
    assert {*pairing.after} == {Place("first", "m.1"), Place("second", "m.2")}
