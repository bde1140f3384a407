"""A minimum and a maximum that became a clamp."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %low = f32[] constant(-1)
  %high = f32[] constant(1)
"""
_BEFORE = f"""{_HEAD}
  %wide.1 = f32[8]{{0}} broadcast(%low), dimensions={{}}
  %wide.2 = f32[8]{{0}} broadcast(%high), dimensions={{}}
  %max.1 = f32[8]{{0}} maximum(%wide.1, %a)
  %min.1 = f32[8]{{0}} minimum(%wide.2, %max.1)
  ROOT %out = f32[8]{{0}} negate(%min.1)
}}
"""
_AFTER = f"""{_HEAD}
  %clamp.3 = f32[8]{{0}} clamp(%low, %a, %high)
  ROOT %out = f32[8]{{0}} negate(%clamp.3)
}}
"""


def test_both_became_the_clamp(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_AFTER)).pairing_after(Place("main", "clamp.3"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert {place.instruction for place in pairing.before} == {"max.1", "min.1"}


def test_the_account_says_so(read: Read) -> None:
    headline = step(read(_BEFORE), read(_AFTER), "`algsimp`").headline
    assert "combined 2 instructions into 1" in headline
    assert "`%clamp.3` in `main` combines `%min.1` and `%max.1`" in headline


def test_other_bounds_are_no_clamp_of_both(read: Read) -> None:
    other = _AFTER.replace("%low = f32[] constant(-1)", "%least = f32[] constant(-2)")
    other = other.replace("clamp(%low", "clamp(%least")
    pairing = match(read(_BEFORE), read(other)).pairing_after(Place("main", "clamp.3"))
    assert pairing is None or pairing.relation is not Relation.COMBINED
