"""Work of nested loops that moved out by one level each."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_STATE = "(s32[], f32[8])"
_WIDER = "(s32[], f32[8], f32[8])"
_CONDITION = """
%NAME (c: STATE) -> pred[] {
  %c = STATE parameter(0)
  %n = s32[] get-tuple-element(%c), index=0
  %end = s32[] constant(9)
  ROOT %more = pred[] compare(%n, %end), direction=LT
}
"""


def _texts() -> tuple[str, str]:
    """Return a module with sines in both loops, and after each moved out by one level.

    In the outer body the sine of the inner loop has the place of that which was there.
    """
    bodies = """
%inner (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %v = f32[8]{0} get-tuple-element(%p), index=1
  %sine.1 = f32[8]{0} sine(%v), metadata={op_name="while/body/while/body/sine"}
  %kept.1 = f32[8]{0} custom-call(%sine.1, %i), ACTS
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %out = (s32[], f32[8]{0}) tuple(%next, %v)
}

%outer (q: (s32[], f32[8])) -> (s32[], f32[8]) {
  %q = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %u = f32[8]{0} get-tuple-element(%q), index=1
  %sine.2 = f32[8]{0} sine(%u), metadata={op_name="while/body/sine"}
  %kept.2 = f32[8]{0} custom-call(%sine.2, %j), ACTS
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}) tuple(%zero, %u)
  %loop.1 = (s32[], f32[8]{0}) while(%start), condition=%inside, body=%inner
  %ten = s32[] constant(1)
  %further = s32[] add(%j, %ten)
  ROOT %result = (s32[], f32[8]{0}) tuple(%further, %u)
}

ENTRY %main (a: f32[8]) -> s32[] {
  %a = f32[8]{0} parameter(0)
  %none = s32[] constant(0)
  %begin = (s32[], f32[8]{0}) tuple(%none, %a)
  %loop.2 = (s32[], f32[8]{0}) while(%begin), condition=%outside, body=%outer
  ROOT %count = s32[] get-tuple-element(%loop.2), index=0
}
"""
    narrow = "".join(
        _CONDITION.replace("NAME", name).replace("STATE", _STATE) for name in ("inside", "outside")
    )
    wide = narrow.replace(_STATE, _WIDER)
    work = '%sine.NUMBER = f32[8]{0} sine(%VALUE), metadata={op_name="SCOPE/sine"}\n  '
    lines = [
        work.replace("NUMBER", number).replace("VALUE", value).replace("SCOPE", scope)
        for number, value, scope in (
            ("1", "v", "while/body/while/body"),
            ("2", "u", "while/body"),
            ("3", "u", "while/body/while/body"),
            ("4", "a", "while/body"),
        )
    ]
    after = bodies.replace("(s32[], f32[8])", _WIDER)
    after = after.replace("(s32[], f32[8]{0})", "(s32[], f32[8]{0}, f32[8]{0})")
    given = "%in.NUMBER = f32[8]{0} get-tuple-element(%VALUE), index=2\n  "
    after = after.replace(lines[0], given.replace("NUMBER", "1").replace("VALUE", "p"))
    after = after.replace(lines[1], given.replace("NUMBER", "2").replace("VALUE", "q"))
    after = after.replace("(%sine.1,", "(%in.1,").replace("(%sine.2,", "(%in.2,")
    after = after.replace("tuple(%next, %v)", "tuple(%next, %v, %in.1)")
    after = after.replace("tuple(%further, %u)", "tuple(%further, %u, %in.2)")
    after = after.replace("%start = ", f"{lines[2]}%start = ").replace(
        "%zero, %u", "%zero, %u, %sine.3"
    )
    after = after.replace("%begin = ", f"{lines[3]}%begin = ").replace(
        "%none, %a", "%none, %a, %sine.4"
    )
    acts = 'custom_call_target="f", custom_call_has_side_effect=true'
    return (narrow + bodies).replace("ACTS", acts), (wide + after).replace("ACTS", acts)


def test_what_left_the_inner_loop_is_in_the_outer_one_now(read: Read) -> None:
    matching = match(*map(read, _texts()))
    assert matching.partner_after(Place("inner", "sine.1")) == Place("outer", "sine.3")
    assert matching.partner_after(Place("outer", "sine.2")) == Place("main", "sine.4")
