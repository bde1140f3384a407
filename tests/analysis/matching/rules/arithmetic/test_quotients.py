"""Two divisions in a row that became one by a product."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule step
ENTRY %main (m: f32[8], c: f32[8], v: f32[8]) -> f32[8] {
  %m = f32[8]{0} parameter(0)
  %c = f32[8]{0} parameter(1)
  %v = f32[8]{0} parameter(2)
  %div.1 = f32[8]{0} divide(%m, %c)
  ROOT %div.2 = f32[8]{0} divide(%div.1, %v)
}
"""
_AFTER = _BEFORE.replace("%div.1 = f32[8]{0} divide(%m, %c)", "%by = f32[8]{0} multiply(%c, %v)")
_AFTER = _AFTER.replace("divide(%div.1, %v)", "divide(%m, %by)")


def test_two_divisions_are_combined_into_the_one_by_both_divisors(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_AFTER)).pairing_after(Place("main", "div.2"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert set(pairing.before) == {Place("main", "div.1"), Place("main", "div.2")}


def test_a_quotient_that_something_else_reads_stays(read: Read) -> None:
    sine = "  %sine = f32[8]{0} sine(%div.1)\n  ROOT %out = f32[8]{0} add(%sine, %div.2)\n}"
    before = _BEFORE.replace("ROOT %div.2", "%div.2").replace("\n}", "\n" + sine)
    after = before.replace(
        "%div.2 = f32[8]{0} divide(%div.1, %v)",
        "%by = f32[8]{0} multiply(%c, %v)\n  %div.2 = f32[8]{0} divide(%m, %by)",
    )
    matching = match(read(before), read(after))
    pairing = matching.pairing_after(Place("main", "div.2"))
    assert pairing is not None
    assert pairing.relation is not Relation.COMBINED
    assert matching.partner_after(Place("main", "div.1")) == Place("main", "div.1")


_ADAM = """
HloModule step
ENTRY %main (m: f32[8], p: f32[], v: f32[8], w: f32[8]) -> f32[8] {
  %m = f32[8]{0} parameter(0)
  %p = f32[] parameter(1)
  %v = f32[8]{0} parameter(2)
  %w = f32[8]{0} parameter(3)
  %mean = f32[8]{0} add(%m, %w)
  %wide = f32[8]{0} broadcast(%p), dimensions={}
  %hat = f32[8]{0} divide(%mean, %wide)
  %square = f32[8]{0} multiply(%v, %v)
  %deep = f32[8]{0} sqrt(%square)
  %step = f32[8]{0} divide(%hat, %deep)
  ROOT %out = f32[8]{0} subtract(%w, %step)
}
"""


def test_a_quotient_that_was_taken_for_the_one_by_both_is_combined(read: Read) -> None:
    after = _ADAM.replace("%hat = f32[8]{0} divide(%mean, %wide)\n", "\n")
    after = after.replace(
        "%square = f32[8]{0} multiply(%v, %v)", "%power = f32[8]{0} abs(%v)"
    ).replace("sqrt(%square)", "sqrt(%power)")
    after = after.replace(
        "%step = f32[8]{0} divide(%hat, %deep)",
        "%by = f32[8]{0} multiply(%wide, %deep)\n  %hat = f32[8]{0} divide(%mean, %by)",
    ).replace("(%w, %step)", "(%w, %hat)")
    pairing = match(read(_ADAM), read(after)).pairing_after(Place("main", "hat"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
