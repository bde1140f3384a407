"""Products with a common factor that became one product."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m
ENTRY %main (a: f32[8], b: f32[8], x: f32[8], y: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %x = f32[8]{0} parameter(2)
  %y = f32[8]{0} parameter(3)
"""
_BEFORE = f"""{_HEAD}
  %mul.1 = f32[8]{{0}} multiply(%a, %x)
  %mul.2 = f32[8]{{0}} multiply(%x, %b)
  %add.1 = f32[8]{{0}} add(%mul.1, %mul.2)
  ROOT %out = f32[8]{{0}} negate(%add.1)
}}
"""
_AFTER = f"""{_HEAD}
  %add.7 = f32[8]{{0}} add(%a, %b)
  %mul.7 = f32[8]{{0}} multiply(%add.7, %x)
  ROOT %out = f32[8]{{0}} negate(%mul.7)
}}
"""


def _combined(before: HloModule, after: HloModule, name: str) -> set[str]:
    pairing = match(before, after).pairing_after(Place("main", name))
    if pairing is None or pairing.relation is not Relation.COMBINED:
        return set()
    return {place.instruction for place in pairing.before}


def test_the_sum_and_its_products_became_the_product(read: Read) -> None:
    assert _combined(read(_BEFORE), read(_AFTER), "mul.7") == {"add.1", "mul.1", "mul.2"}


def test_the_new_sum_is_no_continuation(read: Read) -> None:
    result = step(read(_BEFORE), read(_AFTER), "`algsimp`")
    assert "combined 3 instructions into 1" in result.headline
    assert [change.after.instruction for change in result.added if change.after] == ["add.7"]


def test_products_of_products_have_several_common_factors(read: Read) -> None:
    before = _BEFORE.replace("%mul.1 =", "%mul.3 = f32[8]{0} multiply(%a, %y)\n  %mul.1 =")
    before = before.replace("%mul.2 =", "%mul.4 = f32[8]{0} multiply(%b, %y)\n  %mul.2 =")
    before = before.replace("multiply(%a, %x)", "multiply(%mul.3, %x)")
    before = before.replace("multiply(%x, %b)", "multiply(%x, %mul.4)")
    after = _AFTER.replace("%mul.7 =", "%mul.8 = f32[8]{0} multiply(%add.7, %y)\n  %mul.7 =")
    after = after.replace("multiply(%add.7, %x)", "multiply(%mul.8, %x)")
    members = _combined(read(before), read(after), "mul.7")
    assert members == {"add.1", "mul.1", "mul.2", "mul.3", "mul.4"}


def test_a_term_that_is_added_twice(read: Read) -> None:
    before = _BEFORE.replace("add(%mul.1, %mul.2)", "add(%mul.1, %mul.1)")
    after = _AFTER.replace("add(%a, %b)", "add(%a, %a)")
    assert _combined(read(before), read(after), "mul.7") == {"add.1", "mul.1"}


@pytest.mark.parametrize(
    ("old", "new"),
    [("add(%a, %b)", "subtract(%a, %b)"), ("(%add.7, %x)", "(%add.7, %y)")],
)
def test_another_sum_or_factor_is_no_pair(read: Read, old: str, new: str) -> None:
    assert _combined(read(_BEFORE), read(_AFTER.replace(old, new)), "mul.7") == set()


@pytest.mark.parametrize("line", ["add(%nowhere, %nowhere)", "add(%mul.1, %nowhere)", "add()"])
def test_a_sum_of_what_is_nowhere_is_no_sum_of_products(read: Read, line: str) -> None:
    before = read(_BEFORE.replace("add(%mul.1, %mul.2)", line))
    assert _combined(before, read(_AFTER), "mul.7") == set()


def test_products_of_themselves_end(read: Read) -> None:
    before = read(_BEFORE.replace("multiply(%a, %x)", "multiply(%mul.1, %mul.2)"))
    assert _combined(before, read(_AFTER), "mul.7") == set()
