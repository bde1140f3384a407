from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

BEFORE = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %t = (f32[8]{0}, f32[8]{0}) tuple(%a, %b)
  %e = f32[8]{0} get-tuple-element(%t), index=1
  %sine = f32[8]{0} sine(%e)
  %add = f32[8]{0} add(%a, %b)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%sine, %add)
}
"""


def kinds(read: Read, before: str, after: str, name: str) -> list[Kind]:
    changes = step(read(before), read(after)).changes
    return [change.kind for change in changes if change.after and change.after.instruction == name]


@pytest.mark.parametrize("opcode", ["copy", "bitcast", "optimization-barrier"])
def test_what_is_handed_on_is_the_same_value(read: Read, opcode: str) -> None:
    after = BEFORE.replace("  %add", f"  %c = f32[8]{{0}} {opcode}(%b)\n  %add").replace(
        "add(%a, %b)", "add(%a, %c)"
    )
    for texts in ((BEFORE, after), (after, BEFORE)):
        assert kinds(read, *texts, "add") == [Kind.REWIRED]


def test_the_element_of_a_tuple_is_what_was_put_in(read: Read) -> None:
    after = BEFORE.replace("sine(%e)", "sine(%b)")
    assert kinds(read, BEFORE, after, "sine") == [Kind.REWIRED]
    assert kinds(read, BEFORE, BEFORE.replace("sine(%e)", "sine(%a)"), "sine") == [Kind.OPERANDS]


def test_what_was_put_between_is_told_and_not_who_reads_it(read: Read) -> None:
    after = BEFORE.replace("  %add", "  %c = f32[8]{0} negate(%b)\n  %add").replace(
        "add(%a, %b)", "add(%a, %c)"
    )
    for texts in ((BEFORE, after), (after, BEFORE)):
        assert kinds(read, *texts, "add") == [Kind.REDIRECTED]
        headline, *account = step(*map(read, texts)).headline, *step(*map(read, texts)).account
        assert "1 negate" in headline
        assert "operands of" not in " ".join((headline, *account))


def test_operands_are_counted(read: Read) -> None:
    before = BEFORE.replace("(%sine, %add)", "(%sine, %add, %add)").replace(
        "ROOT %out = (", "ROOT %out = (f32[8]{0}, "
    )
    after = BEFORE.replace("(%sine, %add)", "(%add)").replace(
        "ROOT %out = (f32[8]{0}, ", "ROOT %out = ("
    )
    [change] = [
        one for one in step(read(before), read(after)).changes if Kind.OPERANDS in one.kinds
    ]
    assert change.details[-1].endswith("1 operand instead of 3, without %sine, %add fewer times")


def test_operands_that_only_moved_up_are_not_told(read: Read) -> None:
    head = BEFORE.partition("  ROOT")[0]
    call = '  ROOT %out = f32[8]{0} custom-call(%READ), custom_call_target="f"\n}\n'
    before = head + call.replace("READ", "a, %sine, %add, %b")
    for after, words in (
        ("sine, %add, %b", "uses 3 operands instead of 4, without %a"),
        ("a, %e, %sine, %add, %b", "uses 5 operands instead of 4, also uses %e"),
    ):
        module = read(head + call.replace("READ", after))
        [change] = [
            change for change in step(read(before), module).changes if Kind.OPERANDS in change.kinds
        ]
        assert change.details[-1] == words


def test_an_equal_instruction_is_read_instead(read: Read) -> None:
    twice = BEFORE.replace(
        "  ROOT", "  %again = f32[8]{0} add(%a, %b)\n  %end = f32[8]{0} negate(%again)\n  ROOT"
    )
    twice = twice.replace("tuple(%sine, %add)", "tuple(%end, %add)")
    change = step(read(twice), read(twice.replace("negate(%again)", "negate(%add)")), "`cse`")
    assert change.account[0] == (
        "Redirected operands of 1 negate to equal instructions: the negate `%end` in `main` uses "
        "`%add` instead of `%again`, which computes the same."
    )


def test_an_equal_copy_is_read_instead(read: Read) -> None:
    copies = BEFORE.replace(
        "%sine =", "%c1 = f32[8]{0} copy(%a)\n  %c2 = f32[8]{0} copy(%a)\n  %sine ="
    ).replace("add(%a, %b)", "add(%c1, %c2)")
    after = copies.replace("add(%c1, %c2)", "add(%c1, %c1)")
    assert kinds(read, copies, after, "add") == [Kind.SHARED]
    other = copies.replace("copy(%a)", "copy(%b)", 1)
    assert kinds(read, other, other.replace("add(%c1, %c2)", "add(%c1, %c1)"), "add") == [
        Kind.OPERANDS
    ]


def test_other_dimensions_are_told_where_what_is_read_was_removed(read: Read) -> None:
    twice = (
        BEFORE.replace("(b: f32[8])", "")
        .replace(
            "  ROOT",
            "  %wide = f32[8,4]{1,0} broadcast(%add), dimensions={0}\n"
            "  %turned = f32[4,8]{1,0} transpose(%wide), dimensions={1,0}\n"
            "  %back = f32[8,4]{1,0} transpose(%turned), dimensions={1,0}\n  ROOT",
        )
        .replace(
            "(f32[8]{0}, f32[8]{0}) tuple(%sine, %add)",
            "(f32[8]{0}, f32[8,4]{1,0}) tuple(%sine, %back)",
        )
    )
    once = twice.replace("  %turned = f32[4,8]{1,0} transpose(%wide), dimensions={1,0}\n", "")
    once = once.replace(
        "transpose(%turned), dimensions={1,0}", "transpose(%wide), dimensions={0,1}"
    )
    assert kinds(read, twice, once, "back") == [Kind.ATTRIBUTES]


def test_operands_of_a_fusion_are_not_compared_by_their_places(read: Read) -> None:
    held = """
%held (p0: f32[8], p1: f32[8]) -> f32[8] {
  %p0 = f32[8]{0} parameter(0)
  %p1 = f32[8]{0} parameter(1)
  ROOT %sum = f32[8]{0} add(%p0, %p1)
}
"""
    body = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %sine = f32[8]{0} sine(%a)
  %other = f32[8]{0} cosine(%a)
  %third = f32[8]{0} tanh(%a)
  %more = f32[8]{0} add(%other, %third)
  %fusion = f32[8]{0} fusion(%other, %sine), kind=kLoop, calls=%held
  ROOT %out = f32[8]{0} add(%fusion, %more)
}
"""
    after = body.replace("fusion(%other, %sine)", "fusion(%sine, %third)")
    change = step(read(held + body), read(held + after))
    details = [
        one.details for one in change.changes if one.after and one.after.instruction == "fusion"
    ]
    assert details == [("uses %third instead of %other",)]


def test_a_further_copy_of_what_was_read_is_the_same_value(read: Read) -> None:
    text = (
        BEFORE.replace(
            "%sine =",
            "%one = f32[] constant(1)\n  %wide = f32[8]{0} broadcast(%one), dimensions={}\n"
            "  %sine =",
        )
        .replace("add(%a, %b)", "add(%wide, %b)")
        .replace("sine(%e)", "add(%e, %wide)")
    )
    copied = text.replace(
        "  %add =", "  %wide.2 = f32[8]{0} broadcast(%one), dimensions={}\n  %add ="
    ).replace("add(%wide, %b)", "add(%wide.2, %b)")
    assert kinds(read, text, copied, "add") == [Kind.REWIRED]


_CONVERTED = """
ENTRY %main (a: pred[4,8], b: f32[8,2]) -> f32[4,2] {
  %a = pred[4,8]{1,0} parameter(0)
  %b = f32[8,2]{1,0} parameter(1)
  %wide = f32[4,8]{1,0} convert(%a)
  %same.1 = f32[4,8]{1,0} copy(%wide)
  ROOT %dot = f32[4,2]{1,0} dot(%same.1, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def test_a_product_that_reads_another_element_type_says_so(read: Read) -> None:
    line = "%same.2 = pred[4,8]{1,0} negate(%a)"
    after = _CONVERTED.replace("%same.1 = f32[4,8]{1,0} copy(%wide)", line).replace(
        "(%same.1,", "(%same.2,"
    )
    assert kinds(read, _CONVERTED, after, "dot") == [Kind.OPERANDS]
    details = [row.details for row in step(read(_CONVERTED), read(after)).modified]
    assert any("(pred) instead of" in str(detail) for row in details for detail in row)


_TAKING = """
HloModule m

%inner (q0: f32[8], q1: f32[8]) -> f32[8] {
  %q0 = f32[8]{0} parameter(0)
  %q1 = f32[8]{0} parameter(1)
  %product = f32[8]{0} multiply(%q0, %q1)
  ROOT %cosine = f32[8]{0} cosine(%product)
}

%outer (OUTER) -> f32[8] {
  PARAMETERS
  %exp = f32[8]{0} exponential(%LAST)
  ROOT %sum = f32[8]{0} add(%exp, %LAST)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  LINES
}
"""
_BESIDE = (
    _TAKING.replace("OUTER", "p0: f32[8]")
    .replace("PARAMETERS", "%p0 = f32[8]{0} parameter(0)")
    .replace("LAST", "p0")
    .replace(
        "LINES",
        "%small = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%inner\n"
        "  ROOT %large = f32[8]{0} fusion(%small), kind=kLoop, calls=%outer",
    )
)
_NESTED = (
    _TAKING.replace("OUTER", "p0: f32[8], p1: f32[8]")
    .replace(
        "PARAMETERS",
        "%p0 = f32[8]{0} parameter(0)\n  %p1 = f32[8]{0} parameter(1)\n"
        "  %small.1 = f32[8]{0} fusion(%p0, %p1), kind=kLoop, calls=%inner",
    )
    .replace("LAST", "small.1")
    .replace("LINES", "ROOT %large = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%outer")
)


_MERGED = (
    _TAKING.partition("%inner")[0]
    + "%outer"
    + _TAKING.partition("%outer")[2]
    .replace("OUTER", "p0: f32[8], p1: f32[8]")
    .replace(
        "PARAMETERS",
        "%p0 = f32[8]{0} parameter(0)\n  %p1 = f32[8]{0} parameter(1)\n"
        "  %product = f32[8]{0} multiply(%p0, %p1)\n  %cosine = f32[8]{0} cosine(%product)",
    )
    .replace("LAST", "cosine")
    .replace("LINES", "ROOT %large = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%outer")
)


def test_a_fusion_that_was_merged_into_another_is_taken_in(read: Read) -> None:
    made = step(read(_BESIDE), read(_MERGED), "`tpu_fusion`")
    assert "`%small` in `main` was merged into `%large`" in " ".join((made.headline, *made.account))
    [change] = [change for change in made.changes if change.before == Place("main", "large")]
    words = "takes in %small, uses 2 operands instead of 1, also uses %a and %b"
    assert change.details[-1] == words


def test_a_fusion_inside_another_is_taken_in_and_not_replaced_by_what_it_reads(read: Read) -> None:
    made = step(read(_BESIDE), read(_NESTED), "`tpu_fusion`")
    [change] = [change for change in made.changes if change.before == Place("main", "large")]
    words = "takes in %small, uses 2 operands instead of 1, also uses %a and %b"
    assert change.details[-1] == words
    assert "instead of `%small`" not in " ".join((made.headline, *made.account))


def test_other_numbers_of_operands_say_nothing_of_which_replaces_which(read: Read) -> None:
    head = BEFORE.partition("  ROOT")[0] + "  %log = f32[8]{0} log(%b)\n"
    call = '  ROOT %out = f32[8]{0} custom-call(%READ), custom_call_target="f"\n}\n'
    before = read(head + call.replace("READ", "a, %sine"))
    after = read(head + call.replace("READ", "log, %add, %sine"))
    [change] = [change for change in step(before, after).changes if Kind.OPERANDS in change.kinds]
    words = "uses 3 operands instead of 2, without %a, also uses %log and %add"
    assert change.details[-1] == words


def test_operands_beyond_the_first_four_are_counted(read: Read) -> None:
    names = [f"%p.{number}" for number in range(7)]
    parameters = "".join(
        f"  {name} = f32[8]{{0}} parameter({number})\n" for number, name in enumerate(names)
    )
    shape = f"({', '.join(['f32[8]{0}'] * 6)})"
    text = f"ENTRY %main () -> {shape} {{\n{parameters}  ROOT %out = {shape} tuple(ALL)\n}}\n"
    read_first = text.replace("ALL", ", ".join(names[:6]))
    read_last = text.replace("ALL", ", ".join(names[1:]))
    [change] = step(read(read_first), read(read_last)).modified
    assert str(change.details[0]).endswith("%p.4 instead of %p.3, and 2 more")


_TWO_CALLS = """
%double (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %twice = f32[8]{0} add(%p, %p)
  ROOT %square = f32[8]{0} multiply(%twice, %twice)
}

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %call.1 = f32[8]{0} call(%a), to_apply=%double
  %call.2 = f32[8]{0} call(%b), to_apply=%double
  %sine = f32[8]{0} sine(%call.1)
  %cosine = f32[8]{0} cosine(%call.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%sine, %cosine)
}
"""


def test_each_copy_of_an_inlined_call_is_the_value_of_its_call(read: Read) -> None:
    entry = _TWO_CALLS[_TWO_CALLS.index("ENTRY") :]
    for number, name in ((1, "a"), (2, "b")):
        lines = (
            f"%twice.{number} = f32[8]{{0}} add(%{name}, %{name})\n"
            f"  %square.{number} = f32[8]{{0}} multiply(%twice.{number}, %twice.{number})"
        )
        entry = entry.replace(
            f"%call.{number} = f32[8]{{0}} call(%{name}), to_apply=%double", lines
        )
    entry = entry.replace("%call.", "%square.")
    for name in ("sine", "cosine"):
        assert kinds(read, _TWO_CALLS, entry, name) == [Kind.REWIRED]


def test_a_copy_in_another_layout_says_which(read: Read) -> None:
    before = """
ENTRY %main (a: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %a = f32[4,8]{1,0} parameter(0)
  %c = f32[] constant(2)
  %wide = f32[4,8]{1,0} broadcast(%c), dimensions={}
  %moved = f32[4,8]{0,1} copy(%wide)
  %add = f32[4,8]{1,0} add(%a, %wide)
  %sine = f32[4,8]{0,1} sine(%moved)
  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{0,1}) tuple(%add, %sine)
}
"""
    fill = 'broadcast(%c), dimensions={}, metadata={op_name="jit(f)/fill"}'
    after = before.replace("%moved = f32[4,8]{0,1} copy(%wide)", f"%m = f32[4,8]{{0,1}} {fill}")
    change = step(read(before), read(after.replace("%moved", "%m")))
    assert "`%wide` in `main` was cloned to `%m` in the layout `{0,1}`" in " ".join(
        (change.headline, *change.account)
    )


_PRODUCTS = """
ENTRY %main (a: f32[4,8], b: f32[8,5], c: f32[4,6]) -> f32[5,6] {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8,5]{1,0} parameter(1)
  %c = f32[4,6]{1,0} parameter(2)
  %inner = f32[4,5]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %turned = f32[5,4]{1,0} transpose(%inner), dimensions={1,0}
  ROOT %outer = f32[5,6]{1,0} dot(%turned, %c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
_SWAPPED = """
ENTRY %main (a: f32[4,8], b: f32[8,5], c: f32[4,6]) -> f32[5,6] {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8,5]{1,0} parameter(1)
  %c = f32[4,6]{1,0} parameter(2)
  %dot.1 = f32[5,4]{0,1} dot(%b, %a), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  %dot.2 = f32[6,5]{0,1} dot(%c, %dot.1), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  ROOT %back = f32[5,6]{1,0} transpose(%dot.2), dimensions={1,0}
}
"""


def test_a_swapped_product_may_read_the_transpose_of_another(read: Read) -> None:
    headline = step(read(_PRODUCTS), read(_SWAPPED), "`algsimp`").headline
    assert "swapped the operands of 2 dots" in headline


def test_a_product_of_a_value_with_itself_is_not_swapped(read: Read) -> None:
    before = """
ENTRY %main (a: f32[4,4]) -> f32[4,4] {
  %a = f32[4,4]{1,0} parameter(0)
  ROOT %dot.1 = f32[4,4]{1,0} dot(%a, %a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""
    after = """
ENTRY %main (a: f32[4,4]) -> f32[4,4] {
  %a = f32[4,4]{1,0} parameter(0)
  %b = f32[4,4]{0,1} transpose(%a), dimensions={1,0}
  %c = f32[4,4]{0,1} transpose(%a), dimensions={1,0}
  ROOT %dot.2 = f32[4,4]{1,0} dot(%b, %c), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
"""
    words = step(read(before), read(after), "`dot_decomposer`")
    assert "swapped" not in " ".join((words.headline, *words.account))


_CONVOLVED = """
ENTRY %main (x: f32[8,4,4,2], g: f32[8,8,8,3]) -> f32[2,2,2,3] {
  %x = f32[8,4,4,2] parameter(0)
  %g = f32[8,8,8,3] parameter(1)
  ROOT %conv = f32[2,2,2,3] convolution(%x, %g), WINDOW, dim_labels=f01b_i01o->01bf
}
"""
_REVERSED = """
ENTRY %main (x: f32[8,4,4,2], g: f32[8,8,8,3]) -> f32[2,2,2,3] {
  %x = f32[8,4,4,2] parameter(0)
  %g = f32[8,8,8,3] parameter(1)
  %reverse = f32[8,8,8,3] reverse(%g), dimensions={1,2}
  ROOT %conv = f32[2,2,2,3] convolution(%reverse, %x), WINDOW, dim_labels=f01b_i01o->01fb
}
"""


def test_a_convolution_swaps_its_operands_and_reads_one_of_them_reversed(read: Read) -> None:
    before = _CONVOLVED.replace("WINDOW", "window={size=8x8 pad=1_1x1_1 lhs_dilate=2x2}")
    after = _REVERSED.replace("WINDOW", "window={size=4x4 rhs_dilate=2x2 rhs_reversal=1x1}")
    words = step(read(before), read(after), "`algsimp`")
    assert "swapped the operands of 1 convolution" in words.headline


def _loop(first: str, second: str) -> str:
    """Return a loop of two arrays, which sums up the products of both, in an order."""
    state = "(f32[8]{0}, f32[8]{0})"
    places = {first: 0, second: 1}
    given = {"a": "%x", "b": "%sum"}
    return f"""
%body (p: {state}) -> {state} {{
  %p = {state} parameter(0)
  %x = f32[8]{{0}} get-tuple-element(%p), index={places["a"]}
  %y = f32[8]{{0}} get-tuple-element(%p), index={places["b"]}
  %sum = f32[8]{{0}} add(%x, %y)
  ROOT %t = {state} tuple({given[first]}, {given[second]})
}}
%condition (c: {state}) -> pred[] {{
  %c = {state} parameter(0)
  ROOT %more = pred[] custom-call(%c), custom_call_target="more"
}}
ENTRY %main (a: f32[8], b: f32[8]) -> {state} {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %start = {state} tuple(%{first}, %{second})
  ROOT %while = {state} while(%start), condition=%condition, body=%body
}}
"""


def test_another_order_of_what_a_loop_starts_with_is_no_other_operand(read: Read) -> None:
    """The elements of the loop have other numbers, which is told of these."""
    assert not kinds(read, _loop("a", "b"), _loop("b", "a"), "start")


_MOVED = """
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY %main (a: f32[6,4], b: f32[4,6]) -> (f32[4], f32[4,6]) {
  %a = f32[6,4]{1,0} parameter(0)
  %b = f32[4,6]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %t.1 = f32[4,6]{1,0} transpose(%a), dimensions={1,0}
  %m.1 = f32[4,6]{1,0} multiply(%b, %t.1)
  %r = f32[4]{0} reduce(%m.1, %zero), dimensions={1}, to_apply=add
  ROOT %out = (f32[4]{0}, f32[4,6]{1,0}) tuple(%r, %t.1)
}
"""


def test_what_passed_an_instruction_under_another_name_is_the_same_value(read: Read) -> None:
    turned = """  %u.1 = f32[6,4]{1,0} transpose(%b), dimensions={1,0}
  %u.2 = f32[6,4]{1,0} transpose(%t.1), dimensions={1,0}
  %m.2 = f32[6,4]{1,0} multiply(%u.1, %u.2)
  %u.3 = f32[4,6]{1,0} transpose(%m.2), dimensions={1,0}
"""
    after = _MOVED.replace("  %m.1 = f32[4,6]{1,0} multiply(%b, %t.1)\n", turned)
    after = after.replace("reduce(%m.1", "reduce(%u.3")
    assert Kind.OPERANDS not in kinds(read, _MOVED, after, "r")
