"""A division that became a product with a reciprocal."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.arithmetic.reciprocals import mark_reciprocals
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m
ENTRY %main (x: f32[4,8], y: f32[4]) -> f32[4,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[4]{0} parameter(1)
"""
_MESSAGE = 'metadata={op_name="jit(f)/div"}'
_BEFORE = f"""{_HEAD}
  %flat.1 = f32[4]{{0}} reshape(%y), {_MESSAGE}
  %wide.1 = f32[4,8]{{1,0}} broadcast(%flat.1), dimensions={{0}}, {_MESSAGE}
  %div.1 = f32[4,8]{{1,0}} divide(%x, %wide.1), {_MESSAGE}
  ROOT %out = f32[4,8]{{1,0}} negate(%div.1)
}}
"""
_AFTER = f"""{_HEAD}
  %one = f32[] constant(1)
  %ones = f32[4]{{0}} broadcast(%one), dimensions={{}}
  %divide.7 = f32[4]{{0}} divide(%ones, %y), {_MESSAGE}
  %wide.7 = f32[4,8]{{1,0}} broadcast(%divide.7), dimensions={{0}}, {_MESSAGE}
  %mul.7 = f32[4,8]{{1,0}} multiply(%x, %wide.7), {_MESSAGE}
  ROOT %out = f32[4,8]{{1,0}} negate(%mul.7)
}}
"""


def _partner(before: HloModule, after: HloModule, name: str) -> str | None:
    place = match(before, after).partner_after(Place("main", name))
    return None if place is None else place.instruction


def test_a_division_is_split_into_the_product_and_the_reciprocal(read: Read) -> None:
    before, after = read(_BEFORE), read(_AFTER)
    assert _partner(before, after, "div.1") == "mul.7"
    pairing = match(before, after).pairing_before(Place("main", "div.1"))
    assert pairing is not None
    assert pairing.relation is Relation.SPLIT
    assert [place.instruction for place in pairing.after] == ["mul.7", "divide.7", "wide.7"]
    headline = step(before, after, "`algsimp`").headline
    assert "rewrote 1 divide as a multiply by a reciprocal" in headline
    assert "`%div.1` in `main` became 3 instructions, including `%mul.7` and" in headline


def test_what_is_divided_by_something_else_is_no_reciprocal_of_a_division(read: Read) -> None:
    for other in ("divide(%ones, %ones)", "divide(%y, %y)"):
        after = _AFTER.replace("divide(%ones, %y)", other)
        assert match(read(_BEFORE), read(after)).partner_before(Place("main", "divide.7")) is None


def test_a_constant_reciprocal_does_not_continue_the_constant_divisor(read: Read) -> None:
    before = _BEFORE.replace("%y = f32[4]{0} parameter(1)", "%y = f32[4]{0} constant({1,2,4,8})")
    after = _AFTER.replace("%y = f32[4]{0} parameter(1)\n", "")
    after = after.replace("%one = f32[] constant(1)\n", "")
    after = after.replace("%ones = f32[4]{0} broadcast(%one), dimensions={}\n", "")
    after = after.replace("divide(%ones, %y)", "constant({1,0.5,0.25,0.125})")
    heads = [text.replace(", y: f32[4])", ")") for text in (before, after)]
    assert match(*map(read, heads)).partner_before(Place("main", "divide.7")) is None


def test_what_a_product_multiplied_before_stays_its_factor(read: Read) -> None:
    before = _BEFORE.replace("divide(%x, %wide.1)", "multiply(%x, %wide.1)")
    assert _partner(read(before), read(_AFTER), "wide.1") == "wide.7"


def test_a_reciprocal_by_which_a_product_was_multiplied_before_is_not_new(read: Read) -> None:
    before = """
ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %unit = f32[] constant(1)
  %units = f32[8]{0} broadcast(%unit), dimensions={}
  %flat = f32[8]{0} bitcast(%units)
  %ratio = f32[8]{0} divide(%flat, %y), metadata={op_name="div"}
  %back = f32[8]{0} bitcast(%ratio)
  %product = f32[8]{0} multiply(%x, %back)
  %other = f32[8]{0} divide(%x, %y)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%product, %other)
}
"""
    gone = ("  %flat", "  %other", "  %back")
    lines = [line for line in before.splitlines() if not line.startswith(gone)]
    after = "\n".join(lines).replace("divide(%flat", "divide(%units").replace("%other)", "%y)")
    after = after.replace("%back)", "%ratio)")
    search = start(read(before), read(after), same_program=True)
    mark_reciprocals(search)
    assert not search.without_origin


def test_a_division_that_stays_beside_a_product_was_not_turned_into_it(read: Read) -> None:
    before = f"""{_HEAD.replace("f32[4])", "f32[4,8])").replace("f32[4]{0}", "f32[4,8]{1,0}")}
  %one = f32[] constant(1)
  %ones = f32[4,8]{{1,0}} broadcast(%one), dimensions={{}}
  %square.1 = f32[4,8]{{1,0}} multiply(%y, %y)
  %ratio.1 = f32[4,8]{{1,0}} divide(%ones, %square.1)
  %product.1 = f32[4,8]{{1,0}} multiply(%x, %ratio.1)
  %quotient.1 = f32[4,8]{{1,0}} divide(%x, %y)
  ROOT %out = f32[4,8]{{1,0}} add(%product.1, %quotient.1)
}}
"""
    after = before
    for name in ("square", "ratio", "product", "quotient"):
        after = after.replace(f"%{name}.1", f"%{name}.2")
    search = start(read(before), read(after), same_program=True)
    mark_reciprocals(search)
    assert not search.without_origin
