"""A loop that carries fewer elements is told once, with its tuples and parameters."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TWO, _THREE = "(s32[], f32[8])", "(s32[], f32[8], f32[8])"


def _loop(state: str, more: str) -> str:
    """Return a module whose loop has a state; `more` are further elements of its tuples."""
    return f"""
HloModule m

%cond (c: {state}) -> pred[] {{
  %c = {state} parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(9)
  ROOT %less = pred[] compare(%k, %most), direction=LT
}}

%body (p: {state}) -> {state} {{
  %p = {state} parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8] get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %wave = f32[8] sine(%x)
  ROOT %out = {state} tuple(%next, %wave{more.replace("%a", "%x")})
}}

ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8] parameter(0)
  %zero = s32[] constant(0)
  %start = {state} tuple(%zero, %a{more})
  %while = {state} while(%start), condition=%cond, body=%body
  ROOT %result = f32[8] get-tuple-element(%while), index=1
}}
"""


_PAIR = """
HloModule m

ENTRY %main (a: f32[8]) -> PAIR {
  %a = f32[8] parameter(0)
  ROOT %out = PAIR tuple(%a, %a)
}
"""


def test_a_loop_with_fewer_elements_is_told_without_its_tuples(read: Read) -> None:
    made = step(read(_loop(_THREE, ", %a")), read(_loop(_TWO, "")), "`simplify-while-loops`")
    assert "`simplify-while-loops` dropped 1 element of 1 loop" in made.headline
    words = " ".join((made.headline, *made.account))
    assert "`%while` in `main` changed what it carries: 3 elements → 2 elements" in words
    assert "the shape of" not in words
    kinds = {c.opcodes[0] for c in made.changes if c.kind is Kind.CARRIED}
    assert kinds == {"while", "tuple", "parameter"}


def test_a_loop_that_is_given_more_gains_elements(read: Read) -> None:
    made = step(read(_loop(_TWO, "")), read(_loop(_THREE, ", %a")), "`licm`")
    assert "added 1 element to 1 loop" in made.headline
    assert "2 elements → 3 elements, with 1 more of f32[8]" in made.headline


def test_elements_that_a_loop_gains_and_drops_are_counted_apart(read: Read) -> None:
    four = "(s32[], f32[8], pred[4], pred[4])"
    before = read(_loop("(s32[], f32[8], s32[])", ", %zero").replace("%wave, %zero", "%wave, %one"))
    made = step(before, read(_loop(four, ", %m, %m")))
    assert "dropped 1 element of 1 loop and added 2 elements to 1 loop" in made.headline
    assert ", with 2 more of pred[4] and 1 fewer of s32[]" in made.headline


def test_an_element_of_another_shape_may_be_one_that_stayed(read: Read) -> None:
    four = "(s32[], f32[8], f32[2,4], pred[4])"
    made = step(read(_loop(_THREE, ", %a")), read(_loop(four, ", %b, %m")))
    words = " ".join((made.headline, *made.account))
    assert "with 1 more of f32[2,4], 1 more of pred[4] and 1 fewer of f32[8]" in words
    assert "dropped" not in words


def test_a_tuple_of_no_loop_has_another_shape(read: Read) -> None:
    before = _PAIR.replace("PAIR", "(f32[8], f32[8])")
    after = _PAIR.replace("PAIR", "(f32[8], f32[8], f32[8])").replace("(%a, %a)", "(%a, %a, %a)")
    made = step(read(before), read(after), "`it`")
    assert all(change.kind is not Kind.CARRIED for change in made.changes)
