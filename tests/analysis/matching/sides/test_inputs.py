"""Pairs that their inputs contradict."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """HloModule m

ENTRY %main (p: f32[4,2], q: f32[2,4]) -> (f32[], f32[]) {
  %c = f32[] constant(0.5)
  %z = f32[] constant(0)
  %p = f32[4,2]{1,0} parameter(0)
  %q = f32[2,4]{1,0} parameter(1)
  %copy.1 = f32[4,2]{0,1} copy(%p)
  %copy.2 = f32[2,4]{0,1} copy(%q)
  %b.1 = f32[4,2]{0,1} broadcast(%c), dimensions={}
  %b.2 = f32[2,4]{0,1} broadcast(%c), dimensions={}
  %div.1 = f32[4,2]{0,1} multiply(%copy.1, %b.1)
  %div.2 = f32[2,4]{0,1} multiply(%copy.2, %b.2)
  %exp.1 = f32[4,2]{0,1} exponential(%div.1)
  %exp.2 = f32[2,4]{0,1} exponential(%div.2)
  ROOT %t = (f32[4,2]{0,1}, f32[2,4]{0,1}) tuple(%exp.1, %exp.2)
}
"""
_AFTER = """HloModule m

ENTRY %main (p: f32[4,2], q: f32[2,4]) -> (f32[], f32[]) {
  %c = f32[] constant(0.5)
  %z = f32[] constant(0)
  %p = f32[4,2]{1,0} parameter(0)
  %q = f32[2,4]{1,0} parameter(1)
  %transpose.1 = f32[2,4]{1,0} transpose(%p), dimensions={1,0}
  %transpose.2 = f32[4,2]{1,0} transpose(%q), dimensions={1,0}
  %broadcast.1 = f32[2,4]{1,0} broadcast(%c), dimensions={}
  %broadcast.2 = f32[4,2]{1,0} broadcast(%c), dimensions={}
  %multiply.1 = f32[2,4]{1,0} multiply(%transpose.1, %broadcast.1)
  %multiply.2 = f32[4,2]{1,0} multiply(%transpose.2, %broadcast.2)
  %exponential.1 = f32[2,4]{1,0} exponential(%multiply.1)
  %exponential.2 = f32[4,2]{1,0} exponential(%multiply.2)
  %bitcast.1 = f32[4,2]{0,1} bitcast(%exponential.1)
  %bitcast.2 = f32[2,4]{0,1} bitcast(%exponential.2)
  ROOT %t = (f32[4,2]{0,1}, f32[2,4]{0,1}) tuple(%bitcast.1, %bitcast.2)
}
"""


def test_work_on_one_argument_is_not_paired_with_that_on_another_of_its_new_shape(
    read: Read,
) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    for old, new in (("div", "multiply"), ("exp", "exponential"), ("copy", "transpose")):
        for number in (1, 2):
            partner = matching.partner_after(Place("main", f"{old}.{number}"))
            assert partner == Place("main", f"{new}.{number}")


_VALUES = """HloModule m

ENTRY %main (p: bf16[4,2], q: bf16[2,4]) -> (f32[8], f32[8]) {
  %p = bf16[4,2]{1,0} parameter(0)
  %q = bf16[2,4]{1,0} parameter(1)
  %exp.1 = bf16[4,2]{1,0} exponential(%p)
  %exp.2 = bf16[2,4]{1,0} exponential(%q)
"""
_CONVERTED = """  %convert.1 = f32[4,2]{1,0} convert(%exp.1), metadata={op_name="f"}
  %convert.2 = f32[2,4]{1,0} convert(%exp.2), metadata={op_name="f"}
  %reshape.1 = f32[8]{0} reshape(%convert.1)
  %reshape.2 = f32[8]{0} reshape(%convert.2)
  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%reshape.1, %reshape.2)
}
"""
_TURNED = """  %transpose.1 = bf16[2,4]{1,0} transpose(%exp.1), dimensions={1,0}
  %transpose.2 = bf16[4,2]{1,0} transpose(%exp.2), dimensions={1,0}
  %convert.3 = f32[2,4]{1,0} convert(%transpose.1), metadata={op_name="f"}
  %convert.4 = f32[4,2]{1,0} convert(%transpose.2), metadata={op_name="f"}
  %transpose.3 = f32[4,2]{1,0} transpose(%convert.3), dimensions={1,0}
  %transpose.4 = f32[2,4]{1,0} transpose(%convert.4), dimensions={1,0}
  %reshape.1 = f32[8]{0} reshape(%transpose.3)
  %reshape.2 = f32[8]{0} reshape(%transpose.4)
  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%reshape.1, %reshape.2)
}
"""


def test_converts_are_of_the_values_behind_inserted_moves_not_of_their_former_shape(
    read: Read,
) -> None:
    matching = match(read(_VALUES + _CONVERTED), read(_VALUES + _TURNED))
    for old, new in ((1, 3), (2, 4)):
        partner = matching.partner_after(Place("main", f"convert.{old}"))
        assert partner == Place("main", f"convert.{new}")


def test_a_broadcast_that_repeats_is_not_one_that_only_adds_a_dimension(read: Read) -> None:
    text = """HloModule m

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8,4] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
{lines}
}}
"""
    note = 'metadata={op_name="f/sub"}'
    before = f"""  %log = f32[8]{{0}} log(%a)
  %thin = f32[8,1]{{1,0}} broadcast(%log), dimensions={{0}}, {note}
  %flat = f32[8]{{0}} reshape(%thin), {note}
  %wide = f32[8,4]{{1,0}} broadcast(%flat), dimensions={{0}}, {note}
  ROOT %out = f32[8,4]{{1,0}} tanh(%wide)"""
    after = f"""  %log.4 = f32[8]{{0}} log(%a)
  %sub.49 = f32[8,4]{{1,0}} broadcast(%log.4), dimensions={{0}}, {note}
  ROOT %out.1 = f32[8,4]{{1,0}} tanh(%sub.49)"""
    matching = match(read(text.format(lines=before)), read(text.format(lines=after)))
    assert matching.partner_after(Place("main", "wide")) == Place("main", "sub.49")


_ONCE = """HloModule m

%body (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p = (s32[], f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[4]{0} get-tuple-element(%p), index=1
  %thin = s32[1]{0} broadcast(%i), dimensions={}
  %convert = f32[1]{0} convert(%thin)
  %add = f32[4]{0} dynamic-update-slice(%x, %convert, %i)
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %out = (s32[], f32[4]{0}) tuple(%next, %add)
}

%cond (c: (s32[], f32[4])) -> pred[] {
  %c = (s32[], f32[4]{0}) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(1)
  ROOT %less = pred[] compare(%k, %most), direction=LT
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[4]{0}) tuple(%zero, %a)
  %while = (s32[], f32[4]{0}) while(%start), condition=%cond, body=%body
  ROOT %result = f32[4]{0} get-tuple-element(%while), index=1
}
"""
_INLINED = """HloModule m

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[4]{0}) tuple(%zero, %a)
  %i.1 = s32[] get-tuple-element(%start), index=0
  %x.1 = f32[4]{0} get-tuple-element(%start), index=1
  %thin.1 = s32[1]{0} broadcast(%i.1), dimensions={}
  %convert.1 = f32[1]{0} convert(%thin.1)
  %add.1 = f32[4]{0} dynamic-update-slice(%x.1, %convert.1, %i.1)
  %one.1 = s32[] constant(1)
  %next.1 = s32[] add(%i.1, %one.1)
  %end = (s32[], f32[4]{0}) tuple(%next.1, %add.1)
  ROOT %result = f32[4]{0} get-tuple-element(%end), index=1
}
"""


def test_a_broadcast_of_an_element_repeats_as_much_as_one_of_its_value(read: Read) -> None:
    """What `simplify-while-loops` does to a loop of one iteration: the counter is a constant."""
    matching = match(read(_ONCE), read(_INLINED))
    assert matching.partner_after(Place("body", "thin")) == Place("main", "thin.1")


_REPEATED = """HloModule m

ENTRY %main (n: s32[], t: f32[100,32]) -> f32[100,32] {
  %n = s32[] parameter(0)
  %t = f32[100,32]{1,0} parameter(1)
  %c = f32[] constant(2)
  %d = f32[] constant(3)
  %z = s32[] constant(7)
  %less = pred[] compare(%n, %z), direction=LT
LINES  ROOT %out = f32[100,32]{1,0} atan2(%t, %LAST)
}
"""
_FILLED = _REPEATED.replace(
    "LINES",
    """  %p = pred[100,32]{1,0} broadcast(%less), dimensions={}
  %fill.1 = f32[100,32]{1,0} broadcast(%c), dimensions={}
  %fill.2 = f32[100,32]{1,0} broadcast(%d), dimensions={}
  %s = f32[100,32]{1,0} select(%p, %fill.1, %fill.2)
""",
).replace("LAST", "s")
_SCALAR = _REPEATED.replace(
    "LINES",
    """  %fill.3 = pred[] broadcast(%less), dimensions={}
  %fill.4 = f32[] broadcast(%c), dimensions={}
  %fill.5 = f32[] broadcast(%d), dimensions={}
  %s.1 = f32[] select(%fill.3, %fill.4, %fill.5)
  %fill.6 = f32[100,32]{1,0} broadcast(%s.1), dimensions={}
""",
).replace("LAST", "fill.6")


def test_a_broadcast_of_a_scalar_to_itself_is_none_that_repeats_it(read: Read) -> None:
    """`algsimp` moves broadcasts past a select, and leaves those of scalars."""
    matching = match(read(_FILLED), read(_SCALAR))
    for name in ("fill.3", "fill.4", "fill.5"):
        assert matching.partner_before(Place("main", name)) is None
    assert matching.partner_before(Place("main", "s.1")) == Place("main", "s")
    assert matching.partner_before(Place("main", "fill.6")) == Place("main", "p")
