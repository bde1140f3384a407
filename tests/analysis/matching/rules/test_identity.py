import re
from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules import identity
from xlareport.analysis.matching.rules.identity import moved_name
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_ORIGIN = 'metadata={op_name="f"}'


def module(opcode: str, size: int) -> str:
    """Return the text of a module with two instructions of an opcode and one op_name."""
    shape = f"f32[{size},{size}]{{1,0}}"
    operands, dimensions = "%x", ""
    if opcode == "dot":
        operands, dimensions = "%x, %x", ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    lines = "\n  ".join(
        f"%{opcode}.{size}{number} = {shape} {opcode}({operands}){dimensions}, {_ORIGIN}"
        for number in range(2)
    )
    return f"""
HloModule step
ENTRY %main (x: {shape}) -> {shape} {{
  %x = {shape} parameter(0)
  {lines}
  ROOT %sum.{size} = {shape} add(%{opcode}.{size}0, %{opcode}.{size}1)
}}
"""


def grades(read: Read, opcode: str) -> list[str]:
    search = start(read(module(opcode, 8)), read(module(opcode, 4)))
    identity.same_operation(search)
    return [link.grade.value for link in search.links]


def test_light_instructions_of_one_framework_op_are_paired_in_order_as_a_guess(read: Read) -> None:
    assert grades(read, "tanh") == ["guessed", "guessed"]


def test_order_pairs_no_heavy_instructions_of_one_framework_op(read: Read) -> None:
    assert grades(read, "dot") == []


def test_a_division_by_a_constant_goes_on_as_the_multiplication_by_its_inverse(read: Read) -> None:
    head = "HloModule m\nENTRY %main (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
    before = read(
        head + "  %b = f32[] parameter(1)\n  %s = f32[] sine(%a)\n  %four = f32[] constant(7)\n"
        "  %div = f32[] divide(%s, %four)\n  %yes = pred[] constant(true)\n"
        "  %pick = f32[] select(%yes, %div, %b)\n  ROOT %out = f32[] add(%pick, %b)\n}\n"
    )
    after = read(
        head + "  %b = f32[] parameter(1)\n  %s = f32[] sine(%a)\n"
        "  %part = f32[] constant(0.142857149)\n"
        "  %multiply.9 = f32[] multiply(%s, %part)\n  ROOT %out = f32[] add(%multiply.9, %b)\n}\n"
    )
    place = match(before, after).partner_after(Place("main", "div"))
    assert place == Place("main", "multiply.9")


def test_what_only_fills_does_not_go_on_as_arithmetic(read: Read) -> None:
    head = "HloModule m\nENTRY %main (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n"
    before = read(
        head + "  %c = f32[] constant(3)\n  %wide = f32[8]{0} broadcast(%c), dimensions={}\n"
        "  ROOT %out = f32[8]{0} add(%wide, %a)\n}\n"
    )
    after = read(
        head + "  %sine.1 = f32[8]{0} sine(%a)\n  ROOT %out = f32[8]{0} add(%sine.1, %a)\n}\n"
    )
    assert match(before, after).partner_after(Place("main", "wide")) is None


def test_what_is_made_of_constants_says_nothing_where_a_partitioner_divided_shapes(
    read: Read,
) -> None:
    """The wide one has the shape that the narrow one had: both are half of a constant."""

    def program(narrow: int, wide: int, tail: str) -> HloModule:
        def part(size: int, name: str) -> str:
            shape = f"f32[{size}]{{0}}"
            return (
                f"  %all.{name}.{tail} = {shape} broadcast(%one.{tail}), dimensions={{}},"
                f" {_ORIGIN}\n"
                f"  %twice.{name}.{tail} = {shape} negate(%all.{name}.{tail}), {_ORIGIN}\n"
                f"  %sum.{name}.{tail} = {shape} add(%{name}, %twice.{name}.{tail}), {_ORIGIN}\n"
            )

        shapes = f"f32[{narrow}]{{0}}, f32[{wide}]{{0}}"
        return read(
            f"HloModule m\nENTRY %main (n: f32[{narrow}], w: f32[{wide}]) -> ({shapes}) {{\n"
            f"  %n = f32[{narrow}]{{0}} parameter(0)\n  %w = f32[{wide}]{{0}} parameter(1)\n"
            f"  %one.{tail} = f32[] constant(0.5)\n{part(narrow, 'n')}{part(wide, 'w')}"
            f"  ROOT %out = ({shapes}) tuple(%sum.n.{tail}, %sum.w.{tail})\n}}\n"
        )

    matching = match(program(32, 64, "before"), program(16, 32, "after"))
    for name in ("n", "w"):
        for part in ("twice", "sum"):
            place = matching.partner_after(Place("main", f"{part}.{name}.before"))
            assert place == Place("main", f"{part}.{name}.after")


IN_LOOP = """
%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %element.1 = f32[8]{0} get-tuple-element(%p), index=1
  %more = s32[] negate(%n)
  ROOT %out = (s32[], f32[8]{0}) tuple(%more, %element.1)
}

%condition (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %m = s32[] get-tuple-element(%q), index=0
  ROOT %less = pred[] compare(%m, %m), direction=LT
}

ENTRY %main (a: s32[], b: f32[8]) -> f32[8] {
  %a = s32[] parameter(0)
  %b = f32[8]{0} parameter(1)
  %in = (s32[], f32[8]{0}) tuple(%a, %b)
  %while = (s32[], f32[8]{0}) while(%in), condition=%condition, body=%body
  ROOT %result = f32[8]{0} get-tuple-element(%while), index=1
}
"""


def test_an_element_of_a_loop_does_not_move_out_of_it(read: Read) -> None:
    after = IN_LOOP.replace("  %element.1 = f32[8]{0} get-tuple-element(%p), index=1\n", "")
    after = after.replace("(%more, %element.1)", "(%more)").replace("(s32[], f32[8]{0})", "(s32[])")
    after = after.replace("(s32[], f32[8])", "(s32[])").replace(
        "  ROOT %result = f32[8]{0} get-tuple-element(%while), index=1",
        "  %held = (s32[], f32[8]{0}) tuple(%a, %b)\n"
        "  %element.7 = f32[8]{0} get-tuple-element(%held), index=1\n"
        "  ROOT %result = f32[8]{0} copy(%element.7)",
    )
    after = after.replace("tuple(%a, %b)\n  %while", "tuple(%a)\n  %while")
    matching = match(read(IN_LOOP), read(after))
    assert matching.partner_after(Place("body", "element.1")) is None


TWO_CONVERTS = """
ENTRY %main (a: f32[2,8], b: f32[16], c: bf16[2,2,4]) -> (f32[16], f32[16], bf16[16]) {
  %a = f32[2,8]{1,0} parameter(0)
  %b = f32[16]{0} parameter(1)
  %c = bf16[2,2,4]{2,1,0} parameter(2)
  LINES
  %back.1 = f32[16]{0} convert(%ONE)
  %last = f32[16]{0} convert(%TWO)
  ROOT %out = (f32[16]{0}, f32[16]{0}, bf16[16]{0}) tuple(%back.1, %last, %ONE)
}
"""
LATER = (
    TWO_CONVERTS.replace("ONE", "convert.200")
    .replace("TWO", "flat")
    .replace(
        "LINES",
        "%reshape.32 = f32[16]{0} reshape(%a)\n  %convert.200 = bf16[16]{0} convert(%reshape.32)\n"
        "  %wide = f32[2,8]{1,0} reshape(%b)\n  %convert.323 = bf16[2,8]{1,0} convert(%wide)\n"
        "  %flat = bf16[16]{0} reshape(%convert.323)",
    )
)
EARLIER = (
    TWO_CONVERTS.replace("ONE", "reshape.188")
    .replace("TWO", "convert.613")
    .replace(
        "LINES",
        "%convert.602 = bf16[2,8]{1,0} convert(%a)\n"
        "  %reshape.188 = bf16[16]{0} reshape(%convert.602)\n"
        "  %convert.613 = bf16[16]{0} convert(%b)",
    )
)


def test_a_stem_and_a_shape_alone_say_nothing_in_one_computation(read: Read) -> None:
    matching = match(read(LATER), read(EARLIER))
    assert matching.partner_after(Place("main", "convert.200")) == Place("main", "convert.602")
    assert matching.partner_after(Place("main", "convert.323")) != Place("main", "convert.602")


_MOVED_APART = """
HloModule m

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8,1], f32[1,8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %cos = f32[8]{0} cosine(%b)
  LINES
  ROOT %out = (f32[8,1]{1,0}, f32[1,8]{1,0}) tuple(%x, %y)
}
"""
_META = ', metadata={op_name="jit(f)/while/body/broadcast_in_dim"}'


def test_moves_of_other_values_for_other_users_are_not_the_same(read: Read) -> None:
    """A framework op has many moves; that one of them is left on either side says nothing."""
    before = _MOVED_APART.replace(
        "LINES",
        f"%r.1 = f32[8,1]{{1,0}} reshape(%a){_META}\n  %x = f32[8,1]{{1,0}} sine(%r.1)\n"
        "  %y = f32[1,8]{1,0} broadcast(%cos), dimensions={1}",
    )
    after = _MOVED_APART.replace(
        "LINES",
        "%x = f32[8,1]{1,0} broadcast(%a), dimensions={0}\n"
        f"  %r.9 = f32[1,8]{{1,0}} reshape(%cos){_META}\n  %y = f32[1,8]{{1,0}} tan(%r.9)",
    )
    assert match(read(before), read(after)).partner_after(Place("main", "r.1")) != Place(
        "main", "r.9"
    )


FILLED = """
%one (p.1: f32[4]) -> f32[4] {{
  %p.1 = f32[4] parameter(0)
  %c.1 = f32[] constant(0)
  %b.1 = f32[4] broadcast(%c.1), dimensions={{}}, metadata={{op_name="fill"}}
  ROOT %r.1 = f32[4] {code}(%p.1, %b.1)
}}

%two (p.2: f32[4]) -> f32[4] {{
  %p.2 = f32[4] parameter(0)
  %c.2 = f32[] constant(0)
  %b.2 = f32[4] broadcast(%c.2), dimensions={{}}, metadata={{op_name="fill"}}
  ROOT %r.2 = f32[4] {code}(%p.2, %b.2)
}}

ENTRY %main (a: f32[4], b: f32[4]) -> (f32[4], f32[4]) {{
  %a = f32[4] parameter(0)
  %b = f32[4] parameter(1)
  %x = f32[4] fusion(%a), kind=kLoop, calls=%one
  %y = f32[4] fusion(%b), kind=kLoop, calls=%two
  ROOT %t = (f32[4], f32[4]) tuple(%x, %y)
}}
"""


def test_constants_of_different_fusions_are_not_paired_by_their_order(read: Read) -> None:
    old = FILLED.format(code="add")
    new = re.sub(r"%(one|two|[cbrxy])\b", r"%new_\1", FILLED.format(code="multiply"))
    new = new.replace("f32[4]", "f32[8]")
    search = start(read(old), read(new))
    search.evaluate()
    identity.same_operation(search)
    assert not [link for link in search.links if link.before.instruction.opcode == "broadcast"]


SHIFTS = """
ENTRY %main (x: u32[4]) -> u32[4] {
  %x = u32[4] parameter(0)
  %c.0 = u32[] constant(13)
  %b.0 = u32[4] broadcast(%c.0), dimensions={}
  %c.1 = u32[] constant(19)
  %b.1 = u32[4] broadcast(%c.1), dimensions={}
  %left.0 = u32[4] shift-left(%x, %b.0)
  %right.0 = u32[4] shift-right-logical(%x, %b.1)
  %or.0 = u32[4] or(%left.0, %right.0)
  %left.1 = u32[4] shift-left(%or.0, %b.0)
  %right.1 = u32[4] shift-right-logical(%or.0, %b.1)
  ROOT %or.1 = u32[4] or(%left.1, %right.1)
}
"""
NUMBERED_ANEW = """
ENTRY %main (x: u32[4]) -> u32[4] {
  %x = u32[4] parameter(0)
  %c.0 = u32[] constant(6)
  %b.0 = u32[4] broadcast(%c.0), dimensions={}
  %or.0 = u32[4] or(%x, %b.0)
  %c.1 = u32[] constant(13)
  %b.1 = u32[4] broadcast(%c.1), dimensions={}
  %c.2 = u32[] constant(19)
  %b.2 = u32[4] broadcast(%c.2), dimensions={}
  %left.0 = u32[4] shift-left(%or.0, %b.1)
  %right.0 = u32[4] shift-right-logical(%or.0, %b.2)
  %or.1 = u32[4] or(%left.0, %right.0)
  %left.1 = u32[4] shift-left(%or.1, %b.1)
  %right.1 = u32[4] shift-right-logical(%or.1, %b.2)
  ROOT %or.2 = u32[4] or(%left.1, %right.1)
}
"""


def test_names_that_a_pass_numbered_anew_pair_no_other_values(read: Read) -> None:
    matching = match(read(SHIFTS), read(NUMBERED_ANEW))
    for old, new in (("c", "c"), ("b", "b"), ("or", "or")):
        for number in range(2):
            place = Place("main", f"{old}.{number}")
            assert matching.partner_after(place) == Place("main", f"{new}.{number + 1}")
    assert {place.instruction for place in matching.added} == {"c.0", "b.0", "or.0"}


_TAKEN_TWICE = """
%body (p: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %p = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %u = f32[8]{0} get-tuple-element(%p), index=1
  %v = f32[8]{0} get-tuple-element(%p), index=2
  %w = f32[8]{0} add(%u, %v)
  ROOT %t = (s32[], f32[8]{0}, f32[8]{0}) tuple(%i, %w, %v)
}

%condition (q: (s32[], f32[8], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: f32[8], n: s32[]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %n = s32[] parameter(1)
  %in = (s32[], f32[8]{0}, f32[8]{0}) tuple(%n, %a, %a)
  %while.1 = (s32[], f32[8]{0}, f32[8]{0}) while(%in), condition=%condition, body=%body
  %first.1 = f32[8]{0} get-tuple-element(%while.1), index=1
  %first.2 = f32[8]{0} get-tuple-element(%while.1), index=2
  %again = (f32[8]{0}, f32[8]{0}) tuple(%first.1, %first.2)
  %kept.1 = f32[8]{0} get-tuple-element(%again), index=0, metadata={op_name="jit(f)/while"}
  %kept.2 = f32[8]{0} get-tuple-element(%again), index=1, metadata={op_name="jit(f)/while"}
  %tanh = f32[8]{0} tanh(%kept.1)
  %sine = f32[8]{0} sine(%kept.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%tanh, %sine)
}
"""


def test_elements_that_are_read_past_a_tuple_keep_their_names(read: Read) -> None:
    gone = ("  %first.1 =", "  %first.2 =", "  %again =")
    lines = [line for line in _TAKEN_TWICE.splitlines() if not line.startswith(gone)]
    after = "\n".join(lines).replace(
        "get-tuple-element(%again), index=1", "get-tuple-element(%while.1), index=2"
    )
    after = after.replace(
        "get-tuple-element(%again), index=0", "get-tuple-element(%while.1), index=1"
    )
    matching = match(read(_TAKEN_TWICE), read(after))
    for name in ("kept.1", "kept.2"):
        assert matching.partner_after(Place("main", name)) == Place("main", name)
    assert {place.instruction for place in matching.removed} == {"again"}
    for name in ("1", "2"):
        held = matching.pairing_before(Place("main", f"first.{name}"))
        assert held is not None
        assert held.after == (Place("main", f"kept.{name}"),)


_CHAIN_OF_MOVES = """
ENTRY %main (a: f32[16,16]) -> (f32[16,1,16], f32[16,16]) {
  %a = f32[16,16]{1,0} parameter(0)
  %difference = f32[16,16]{1,0} negate(%a)
  %bitcast.1 = f32[16,1,16]{2,0,1} bitcast(%difference), metadata={op_name="jit(f)/sub"}
  %bitcast.2 = f32[1,16,16]{2,1,0} bitcast(%bitcast.1)
  %bitcast.3 = f32[16,1,16]{2,1,0} bitcast(%bitcast.2), metadata={op_name="jit(f)/while"}
  %tanh = f32[16,1,16]{2,1,0} tanh(%bitcast.3)
  ROOT %out = (f32[16,1,16]{2,1,0}, f32[16,16]{1,0}) tuple(%tanh, %difference)
}
"""


@pytest.mark.parametrize(
    "last", ["bitcast(%bitcast.2)", "transpose(%bitcast.2), dimensions={1,0,2}"]
)
def test_of_a_chain_of_moves_the_one_of_the_same_framework_op_goes_on(
    read: Read, last: str
) -> None:
    before = _CHAIN_OF_MOVES.replace("bitcast(%bitcast.2)", last)
    lines = [line for line in before.splitlines() if not line.startswith("  %bitcast.")]
    after = (
        "\n".join(lines)
        .replace(
            "  %tanh =",
            "  %bitcast.9 = f32[16,1,16]{2,1,0} bitcast(%difference), "
            'metadata={op_name="jit(f)/while"}\n'
            "  %tanh =",
        )
        .replace("%bitcast.3", "%bitcast.9")
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "bitcast.3")) == Place("main", "bitcast.9")
    assert {place.instruction for place in matching.removed} == {"bitcast.1", "bitcast.2"}


def test_a_buffer_that_a_partner_reads_is_no_duplicate(read: Read) -> None:
    text = """
ENTRY %main (a: u32[8]) -> u32[8] {
  %a = u32[8] parameter(0)
  %first = u32[8] custom-call(), custom_call_target="AllocateBuffer"
  %second = u32[8] custom-call(), custom_call_target="AllocateBuffer"
  %sum = u32[8] add(%first, %a)
  ROOT %out = u32[8] add(%sum, %second)
}
"""
    anew = text.replace("first", "first.7").replace("second", "second.7").replace("%sum", "%sum.7")
    search = start(read(text), read(anew))
    old = {node.instruction.name: node for node in search.before.nodes}
    new = {node.instruction.name: node for node in search.after.nodes}
    search.link(old["sum"], new["sum.7"], Grade.MATCHED, "")
    identity.same_leaf_read(search)
    assert old["first"].partner is new["first.7"]
    assert old["second"].partner is None


_TWO_LOOPS = """
%first (p: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8] parameter(0)
  %wide.1 = f32[1,4,8] reshape(%p)
  %convert.1 = bf16[1,4,8] convert(%wide.1)
  ROOT %out.1 = f32[4,8] custom-call(%convert.1), custom_call_target="one"
}

%second (q: f32[1,4,8]) -> f32[4,8] {
  %q = f32[1,4,8] parameter(0)
  %flat.2 = f32[4,8] reshape(%q)
  %convert.2 = bf16[4,8] convert(%flat.2)
  ROOT %out.2 = f32[4,8] custom-call(%convert.2), custom_call_target="two"
}

ENTRY %main (a: f32[4,8], b: f32[1,4,8]) -> f32[4,8] {
  %a = f32[4,8] parameter(0)
  %b = f32[1,4,8] parameter(1)
  %c = f32[4,8] call(%a), to_apply=%first
  %d = f32[4,8] call(%b), to_apply=%second
  ROOT %e = f32[4,8] add(%c, %d)
}
"""


def test_the_opcode_as_name_does_not_pair_across_computations(read: Read) -> None:
    after = (
        _TWO_LOOPS.replace(
            "  %wide.1 = f32[1,4,8] reshape(%p)\n  %convert.1 = bf16[1,4,8] convert(%wide.1)\n",
            "  %convert.3 = bf16[4,8] convert(%p)\n  %wide.3 = bf16[1,4,8] reshape(%convert.3)\n",
        )
        .replace("(%convert.1)", "(%wide.3)")
        .replace(
            "  %flat.2 = f32[4,8] reshape(%q)\n  %convert.2 = bf16[4,8] convert(%flat.2)\n",
            "  %convert.4 = bf16[1,4,8] convert(%q)\n  %flat.4 = bf16[4,8] reshape(%convert.4)\n",
        )
        .replace("(%convert.2)", "(%flat.4)")
    )
    matching = match(read(_TWO_LOOPS), read(after))
    assert matching.partner_after(Place("first", "convert.1")) == Place("first", "convert.3")
    assert matching.partner_after(Place("second", "convert.2")) == Place("second", "convert.4")


def test_of_equal_fills_the_one_that_the_reader_of_another_reads_is_no_continuation(
    read: Read,
) -> None:
    marked = 'metadata={op_name="jit(f)/OP"}'
    before = f"""
ENTRY %main (a: s32[2,8], b: s32[2,8,1]) -> (s32[2,8], s32[2,8,1]) {{
  %a = s32[2,8] parameter(0)
  %b = s32[2,8,1] parameter(1)
  %most = s32[] constant(127)
  %fill.1 = s32[2,8,1] broadcast(%most), dimensions={{}}, {marked.replace("OP", "gather")}
  %flat.1 = s32[2,8] reshape(%fill.1), {marked.replace("OP", "gather")}
  %fill.2 = s32[2,8,1,1] broadcast(%most), dimensions={{}}, {marked.replace("OP", "le")}
  %flat.2 = s32[2,8,1] reshape(%fill.2), {marked.replace("OP", "le")}
  %least = s32[2,8] minimum(%a, %flat.1)
  %less = s32[2,8,1] minimum(%b, %flat.2)
  ROOT %out = (s32[2,8], s32[2,8,1]) tuple(%least, %less)
}}
"""
    lines = [line for line in before.splitlines() if not re.match("  %(fill|flat)", line)]
    new = [
        f"  %new.{n} = {shape} broadcast(%most), dimensions={{}}, {marked.replace('OP', op)}"
        for n, shape, op in (("1", "s32[2,8]", "gather"), ("2", "s32[2,8,1]", "le"))
    ]
    lines[5:5] = new
    after = "\n".join(lines).replace("%flat.", "%new.")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "fill.1")) == Place("main", "new.1")
    assert matching.partner_after(Place("main", "fill.2")) == Place("main", "new.2")


_CARRIED = """
%body.1 (p: (f32[8], f32[8], f32[8])) -> (f32[8], f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  %x.1 = f32[8]{0} get-tuple-element(%p), index=0
  %y.1 = f32[8]{0} get-tuple-element(%p), index=1
  %z.1 = f32[8]{0} get-tuple-element(%p), index=2
  %pair.1 = (f32[8]{0}, f32[8]{0}) tuple(%y.1, %z.1)
  %barrier.1 = (f32[8]{0}, f32[8]{0}) opt-barrier(%pair.1)
  %sine.1 = f32[8]{0} sine(%x.1)
  %kept.1 = f32[8]{0} get-tuple-element(%barrier.1), index=0
  %sum.1 = f32[8]{0} add(%sine.1, %kept.1)
  ROOT %t.1 = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%x.1, %y.1, %sum.1)
}

%cond.1 (q: (f32[8], f32[8], f32[8])) -> pred[] {
  %q = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %start.1 = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%a, %a, %a)
  %while.1 = (f32[8]{0}, f32[8]{0}, f32[8]{0}) while(%start.1), condition=%cond.1, body=%body.1
  ROOT %out = f32[8]{0} get-tuple-element(%while.1), index=2
}
"""
_CARRIED_ONCE = """
%body.2 (p: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p.2 = (f32[8]{0}, f32[8]{0}) parameter(0)
  %y.2 = f32[8]{0} get-tuple-element(%p.2), index=0
  %z.2 = f32[8]{0} get-tuple-element(%p.2), index=1
  %pair.2 = (f32[8]{0}, f32[8]{0}) tuple(%y.2, %z.2)
  %barrier.2 = (f32[8]{0}, f32[8]{0}) opt-barrier(%pair.2)
  %x.2 = f32[8]{0} get-tuple-element(%p.2), index=0
  %sine.2 = f32[8]{0} sine(%x.2)
  %kept.2 = f32[8]{0} get-tuple-element(%barrier.2), index=0
  %sum.2 = f32[8]{0} add(%sine.2, %kept.2)
  ROOT %t.2 = (f32[8]{0}, f32[8]{0}) tuple(%x.2, %sum.2)
}

%cond.2 (q: (f32[8], f32[8])) -> pred[] {
  %q = (f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %start.2 = (f32[8]{0}, f32[8]{0}) tuple(%a, %a)
  %while.2 = (f32[8]{0}, f32[8]{0}) while(%start.2), condition=%cond.2, body=%body.2
  ROOT %out = f32[8]{0} get-tuple-element(%while.2), index=1
}
"""


def test_of_two_equal_elements_each_goes_on_where_its_reader_reads_it(read: Read) -> None:
    matching = match(read(_CARRIED), read(_CARRIED_ONCE))
    for name in ("x", "y", "z"):
        place = matching.partner_after(Place("body.1", f"{name}.1"))
        assert place == Place("body.2", f"{name}.2")


_THROUGH_A_TUPLE = """
%body (p: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  ROOT %p = (f32[8]{0}, f32[8]{0}) parameter(0)
}

%cond (q: (f32[8], f32[8])) -> pred[] {
  %q = (f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %start = (f32[8]{0}, f32[8]{0}) tuple(%a, %a)
  %while.1 = (f32[8]{0}, f32[8]{0}) while(%start), condition=%cond, body=%body
LINES  ROOT %out = f32[8]{0} sine(%end.1)
}
"""
_OP = ', metadata={op_name="jit(f)/while"}'


def test_what_is_read_directly_is_what_was_read_through_a_tuple(read: Read) -> None:
    before = _THROUGH_A_TUPLE.replace(
        "LINES",
        "  %first.1 = f32[8]{0} get-tuple-element(%while.1), index=0\n"
        "  %second.1 = f32[8]{0} get-tuple-element(%while.1), index=1\n"
        "  %both.1 = (f32[8]{0}, f32[8]{0}) tuple(%first.1, %second.1)\n"
        f"  %end.1 = f32[8]{{0}} get-tuple-element(%both.1), index=0{_OP}\n",
    )
    after = _THROUGH_A_TUPLE.replace(
        "LINES", f"  %end.2 = f32[8]{{0}} get-tuple-element(%while.1), index=0{_OP}\n"
    ).replace("sine(%end.1)", "sine(%end.2)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "end.1")) == Place("main", "end.2")


def test_what_is_read_through_a_new_tuple_is_what_was_read_directly(read: Read) -> None:
    before = _THROUGH_A_TUPLE.replace(
        "LINES", f"  %end.2 = f32[8]{{0}} get-tuple-element(%while.1), index=0{_OP}\n"
    ).replace("sine(%end.1)", "sine(%end.2)")
    after = _THROUGH_A_TUPLE.replace(
        "LINES",
        "  %first.1 = f32[8]{0} get-tuple-element(%while.1), index=0\n"
        "  %second.1 = f32[8]{0} get-tuple-element(%while.1), index=1\n"
        "  %both.1 = (f32[8]{0}, f32[8]{0}) tuple(%first.1, %second.1)\n"
        f"  %end.1 = f32[8]{{0}} get-tuple-element(%both.1), index=0{_OP}\n",
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "end.2")) == Place("main", "end.1")


_SMALLER_LOOP = """
%bodyMARK (p: TYPES) -> TYPES {
  %p = TYPES parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
PASSED  %more = s32[] add(%n, %n)
  %y = f32[8]{0} sine(%x)
  ROOT %tMARK = TYPES tuple(%more, %yTHIRD)OF_BODY
}

%condMARK (q: TYPES) -> pred[] {
  %q = TYPES parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: f32[8], i: s32[], z: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %z = f32[8]{0} parameter(2)
  %start = (s32[], f32[8]{0}, f32[8]{0}) tuple(%i, %a, %z)
FEWER  %loopMARK = TYPES while(%startMARK), condition=%condMARK, body=%bodyMARKORIGIN
AGAIN}
"""
_TWO = "(s32[], f32[8]{0})"
_THREE = "(s32[], f32[8]{0}, f32[8]{0})"


def test_the_root_of_a_body_is_not_the_tuple_of_its_form_behind_the_loop(read: Read) -> None:
    reads = (
        "  %first = f32[8]{0} get-tuple-element(%TAKEN), index=1\n"
        "  %last = f32[8]{0} get-tuple-element(%TAKEN), index=2\n"
        "  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%first, %last)\n"
    )
    before = _filled(
        _SMALLER_LOOP,
        ORIGIN=_ORIGIN_OF_LOOP,
        MARK="",
        OF_BODY=_ORIGIN_OF_LOOP,
        TYPES=_THREE,
        PASSED="  %w = f32[8]{0} get-tuple-element(%p), index=2\n",
        THIRD=", %w",
        FEWER="",
        AGAIN=reads.replace("TAKEN", "loop"),
    )
    after = _filled(
        _SMALLER_LOOP,
        ORIGIN=_ORIGIN_OF_LOOP,
        OF_BODY="",
        PASSED="",
        THIRD="",
        FEWER=f"  %start.1 = {_TWO} tuple(%i, %a)\n",
        AGAIN=(
            "  %n.1 = s32[] get-tuple-element(%loop.1), index=0\n"
            "  %x.1 = f32[8]{0} get-tuple-element(%loop.1), index=1\n"
            "  %z.1 = f32[8]{0} get-tuple-element(%start), index=2\n"
            f"  %whole = {_THREE} tuple(%n.1, %x.1, %z.1){_ORIGIN_OF_LOOP}\n"
            + reads.replace("TAKEN", "whole")
        ),
        MARK=".1",
        TYPES=_TWO,
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("body", "t")) == Place("body.1", "t.1")


_ORIGIN_OF_LOOP = ', metadata={op_name="w"}'


def _filled(text: str, **words: str) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def test_a_broadcast_of_reciprocals_is_another(read: Read) -> None:
    text = """
ENTRY %main (a: f32[2,3]) -> f32[2,3] {
  %a = f32[2,3]{1,0} parameter(0)
  %c = f32[3]{0} constant({1, 2, 4})
  %c.1 = f32[3]{0} copy(%c)
  %wide = f32[2,3]{1,0} broadcast(%c.1), dimensions={1}, metadata={op_name="div"}
  ROOT %share = f32[2,3]{1,0} divide(%a, %wide), metadata={op_name="div"}
}
"""
    other = """
ENTRY %main (a: f32[2,3]) -> f32[2,3] {
  %a = f32[2,3]{1,0} parameter(0)
  %d = f32[3]{0} constant({1, 0.5, 0.25})
  %wide.1 = f32[2,3]{1,0} broadcast(%d), dimensions={1}, metadata={op_name="div"}
  ROOT %share.1 = f32[2,3]{1,0} multiply(%a, %wide.1), metadata={op_name="div"}
}
"""
    matching = match(read(text), read(other))
    assert matching.partner_after(Place("main", "wide")) is None
    assert matching.partner_after(Place("main", "share")) == Place("main", "share.1")


_HELD = """
%held{n} (fill: f32[8], x: f32[8]) -> f32[8] {{
  %fill{n} = f32[8]{{0}} parameter(0)
  %x{n} = f32[8]{{0}} parameter(1)
  %sine{n} = f32[8]{{0}} sine(%x{n})
  ROOT %sum{n} = f32[8]{{0}} add(%fill{n}, %sine{n})
}}
"""
_FUSION = f"""
HloModule m
{_HELD.format(n="")}
ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %zero = f32[] constant(0)
  %zeros = f32[8]{{0}} broadcast(%zero), dimensions={{}}
  %fusion.1 = f32[8]{{0}} fusion(%zeros, %a), kind=kCustom, calls=%held
  ROOT %out = f32[8]{{0}} negate(%fusion.1)
}}
"""
_NESTED = f"""
HloModule m
{_HELD.format(n=".clone")}
%filled (z: f32[]) -> f32[8] {{
  %z = f32[] parameter(0)
  ROOT %zeros.2 = f32[8]{{0}} broadcast(%z), dimensions={{}}
}}
%outer (p: f32[8], q: f32[]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  %q = f32[] parameter(1)
  %fusion.7 = f32[8]{{0}} fusion(%q), kind=kLoop, calls=%filled
  ROOT %fusion.8 = f32[8]{{0}} fusion(%fusion.7, %p), kind=kCustom, calls=%held.clone
}}
ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %zero = f32[] constant(0)
  %fusion.1 = f32[8]{{0}} fusion(%a, %zero), kind=kCustom, calls=%outer
  ROOT %out = f32[8]{{0}} negate(%fusion.1)
}}
"""


def test_a_fusion_goes_on_in_the_new_fusion_that_got_its_name(read: Read) -> None:
    matching = match(read(_FUSION), read(_NESTED))
    assert matching.partner_after(Place("main", "fusion.1")) == Place("outer", "fusion.8")


_SOFTMAX = """
%inner (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %one = f32[] constant(1)
  %wide = f32[8]{0} broadcast(%one), dimensions={}
  ROOT %sub.1 = f32[8]{0} subtract(%p, %wide)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %soft = f32[8]{0} fusion(%a), kind=kCustom, calls=%inner, metadata={op_name="jit(f)/sub"}
  %exp.1 = f32[8]{0} exponential(%soft), metadata={op_name="jit(f)/exp"}
  %sub.2 = f32[8]{0} subtract(%soft, %exp.1), metadata={op_name="jit(f)/sub"}
  ROOT %out = f32[8]{0} negate(%sub.2)
}
"""
_TAKEN_IN = """
%outer (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %one = f32[] constant(1)
  %wide = f32[8]{0} broadcast(%one), dimensions={}
  %sub.1 = f32[8]{0} subtract(%p, %wide)
  %exp.7 = f32[8]{0} exponential(%sub.1), metadata={op_name="jit(f)/exp"}
  ROOT %sub.7 = f32[8]{0} subtract(%sub.1, %exp.7), metadata={op_name="jit(f)/sub"}
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %fusion.9 = f32[8]{0} fusion(%a), kind=kCustom, calls=%outer, metadata={op_name="jit(f)/sub"}
  ROOT %out = f32[8]{0} negate(%fusion.9)
}
"""


def test_a_fusion_that_another_takes_in_is_not_that_one(read: Read) -> None:
    """Both are of one framework op and of one shape, and each gives another result."""
    matching = match(read(_SOFTMAX), read(_TAKEN_IN))
    assert matching.partner_after(Place("main", "soft")) is None
    assert matching.partner_after(Place("main", "sub.2")) == Place("outer", "sub.7")


def test_a_move_whose_users_read_something_else_is_not_its_namesake(read: Read) -> None:
    before = read(
        "HloModule step\nENTRY %main (a: s32[1], c: s32[1]) -> (s32[], s32[4]) {\n"
        "  %a = s32[1]{0} parameter(0)\n  %c = s32[1]{0} parameter(1)\n"
        '  %reshape.1 = s32[] reshape(%a), metadata={op_name="r"}\n'
        "  %sum = s32[] negate(%reshape.1)\n"
        "  %wide = s32[4]{0} broadcast(%c), dimensions={0}\n"
        "  ROOT %r = (s32[], s32[4]{0}) tuple(%sum, %wide)\n}\n"
    )
    after = read(
        "HloModule step\nENTRY %main (a: s32[1], c: s32[1]) -> (s32[], s32[4]) {\n"
        "  %a = s32[1]{0} parameter(0)\n  %c = s32[1]{0} parameter(1)\n"
        '  %most = s32[] custom-call(%a), custom_call_target="most"\n  %sum = s32[] negate(%most)\n'
        '  %reshape.2 = s32[] reshape(%c), metadata={op_name="r"}\n'
        "  %wide = s32[4]{0} broadcast(%reshape.2), dimensions={}\n"
        "  ROOT %r = (s32[], s32[4]{0}) tuple(%sum, %wide)\n}\n"
    )
    partner = match(before, after).partner_after(Place("main", "reshape.1"))
    assert partner != Place("main", "reshape.2")


def test_iotas_in_another_layout_are_paired_by_who_reads_them(read: Read) -> None:
    before = """
ENTRY %main (a: s32[4,4], b: s32[4,4]) -> (s32[4,4], s32[4,4]) {
  %a = s32[4,4]{0,1} parameter(0)
  %b = s32[4,4]{0,1} parameter(1)
  %rows = s32[4,4]{0,1} iota(), iota_dimension=0
  %columns = s32[4,4]{0,1} iota(), iota_dimension=1
  %x = s32[4,4]{0,1} custom-call(%a, %rows), custom_call_target="f"
  %y = s32[4,4]{0,1} custom-call(%b, %columns), custom_call_target="g"
  ROOT %out = (s32[4,4]{0,1}, s32[4,4]{0,1}) tuple(%x, %y)
}
"""
    after = before
    for name, number in (("rows", 0), ("columns", 1)):
        old = f"  %{name} = s32[4,4]{{0,1}} iota(), iota_dimension={number}\n"
        new = f"""  %{name}.1 = s32[4,4]{{1,0}} iota(), iota_dimension={1 - number}
  %{name}.2 = s32[4,4]{{0,1}} bitcast(%{name}.1)
"""
        after = after.replace(old, new).replace(f"%{name})", f"%{name}.2)")
    matching = match(read(before), read(after))
    for name in ("rows", "columns"):
        assert matching.partner_after(Place("main", name)) == Place("main", f"{name}.1")


def test_a_transpose_with_other_dimensions_is_not_the_same_by_its_name(read: Read) -> None:
    before = """
ENTRY %main (a: f32[2,3,4]) -> f32[4,2,3] {
  %a = f32[2,3,4]{2,1,0} parameter(0)
  %sent = f32[2,3,4]{2,1,0} custom-call(%a), custom_call_target="f"
  %turned.4 = f32[4,2,3]{2,1,0} transpose(%sent), dimensions={2,0,1}, metadata={op_name="t"}
  ROOT %out = f32[4,2,3]{2,1,0} custom-call(%turned.4), custom_call_target="g"
}
"""
    after = """
ENTRY %main (a: f32[2,3,4]) -> f32[4,2,3] {
  %a = f32[2,3,4]{2,1,0} parameter(0)
  %swapped = f32[3,4,2]{2,1,0} bitcast(%a)
  %turned.9 = f32[4,2,3]{2,1,0} transpose(%swapped), dimensions={1,2,0}, metadata={op_name="t"}
  %sent = f32[4,2,3]{2,1,0} custom-call(%turned.9), custom_call_target="f"
  %flat = f32[4,2,3]{2,1,0} bitcast(%sent)
  ROOT %out = f32[4,2,3]{2,1,0} custom-call(%flat), custom_call_target="g"
}
"""
    search = start(read(before), read(after), same_program=True)
    moved_name(search)
    assert all(link.before.instruction.name != "turned.4" for link in search.links)


_TAKEN = """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %both = (f32[8]{0}, f32[8]{0}) custom-call(%a), custom_call_target="f"
  %e.1 = f32[8]{0} get-tuple-element(%both), index=1
  %sine = f32[8]{0} sine(%e.1)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%sine, %a)
}
"""


def test_an_element_with_its_name_and_index_goes_on_itself(read: Read) -> None:
    tuple_between = """  %e.0 = f32[8]{0} get-tuple-element(%both), index=0
  %e.2 = f32[8]{0} get-tuple-element(%both), index=1
  %again = (f32[8]{0}, f32[8]{0}) tuple(%e.0, %e.2)
  %e.1 = f32[8]{0} get-tuple-element(%again), index=1
"""
    line = "  %e.1 = f32[8]{0} get-tuple-element(%both), index=1\n"
    matching = match(read(_TAKEN), read(_TAKEN.replace(line, tuple_between)))
    assert matching.partner_after(Place("main", "e.1")) == Place("main", "e.1")


_LISTED = """
HloModule step
ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %zero = f32[] constant(0)
  %fill = f32[4]{0} broadcast(%zero), dimensions={}
  %sum = f32[4]{0} add(%fill, %a)
  %exp = f32[4]{0} exponential(%sum)
  %zeros = f32[4]{0} constant({0, 0, 0, 0})
  ROOT %both = f32[4]{0} multiply(%exp, %zeros)
}
"""
_FILLED = """
HloModule step
ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %exp = f32[4]{0} exponential(%a)
  %zero.2 = f32[] constant(0)
  %fill.2 = f32[4]{0} broadcast(%zero.2), dimensions={}
  ROOT %both = f32[4]{0} multiply(%exp, %fill.2)
}
"""


def test_a_new_fill_continues_the_constant_that_its_reader_read(read: Read) -> None:
    matching = match(read(_LISTED), read(_FILLED))
    assert matching.partner_after(Place("main", "zeros")) == Place("main", "fill.2")
    assert matching.partner_after(Place("main", "fill")) is None


_THREE_FUSIONS = """
%held (p.1: f32[8]) -> f32[8] {
  %p.1 = f32[8] parameter(0)
  %turn = f32[8] negate(%p.1)
  ROOT %more = f32[8] add(%turn, %p.1), metadata={op_name="add"}
}

%host (p.2: f32[8]) -> f32[8] {
  %p.2 = f32[8] parameter(0)
  ROOT %wave = f32[8] sine(%p.2), metadata={op_name="sine"}
}

%apart (p.3: f32[4]) -> f32[4] {
  %p.3 = f32[4] parameter(0)
  ROOT %rise = f32[4] exponential(%p.3), metadata={op_name="exp"}
}

ENTRY %main (b: f32[8], c: f32[4]) -> (f32[8], f32[8], f32[4], f32[4]) {
  %b = f32[8] parameter(0)
  %c = f32[4] parameter(1)
  %taken = f32[8] fusion(%b), kind=kLoop, calls=%held, metadata={op_name="add"}
  %taking = f32[8] fusion(%b), kind=kLoop, calls=%host, metadata={op_name="sine"}
  %alone = f32[4] fusion(%c), kind=kLoop, calls=%apart, metadata={op_name="exp"}
  %plus = f32[4] add(%c, %c), metadata={op_name="add"}
  ROOT %results = (f32[8], f32[8], f32[4], f32[4]) tuple(%taken, %taking, %alone, %plus)
}
"""
_OF_TWO_OUTPUTS = """
%host.1 (p.2: f32[8]) -> (f32[8], f32[8]) {
  %p.2 = f32[8] parameter(0)
  %wave = f32[8] sine(%p.2), metadata={op_name="sine"}
  %turn.clone = f32[8] negate(%p.2)
  %more.clone = f32[8] add(%turn.clone, %p.2), metadata={op_name="add"}
  ROOT %both = (f32[8], f32[8]) tuple(%wave, %more.clone)
}

%apart.1 (p.3: f32[4]) -> (f32[4], f32[4]) {
  %p.3 = f32[4] parameter(0)
  %plus.1 = f32[4] add(%p.3, %p.3), metadata={op_name="add"}
  %rise = f32[4] exponential(%p.3), metadata={op_name="exp"}
  ROOT %pair = (f32[4], f32[4]) tuple(%plus.1, %rise)
}

ENTRY %main (b: f32[8], c: f32[4]) -> (f32[8], f32[8], f32[4], f32[4]) {
  %b = f32[8] parameter(0)
  %c = f32[4] parameter(1)
  %taking = (f32[8], f32[8]) fusion(%b), kind=kLoop, calls=%host.1, metadata={op_name="sine"}
  %first = f32[8] get-tuple-element(%taking), index=0
  %second = f32[8] get-tuple-element(%taking), index=1
  %fusion.9 = (f32[4], f32[4]) fusion(%c), kind=kLoop, calls=%apart.1, metadata={op_name="add"}
  %third = f32[4] get-tuple-element(%fusion.9), index=0
  %fourth = f32[4] get-tuple-element(%fusion.9), index=1
  ROOT %results = (f32[8], f32[8], f32[4], f32[4]) tuple(%second, %first, %fourth, %third)
}
"""


def test_a_fusion_merged_as_an_output_is_no_new_one_of_its_framework_op(read: Read) -> None:
    matching = match(read(_THREE_FUSIONS), read(_OF_TWO_OUTPUTS))
    pairing = matching.pairing_before(Place("main", "taken"))
    assert pairing is not None
    assert pairing.relation is Relation.ABSORBED
    assert pairing.after == (Place("main", "taking"),)


_SUM_OF = """%sum.N (x.N: bf16[], y.N: bf16[]) -> bf16[] {
  %x.N = bf16[] parameter(0)
  %y.N = bf16[] parameter(1)
  ROOT %add.N = bf16[] add(%x.N, %y.N), metadata={op_name="f/reduce_sum"}
}

"""
_WIDE_SUM_OF = """%sum.N (x.N: f32[], y.N: f32[]) -> f32[] {
  %x.N = f32[] parameter(0)
  %a.N = bf16[] convert(%x.N)
  %y.N = f32[] parameter(1)
  %b.N = bf16[] convert(%y.N)
  %add.N9 = bf16[] add(%a.N, %b.N), metadata={op_name="f/reduce_sum"}
  ROOT %c.N = f32[] convert(%add.N9)
}

"""
_TWO_SUMS = """ENTRY %main (p: bf16[8]) -> (bf16[], bf16[]) {
  %p = bf16[8]{0} parameter(0)
  %zero = bf16[] constant(0)
  %r.1 = bf16[] reduce(%p, %zero), dimensions={0}, to_apply=%sum.1
  %r.2 = bf16[] reduce(%p, %zero), dimensions={0}, to_apply=%sum.2
  ROOT %out = (bf16[], bf16[]) tuple(%r.1, %r.2)
}
"""


def test_what_is_alone_in_its_computation_is_no_guess(read: Read) -> None:
    before = "".join(_SUM_OF.replace("N", number) for number in "12") + _TWO_SUMS
    wide = _TWO_SUMS.replace("bf16", "f32")
    after = "".join(_WIDE_SUM_OF.replace("N", number) for number in "21") + wide
    matching = match(read(before), read(after))
    for number in "12":
        pairing = matching.pairing_before(Place(f"sum.{number}", f"add.{number}"))
        assert pairing is not None
        assert pairing.after == (Place(f"sum.{number}", f"add.{number}9"),)
        assert pairing.grade is Grade.MATCHED


def test_a_reduction_of_one_element_each_is_no_other_candidate(read: Read) -> None:
    """A softmax sums over a dimension that its first sum kept; of a device's part one sum is left.

    The negation, which the first sum passes, and the other size hide what the sums read.
    """
    head = (
        "HloModule m\n\n%add (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n"
        "  %y = f32[] parameter(1)\n  ROOT %s = f32[] add(%x, %y)\n}\n\n"
    )
    before = head + (
        "ENTRY %main (a: f32[8,16]) -> f32[8] {\n  %a = f32[8,16]{1,0} parameter(0)\n"
        "  %zero = f32[] constant(0)\n  %n = f32[8,16]{1,0} negate(%a)\n"
        f"  %sum.1 = f32[8]{{0}} reduce(%n, %zero), dimensions={{1}}, to_apply=%add, {_ORIGIN}\n"
        "  %r = f32[8,1]{1,0} reshape(%sum.1)\n  %d = f32[8,1]{1,0} tanh(%r)\n"
        f"  ROOT %sum.2 = f32[8]{{0}} reduce(%d, %zero), dimensions={{1}}, to_apply=%add, {_ORIGIN}"
        "\n}\n"
    )
    after = head + (
        "ENTRY %main (a: f32[4,16]) -> f32[4] {\n  %a = f32[4,16]{1,0} parameter(0)\n"
        "  %zero = f32[] constant(0)\n"
        f"  %total = f32[4]{{0}} reduce(%a, %zero), dimensions={{1}}, to_apply=%add, {_ORIGIN}\n"
        "  %n = f32[4]{0} negate(%total)\n  ROOT %d = f32[4]{0} tanh(%n)\n}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "sum.1")) == Place("main", "total")


def _counted(first: str, second: str) -> str:
    """Return a module with two iotas of one framework op, of the given shapes, and other users."""
    lines = [
        f'  %iota.{number} = {shape} iota(), iota_dimension=0, metadata={{op_name="f"}}\n'
        f"  %count.{number} = {shape} {opcode}(%iota.{number})"
        for number, (shape, opcode) in enumerate(zip((first, second), _OPCODES, strict=True))
    ]
    text = "\n".join(lines)
    return (
        "HloModule m\n\nENTRY %main () -> (s32[], s32[]) {\n"
        f"{text}\n  ROOT %out = ({first}, {second}) tuple(%count.0, %count.1)\n}}\n"
    )


_OPCODES = ("negate", "abs")


@pytest.mark.parametrize(
    ("sizes", "grade"), [((8, 6), Grade.MATCHED), ((8, 8), Grade.GUESSED)], ids=["own", "equal"]
)
def test_dimensions_tell_apart_what_is_left_of_one_framework_op(
    read: Read, sizes: tuple[int, int], grade: Grade
) -> None:
    """In the order alone each pair would be a guess, and here the order is another one."""
    before = _counted(*(f"s32[{size}]" for size in sizes))
    after = _counted(*(f"u32[{size}]" for size in reversed(sizes)))
    after = after.replace("%iota.", "%other.").replace("negate", "sign").replace("abs", "not")
    search = start(read(before), read(after))
    search.evaluate()
    identity.same_operation(search)
    pairs = {link.before.instruction.name: link for link in search.links}
    expected = {"iota.0": "other.1", "iota.1": "other.0"}
    assert {pair.grade for pair in pairs.values()} == {grade}
    if grade is Grade.MATCHED:
        assert {name: pair.after.instruction.name for name, pair in pairs.items()} == expected


_TURNED = """
ENTRY %main (p: (f32[8], f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  %get.1 = f32[8]{0} get-tuple-element(%p), index=1
  %call = (f32[8]{0}, f32[8]{0}, f32[8]{0}) custom-call(%get.1), custom_call_target="turn"
  %get.2 = f32[8]{0} get-tuple-element(%call), index=2
  %sine = f32[8]{0} sine(%get.1)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%sine, %get.2)
}
"""
_TURNED_AFTER = """
ENTRY %main (p: (f32[8], f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  %get.2 = f32[8]{0} get-tuple-element(%p), index=1
  %sine = f32[8]{0} sine(%get.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%sine, %get.2)
}
"""


def test_the_same_element_goes_before_the_name_of_another(read: Read) -> None:
    matching = match(read(_TURNED), read(_TURNED_AFTER))
    assert matching.partner_before(Place("main", "get.2")) == Place("main", "get.1")
