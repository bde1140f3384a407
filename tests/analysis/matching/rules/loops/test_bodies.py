"""Loops of one round, and conditionals that are decided."""

import re
from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_LOOP = """
HloModule m

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %sine.1 = f32[8]{0} sine(%x)
  %square.1 = f32[8]{0} multiply(%sine.1, %sine.1)
  ROOT %t = (s32[], f32[8]{0}) tuple(%next, %square.1)
}

%cond (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %last = s32[] constant(1)
  ROOT %less = pred[] compare(%j, %last), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}) tuple(%zero, %a)
  %while.1 = (s32[], f32[8]{0}) while(%start), condition=%cond, body=%body
  %end = f32[8]{0} get-tuple-element(%while.1), index=1
  ROOT %out = f32[8]{0} negate(%end)
}
"""
_ONCE = """
HloModule m
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %sine.9 = f32[8]{0} sine(%a)
  %square.9 = f32[8]{0} multiply(%sine.9, %sine.9)
  ROOT %out = f32[8]{0} negate(%square.9)
}
"""


def test_the_body_stands_where_the_loop_stood(read: Read) -> None:
    matching = match(read(_LOOP), read(_ONCE))
    for name in ("sine", "square"):
        place = matching.partner_after(Place("body", f"{name}.1"))
        assert place == Place("main", f"{name}.9")
    pairing = matching.pairing_before(Place("main", "while.1"))
    assert pairing is not None
    assert pairing.relation is Relation.INLINED


def test_an_unrolled_loop_counts_the_constants_of_its_body(read: Read) -> None:
    two = "  %two.N = f32[] constant(2)\n  %twos.N = f32[8]{0} broadcast(%two.N), dimensions={}\n"
    loop = _LOOP.replace("  %square.1", two.replace("N", "1") + "  %square.1")
    once = _ONCE.replace("  %square.9", two.replace("N", "9") + "  %square.9")
    loop = loop.replace("%sine.1, %sine.1", "%sine.1, %twos.1")
    once = once.replace("%sine.9, %sine.9", "%sine.9, %twos.9")
    made = step(read(loop), read(once), "`simplify-while-loops`")
    assert "unrolled 1 while into 4 instructions" in made.headline


def test_what_was_dead_in_the_body_is_not_what_is_live_outside(read: Read) -> None:
    """An element of the loop starts with the value that a dead instruction of the body has."""
    idle = "  %none = s32[] constant(0)\n  %idle = s32[8]{0} broadcast(%none), dimensions={}\n"
    filled = (
        "  %fill.1 = s32[8]{0} broadcast(%i), dimensions={}\n"
        '  %kept.1 = s32[8]{0} custom-call(%fill.1), custom_call_target="keep", '
        "custom_call_has_side_effect=true\n"
    )
    loop = _LOOP.replace("  %one", idle + filled + "  %one")
    outside = filled.replace(".1", ".9").replace("%i)", "%zero)")
    outside = "  %zero = s32[] constant(0)\n" + outside
    once = _ONCE.replace("  %sine.9 =", outside + "  %sine.9 =")
    matching = match(read(loop), read(once))
    assert matching.partner_after(Place("body", "fill.1")) == Place("main", "fill.9")
    assert matching.partner_after(Place("body", "idle")) is None


_CONDITIONAL = """
HloModule m

%yes (p: (f32[8], f32[8])) -> f32[8] {
  %p = (f32[8]{0}, f32[8]{0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%p), index=0
  %y = f32[8]{0} get-tuple-element(%p), index=1
  %sine.1 = f32[8]{0} sine(%x)
  ROOT %square.1 = f32[8]{0} multiply(%sine.1, %y)
}

"""
_DECIDED = f"""{_CONDITIONAL}
ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %sine.9 = f32[8]{{0}} sine(%a)
  %square.9 = f32[8]{{0}} multiply(%sine.9, %a)
  ROOT %out = f32[8]{{0}} negate(%square.9)
}}
"""
_OPEN = f"""{_CONDITIONAL}
ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %zero = s32[] constant(0)
  %t = (f32[8]{{0}}, f32[8]{{0}}) tuple(%a, %a)
  %pick = f32[8]{{0}} conditional(%zero, %t), branch_computations={{%yes}}
  ROOT %out = f32[8]{{0}} negate(%pick)
}}
"""


def test_a_branch_that_is_left_uncalled_goes_on_where_the_conditional_stood(read: Read) -> None:
    matching = match(read(_OPEN), read(_DECIDED))
    for name in ("sine", "square"):
        place = matching.partner_after(Place("yes", f"{name}.1"))
        assert place == Place("main", f"{name}.9")
    pairing = matching.pairing_before(Place("main", "pick"))
    assert pairing is not None
    assert pairing.relation is Relation.INLINED


def test_the_account_counts_what_is_left_behind(read: Read) -> None:
    made = step(read(_OPEN), read(_DECIDED), "`simplify-conditional`")
    growth = made.after.instructions - made.before.instructions
    assert len(made.added) - len(made.removed) == growth
    assert "inlined 1 conditional into 2 instructions" in made.headline


_BRANCHES = """HloModule m

%yes (p: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%p), index=0
  %y = f32[8]{0} get-tuple-element(%p), index=1
  %half.1 = f32[8]{0} sine(%x), metadata={op_name="f/yes/sin"}
  %half.2 = f32[8]{0} cosine(%half.1)
  %square.1 = f32[8]{0} multiply(%half.1, %half.2)
  ROOT %t.1 = (f32[8]{0}, f32[8]{0}) tuple(%square.1, %y)
}

%no (q: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %q = (f32[8]{0}, f32[8]{0}) parameter(0)
  %u = f32[8]{0} get-tuple-element(%q), index=0
  %v = f32[8]{0} get-tuple-element(%q), index=1
  %part.1 = f32[8]{0} sine(%u), metadata={op_name="f/no/sin"}
  %sum.1 = f32[8]{0} add(%part.1, %v)
  ROOT %t.2 = (f32[8]{0}, f32[8]{0}) tuple(%sum.1, %part.1)
}

"""
_CHOSEN = f"""{_BRANCHES}ENTRY %main (a: f32[8], b: f32[8], c: pred[]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %c = pred[] parameter(2)
  %t = (f32[8]{{0}}, f32[8]{{0}}) tuple(%a, %b)
  %pick = (f32[8]{{0}}, f32[8]{{0}}) conditional(%c, %t, %t), true_computation=%yes, \
false_computation=%no
  %first = f32[8]{{0}} get-tuple-element(%pick), index=0
  %second = f32[8]{{0}} get-tuple-element(%pick), index=1
  ROOT %out = f32[8]{{0}} subtract(%first, %second)
}}
"""
_SELECTED = f"""{_BRANCHES}ENTRY %main (a: f32[8], b: f32[8], c: pred[]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %c = pred[] parameter(2)
  %half.7 = f32[8]{{0}} sine(%a), metadata={{op_name="f/yes/sin"}}
  %half.8 = f32[8]{{0}} cosine(%half.7)
  %square.7 = f32[8]{{0}} multiply(%half.7, %half.8)
  %part.7 = f32[8]{{0}} sine(%a), metadata={{op_name="f/no/sin"}}
  %sum.7 = f32[8]{{0}} add(%part.7, %b)
  %wide = pred[8]{{0}} broadcast(%c), dimensions={{}}
  %one = f32[8]{{0}} select(%wide, %square.7, %sum.7)
  %two = f32[8]{{0}} select(%wide, %b, %part.7)
  ROOT %out = f32[8]{{0}} subtract(%one, %two)
}}
"""


def test_both_branches_of_a_conditional_may_stand_where_it_stood(read: Read) -> None:
    """Equal values of both branches are those of their own ops."""
    matching = match(read(_CHOSEN), read(_SELECTED))
    pairs = {"half.1": "half.7", "half.2": "half.8", "square.1": "square.7"}
    others = {"part.1": "part.7", "sum.1": "sum.7"}
    for home, names in (("yes", pairs), ("no", others)):
        for old, new in names.items():
            assert matching.partner_after(Place(home, old)) == Place("main", new)
    made = step(read(_CHOSEN), read(_SELECTED), "`simplify-conditional`")
    assert "inlined 1 conditional into 7 instructions" in made.headline
    both = "both branches, 2 selects by its predicate give its results"
    assert any(both in sentence for sentence in (made.headline, *made.account))
    growth = made.after.instructions - made.before.instructions
    assert len(made.added) - len(made.removed) == growth


_LOOP_OF_TWO = """
%body{n} (p: (s32[], f32[8], f32[])) -> (s32[], f32[8], f32[]) {{
  %p = (s32[], f32[8]{{0}}, f32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = f32[8]{{0}} get-tuple-element(%p), index=1
  %s = f32[] get-tuple-element(%p), index=2
  %wide{n} = f32[8]{{0}} broadcast(%s), dimensions={{}}
  %sine{n} = f32[8]{{0}} sine(%wide{n})
  %sum{n} = f32[8]{{0}} add(%x, %sine{n})
  ROOT %t = (s32[], f32[8]{{0}}, f32[]) tuple(%next, %sum{n}, %s)
}}

%cond{n} (q: (s32[], f32[8], f32[])) -> pred[] {{
  %q = (s32[], f32[8]{{0}}, f32[]) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %last = s32[] constant(1)
  ROOT %less = pred[] compare(%j, %last), direction=LT
}}
"""
_IN_A_ROW = f"""
HloModule m
{_LOOP_OF_TWO.format(n=".1")}{_LOOP_OF_TWO.format(n=".2")}{_LOOP_OF_TWO.format(n=".3")}
ENTRY %main (a: f32[8], s: f32[]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %s = f32[] parameter(1)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{{0}}, f32[]) tuple(%zero, %a, %s)
  %while.1 = (s32[], f32[8]{{0}}, f32[]) while(%start), condition=%cond.1, body=%body.1
  %between = f32[8]{{0}} get-tuple-element(%while.1), index=1
  %again = (s32[], f32[8]{{0}}, f32[]) tuple(%zero, %between, %s)
  %while.2 = (s32[], f32[8]{{0}}, f32[]) while(%again), condition=%cond.2, body=%body.2
  %third = f32[8]{{0}} get-tuple-element(%while.2), index=1
  %last = (s32[], f32[8]{{0}}, f32[]) tuple(%zero, %third, %s)
  %while.3 = (s32[], f32[8]{{0}}, f32[]) while(%last), condition=%cond.3, body=%body.3
  %end = f32[8]{{0}} get-tuple-element(%while.3), index=1
  ROOT %out = f32[8]{{0}} negate(%end)
}}
"""
_ROW_DONE_ONCE = """
HloModule m
ENTRY %main (a: f32[8], s: f32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = f32[] parameter(1)
  %wide.7 = f32[8]{0} broadcast(%s), dimensions={}
  %sine.7 = f32[8]{0} sine(%wide.7)
  %sum.7 = f32[8]{0} add(%a, %sine.7)
  %wide.8 = f32[8]{0} broadcast(%s), dimensions={}
  %sine.8 = f32[8]{0} sine(%wide.8)
  %sum.8 = f32[8]{0} add(%sum.7, %sine.8)
  %wide.9 = f32[8]{0} broadcast(%s), dimensions={}
  %sine.9 = f32[8]{0} sine(%wide.9)
  %sum.9 = f32[8]{0} add(%sum.8, %sine.9)
  ROOT %out = f32[8]{0} negate(%sum.9)
}
"""


def test_loops_in_a_row_are_unrolled_each_though_one_starts_with_the_result_of_another(
    read: Read,
) -> None:
    matching = match(read(_IN_A_ROW), read(_ROW_DONE_ONCE))
    for number, now in (("1", "7"), ("2", "8"), ("3", "9")):
        for name in ("wide", "sine", "sum"):
            place = matching.partner_after(Place(f"body.{number}", f"{name}.{number}"))
            assert place == Place("main", f"{name}.{now}")
        pairing = matching.pairing_before(Place("main", f"while.{number}"))
        assert pairing is not None
        assert pairing.relation is Relation.INLINED


_OUTER = """
%more (q.2: SHAPE) -> pred[] {
  %q.2 = SHAPE parameter(0)
  %k = s32[] get-tuple-element(%q.2), index=0
  %four = s32[] constant(4)
  ROOT %less.2 = pred[] compare(%k, %four), direction=LT
}

%outer (o: SHAPE) -> SHAPE {
  %o = SHAPE parameter(0)
  %n = s32[] get-tuple-element(%o), index=0
  %one.2 = s32[] constant(1)
  %next.2 = s32[] add(%n, %one.2)
  %w = f32[8]{0} get-tuple-element(%o), index=1
  %cosine.2 = f32[8]{0} cosine(%w)
  %tanh.2 = f32[8]{0} tanh(%cosine.2)
  %abs.2 = f32[8]{0} abs(%tanh.2)
  %half = f32[] constant(0.5)
  %a = f32[8]{0} broadcast(%half), dimensions={}
LINES}

ENTRY %main (b: f32[8], c: f32[4]) -> f32[8] {
  %b = f32[8]{0} parameter(0)
  %c = f32[4]{0} parameter(1)
  %none = s32[] constant(0)
  %first = SHAPE tuple(%none, %b, %c)
  %while.2 = SHAPE while(%first), condition=%more, body=%outer
  %end.2 = f32[8]{0} get-tuple-element(%while.2), index=1
  ROOT %out.2 = f32[8]{0} negate(%end.2)
}
"""


def _around(lines: str) -> str:
    return _OUTER.replace("LINES", lines).replace("SHAPE", "(s32[], f32[8]{0}, f32[4]{0})")


def test_a_loop_of_one_turn_in_a_loop_that_was_made_anew_is_unrolled(read: Read) -> None:
    """What `simplify-while-loops` does where it also drops an element of the outer loop."""
    inner = _LOOP.partition("%body (p")[2].partition("ENTRY")[0]
    before = (
        "%body (p"
        + inner
        + _around(
            "  %zero = s32[] constant(0)\n"
            "  %start = (s32[], f32[8]{0}) tuple(%zero, %a)\n"
            "  %while.1 = (s32[], f32[8]{0}) while(%start), condition=%cond, body=%body\n"
            "  %end = f32[8]{0} get-tuple-element(%while.1), index=1\n"
            "  %w = f32[4]{0} get-tuple-element(%o), index=2\n"
            "  ROOT %result = SHAPE tuple(%next.2, %end, %w)\n"
        )
    )
    after = _around(
        "  %sine.9 = f32[8]{0} sine(%a)\n"
        "  %square.9 = f32[8]{0} multiply(%sine.9, %sine.9)\n"
        "  %add.2 = f32[8]{0} add(%square.9, %abs.2)\n"
        "  ROOT %result = SHAPE tuple(%next.2, %add.2)\n"
    )
    after = after.replace(", f32[4]{0})", ")").replace("tuple(%none, %b, %c)", "tuple(%none, %b)")
    after = after.replace("outer", "outer.clone").replace("%more", "%more.clone")
    names = r"%(o|n|w|a|one\.2|next\.2|cosine\.2|tanh\.2|abs\.2|add\.2|half|result)\b(?!:)"
    head, made, tail = after.partition("%outer.clone (o")
    inside, entry, rest = tail.partition("ENTRY")
    after = head + made + re.sub(names, r"%\1.clone", inside) + entry + rest
    matching = match(read(before), read(after))
    known = matching.pairing_before(Place("outer", "while.1"))
    assert known is not None
    assert (known.relation, known.reason) == (Relation.INLINED, "into 2 instructions")
    assert Place("outer.clone", "square.9") in known.after
    assert matching.partner_after(Place("body", "sine.1")) == Place("outer.clone", "sine.9")
