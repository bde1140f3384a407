"""Constant values that passes move or copy into the loops that were given them."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_GIVEN = """
HloModule m

%body (p: (s32[], s32[])) -> (s32[], s32[]) {
  %p = (s32[], s32[]) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %by = s32[] get-tuple-element(%p), index=1
  %more = s32[] add(%n, %by)
  ROOT %out = (s32[], s32[]) tuple(%more, %by)
}

%condition (q: (s32[], s32[])) -> pred[] {
  %q = (s32[], s32[]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[]) -> (s32[], s32[]) {
  %a = s32[] parameter(0)
  %two = s32[] constant(2)
  %in = (s32[], s32[]) tuple(%a, %two)
  ROOT %while = (s32[], s32[]) while(%in), condition=%condition, body=%body
}
"""
_SUNK = _GIVEN.replace(
    "  %more = s32[] add(%n, %by)",
    "  %two.sunk = s32[] constant(2)\n  %more = s32[] add(%n, %two.sunk)",
)
_MOVED = (
    _SUNK.replace("  %two = s32[] constant(2)\n", "")
    .replace("tuple(%a, %two)", "tuple(%a, %a)")
    .replace("  %by = s32[] get-tuple-element(%p), index=1\n", "")
    .replace("tuple(%more, %by)", "tuple(%more, %n)")
)


def test_a_constant_that_a_loop_carried_is_copied_into_it(read: Read) -> None:
    pairing = match(read(_GIVEN), read(_SUNK)).pairing_after(Place("body", "two.sunk"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.before == (Place("main", "two"),)


def test_the_account_says_in_which_loop_the_copy_is(read: Read) -> None:
    made = step(read(_GIVEN), read(_SUNK), "`while-loop-constant-sinking`")
    words = " ".join((made.headline, *made.account))
    assert "`%two` in `main` was cloned to `%two.sunk` in the loop `%while`" in words


def test_another_constant_is_no_copy(read: Read) -> None:
    other = _SUNK.replace("%two.sunk = s32[] constant(2)", "%two.sunk = s32[] constant(3)")
    pairing = match(read(_GIVEN), read(other)).pairing_after(Place("body", "two.sunk"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED


def test_a_constant_that_is_in_the_loop_only_moved_there(read: Read) -> None:
    made = step(read(_GIVEN), read(_MOVED), "`while-initializer-removal`")
    assert "moved 1 constant into loops" in made.headline


def test_a_constant_that_another_loop_was_given_did_not_move_into_this_one(read: Read) -> None:
    second = (
        _GIVEN.partition("ENTRY")[0].partition("\n\n")[2].replace("%body", "%second")
    ).replace("%condition", "%until")
    two = _GIVEN.replace("ENTRY", second + "ENTRY").replace(
        "  ROOT %while =",
        "  %last = (s32[], s32[]) tuple(%a, %a)\n"
        "  %again = (s32[], s32[]) while(%last), condition=%until, body=%second\n  ROOT %while =",
    )
    first, marker, rest = two.partition("%second (")
    moved = rest.replace("add(%n, %by)", "add(%n, %two.new)").replace(
        "  %more =", "  %two.new = s32[] constant(2)\n  %more ="
    )
    moved = moved.replace("  %two = s32[] constant(2)\n", "").replace("(%a, %two)", "(%a, %a)")
    matching = match(read(two), read(first + marker + moved))
    assert matching.partner_after(Place("main", "two")) is None


def test_a_fill_that_became_a_buffer_of_no_values_is_not_in_the_loop(read: Read) -> None:
    filled = _GIVEN.replace("s32[] constant(2)", "s32[] negate(%a)").replace(
        "%in = ",
        "%zero = s32[] constant(0)\n  %fill = s32[] broadcast(%zero), dimensions={}\n  %in = ",
    )
    before = filled.replace("tuple(%a, %two)", "tuple(%two, %fill)")
    buffer = '%room = s32[] custom-call(), custom_call_target="AllocateBuffer"'
    after = filled.replace("%fill = s32[] broadcast(%zero), dimensions={}", buffer).replace(
        "tuple(%a, %two)", "tuple(%two, %room)"
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main", "fill"))
    assert pairing is not None
    assert str(pairing.reason).startswith("memory only")


def test_of_equal_constants_the_one_that_the_loop_carried_is_copied(read: Read) -> None:
    given = _GIVEN.replace(
        "  %two = s32[] constant(2)\n", "  %other = s32[] constant(2)\n  %two = s32[] constant(2)\n"
    ).replace("tuple(%a, %two)\n", "tuple(%a, %two)\n  %also = (s32[]) tuple(%other)\n")
    after = _SUNK.replace("tuple(%a, %two)\n", "tuple(%a, %two)\n  %also = (s32[]) tuple(%a)\n")
    pairing = match(read(given), read(after)).pairing_after(Place("body", "two.sunk"))
    assert pairing is not None
    assert pairing.before == (Place("main", "two"),)


_FILLED = """
HloModule m

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %held = f32[8]{0} get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %more = s32[] add(%n, %one)
  %next = f32[8]{0} tanh(%held)
  ROOT %out = (s32[], f32[8]{0}) tuple(%more, %next)
}

%condition (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[]) -> (f32[8], f32[8]) {
  %a = s32[] parameter(0)
  %zero = f32[] constant(0)
  %fill = f32[8]{0} broadcast(%zero), dimensions={}
  %in = (s32[], f32[8]{0}) tuple(%a, %fill)
  %while = (s32[], f32[8]{0}) while(%in), condition=%condition, body=%body
  %last = f32[8]{0} get-tuple-element(%while), index=1
  ROOT %both = (f32[8]{0}, f32[8]{0}) tuple(%last, %fill)
}
"""
_FILLED_IN_THE_LOOP = (
    _FILLED.replace(
        "  %in = ",
        '  %room = f32[8]{0} custom-call(), custom_call_target="AllocateBuffer"\n  %in = ',
    )
    .replace("tuple(%a, %fill)", "tuple(%a, %room)")
    .replace(
        "  %next = f32[8]{0} tanh(%held)\n",
        "  %start = s32[] constant(0)\n  %first = pred[] compare(%n, %start), direction=EQ\n"
        "  %wide = pred[8]{0} broadcast(%first), dimensions={}\n"
        "  %zero.2 = f32[] constant(0)\n  %fill.2 = f32[8]{0} broadcast(%zero.2), dimensions={}\n"
        "  %begun = f32[8]{0} select(%wide, %fill.2, %held)\n  %next = f32[8]{0} tanh(%begun)\n",
    )
)


def test_a_fill_that_others_read_too_is_copied_into_the_loop(read: Read) -> None:
    matching = match(read(_FILLED), read(_FILLED_IN_THE_LOOP))
    for name in ("fill", "zero"):
        pairing = matching.pairing_after(Place("body", f"{name}.2"))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert pairing.before == (Place("main", name),)


def test_a_fill_of_another_value_is_no_copy_of_what_the_loop_was_given(read: Read) -> None:
    other = _FILLED_IN_THE_LOOP.replace(
        "%zero.2 = f32[] constant(0)", "%zero.2 = f32[] constant(3)"
    )
    pairing = match(read(_FILLED), read(other)).pairing_after(Place("body", "fill.2"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED


_NESTED = """
HloModule m

%inner (p: (s32[], s32[])) -> (s32[], s32[]) {
  %p = (s32[], s32[]) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %by = s32[] get-tuple-element(%p), index=1
  %more = s32[] add(%n, %by)
  ROOT %out = (s32[], s32[]) tuple(%more, %by)
}

%condition (q: (s32[], s32[])) -> pred[] {
  %q = (s32[], s32[]) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

%outer (r: (s32[], s32[])) -> (s32[], s32[]) {
  %r = (s32[], s32[]) parameter(0)
  %m = s32[] get-tuple-element(%r), index=0
  %given = s32[] get-tuple-element(%r), index=1
  %start = (s32[], s32[]) tuple(%m, %given)
  %loop = (s32[], s32[]) while(%start), condition=%condition, body=%inner
  %last = s32[] get-tuple-element(%loop), index=0
  ROOT %result = (s32[], s32[]) tuple(%last, %given)
}

%condition.2 (s: (s32[], s32[])) -> pred[] {
  %s = (s32[], s32[]) parameter(0)
  %l = s32[] get-tuple-element(%s), index=0
  ROOT %stops = pred[] compare(%l, %l), direction=LT
}

ENTRY %main (a: s32[]) -> (s32[], s32[]) {
  %a = s32[] parameter(0)
  %two = s32[] constant(2)
  %in = (s32[], s32[]) tuple(%a, %two)
  ROOT %while = (s32[], s32[]) while(%in), condition=%condition.2, body=%outer
}
"""


def test_a_constant_is_copied_into_a_loop_within_the_loop_that_was_given_it(read: Read) -> None:
    sunk = _NESTED.replace(
        "  %more = s32[] add(%n, %by)",
        "  %two.sunk.2 = s32[] constant(2)\n  %more = s32[] add(%n, %two.sunk.2)",
    ).replace(
        "  %start = (s32[], s32[]) tuple(%m, %given)",
        "  %two.sunk = s32[] constant(2)\n  %start = (s32[], s32[]) tuple(%m, %two.sunk)",
    )
    matching = match(read(_NESTED), read(sunk))
    for place in (Place("outer", "two.sunk"), Place("inner", "two.sunk.2")):
        pairing = matching.pairing_after(place)
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert pairing.before == (Place("main", "two"),)


def test_a_fill_that_two_loops_were_given_moves_into_both(read: Read) -> None:
    texts = []
    for text in (_FILLED, _FILLED_IN_THE_LOOP):
        first, entry = text.split("ENTRY")
        second = first.partition("\n\n")[2]
        for name in ("body", "condition", "zero.2", "fill.2"):
            second = second.replace(f"%{name} ", f"%{name}.b ").replace(f"%{name})", f"%{name}.b)")
            second = second.replace(f"%{name},", f"%{name}.b,")
        loop = next(line for line in entry.splitlines() if " while(" in line)
        again = loop.replace("%while =", "%while.b =").replace("=%condition", "=%condition.b")
        again = again.replace("body=%body", "body=%body.b")
        last = "  %last.b = f32[8]{0} get-tuple-element(%while.b), index=1\n"
        entry = entry.replace(loop, f"{loop}\n{again}\n{last}".rstrip("\n"))
        entry = entry.replace("tuple(%last, %fill)", "tuple(%last, %last.b)")
        if text is _FILLED_IN_THE_LOOP:
            entry = entry.replace("  %fill = f32[8]{0} broadcast(%zero), dimensions={}\n", "")
            entry = entry.replace("  %zero = f32[] constant(0)\n", "")
        texts.append(f"{first}{second}ENTRY{entry}")
    matching = match(read(texts[0]), read(texts[1]))
    for place in (Place("body", "fill.2"), Place("body.b", "fill.2.b")):
        pairing = matching.pairing_after(place)
        assert pairing is not None
        assert pairing.before == (Place("main", "fill"),), place


def test_a_merged_duplicate_is_not_what_was_copied_into_the_loop(read: Read) -> None:
    kept = "  %also = s32[] constant(2)\n"
    before = _GIVEN.replace("  %two = s32[]", f"{kept}  %two = s32[]")
    after = _SUNK.replace("  %two = s32[] constant(2)\n", kept).replace("%two", "%also")
    account = step(read(before), read(after), "`while-initializer-removal`")
    words = " ".join((account.headline, *account.account))
    assert "moved" not in words
    assert "`%two` in `main` was merged into `%also`" in words
    assert "`%also` in `main` was cloned to `%also.sunk` in the loop `%while`" in words


def test_a_fill_moves_into_a_loop_that_has_an_equal_one_of_its_own(read: Read) -> None:
    own = (
        "  %nought = f32[] constant(0)\n  %wide.0 = f32[8]{0} broadcast(%nought), dimensions={}\n"
        "  %next = "
    )
    also = "  %also = f32[8]{0} broadcast(%zero), dimensions={}\n  ROOT %both = "
    before, after = (
        text.replace("  %next = ", own)
        .replace("tanh(%held)", "maximum(%held, %wide.0)")
        .replace("tanh(%begun)", "maximum(%begun, %wide.0)")
        .replace("  ROOT %both = ", also)
        .replace("(f32[8]{0}, f32[8]{0}) tuple(%last, %fill)", "(f32[8]{0}) tuple(%also)")
        for text in (_FILLED, _FILLED_IN_THE_LOOP)
    )
    after = after.replace("  %fill = f32[8]{0} broadcast(%zero), dimensions={}\n", "")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "fill")) == Place("body", "fill.2")
    pairing = matching.pairing_after(Place("main", "room"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED
