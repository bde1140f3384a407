"""Computations that lost their callers to equal ones."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

BEFORE = """
HloModule m
%inner.1 (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %sine.1 = f32[8]{0} sine(%a)
}
%inner.2 (b: f32[8]) -> f32[8] {
  %b = f32[8]{0} parameter(0)
  ROOT %sine.2 = f32[8]{0} sine(%b)
}
%called.1 (c: f32[8]) -> f32[8] {
  %c = f32[8]{0} parameter(0)
  ROOT %call.1 = f32[8]{0} call(%c), to_apply=%inner.1
}
%called.2 (d: f32[8]) -> f32[8] {
  %d = f32[8]{0} parameter(0)
  ROOT %call.2 = f32[8]{0} call(%d), to_apply=%inner.2
}
ENTRY %main (x: f32[8], y: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %first = f32[8]{0} call(%x), to_apply=%called.1
  %second = f32[8]{0} call(%y), to_apply=%called.2
  ROOT %sum = f32[8]{0} add(%first, %second)
}
"""
AFTER = BEFORE.replace("call(%y), to_apply=%called.2", "call(%y), to_apply=%called.1")


@pytest.mark.parametrize(("home", "name"), [("inner", "sine"), ("called", "call")])
def test_lines_without_callers_were_merged_into_those_called_instead(
    read: Read, home: str, name: str
) -> None:
    """Of what the computation calls as well, though all lines are there as they were."""
    pairing = match(read(BEFORE), read(AFTER)).pairing_before(Place(f"{home}.2", f"{name}.2"))
    assert pairing is not None
    assert pairing.relation is Relation.MERGED
    places = [Place(f"{home}.{number}", f"{name}.{number}") for number in (1, 2)]
    assert (pairing.before, pairing.after) == (tuple(places), tuple(places[:1]))


def test_computations_that_hold_something_else_are_not_merged(read: Read) -> None:
    texts = (text.replace("sine(%b)", "cosine(%b)") for text in (BEFORE, AFTER))
    matching = match(*map(read, texts))
    assert matching.pairing_before(Place("inner.2", "sine.2")) is None


def test_the_account_tells_what_is_called_instead(read: Read) -> None:
    """No line is gone, and none was added."""
    change = step(read(BEFORE), read(AFTER))
    assert [row.kind for row in change.changes] == [Kind.ATTRIBUTES]
    assert "2 computations of 4 instructions have no live callers" in " ".join(change.account)
