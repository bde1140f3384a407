"""Conditionals that became selects in a fusion, in dumps of both ends alone."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step

_BEFORE = """HloModule m

doubled {
  given = (f32[8]) parameter(0)
  x = f32[8] get-tuple-element(given), index=0
  two = f32[] constant(2)
  twos = f32[8] broadcast(two), dimensions={}
  twice = f32[8] multiply(x, twos), metadata={op_name="cond/mul"}
  ROOT result = (f32[8]) tuple(twice)
}

lessened {
  given.1 = (f32[8]) parameter(0)
  x.1 = f32[8] get-tuple-element(given.1), index=0
  one = f32[] constant(1)
  ones = f32[8] broadcast(one), dimensions={}
  less = f32[8] subtract(x.1, ones), metadata={op_name="cond/sub"}
  ROOT result.1 = (f32[8]) tuple(less)
}

ENTRY main {
  a = f32[8] parameter(0)
  b = f32[] parameter(1)
  zero = f32[] constant(0)
  positive = pred[] compare(b, zero), direction=GT, metadata={op_name="greater"}
  start = (f32[8]) tuple(a)
  chosen = (f32[8]) conditional(positive, start, start), true_computation=doubled, \
false_computation=lessened, metadata={op_name="cond"}
  ROOT out = f32[8] get-tuple-element(chosen), index=0
}
"""
_AFTER = """HloModule m

fused {
  p = f32[8] parameter(0)
  q = f32[] parameter(1)
  none = f32[] constant(0)
  is_positive = pred[] compare(q, none), direction=GT, metadata={op_name="greater"}
  mask = pred[8] broadcast(PREDICATE), dimensions={}
  two.1 = f32[] constant(2)
  twos.1 = f32[8] broadcast(two.1), dimensions={}
  twice.1 = f32[8] multiply(p, twos.1), metadata={op_name="cond/mul"}
  minus = f32[] constant(-1)
  minuses = f32[8] broadcast(minus), dimensions={}
  less.1 = f32[8] add(p, minuses), metadata={op_name="cond/sub"}
  ROOT select.1 = f32[8] select(mask, twice.1, less.1), metadata={op_name="OP"}
}

ENTRY main {
  a = f32[8] parameter(0)
  b = f32[] parameter(1)
  ROOT fusion = f32[8] fusion(a, b), kind=kLoop, calls=fused, metadata={op_name="OP"}
}
"""


def _after(predicate: str, op_name: str) -> str:
    return _AFTER.replace("PREDICATE", predicate).replace("OP", op_name)


def test_a_conditional_became_the_select_of_its_framework_op_by_its_predicate() -> None:
    before, after = parse_module(_BEFORE), parse_module(_after("is_positive", "cond"))
    pairing = match(before, after).pairing_before(Place("main", "chosen"))
    assert pairing is not None
    assert pairing.relation is Relation.INLINED
    assert pairing.after[0] == Place("fused", "select.1")
    account = " ".join(step(before, after).account)
    assert "both branches, 1 select by its predicate gives its results" in account


@pytest.mark.parametrize("op_name", ["cond", ""])
def test_what_the_branches_give_goes_on_as_what_the_select_chooses_from(op_name: str) -> None:
    matching = match(parse_module(_BEFORE), parse_module(_after("is_positive", op_name)))
    assert matching.partner_after(Place("doubled", "twice")) == Place("fused", "twice.1")
    assert matching.partner_after(Place("lessened", "less")) == Place("fused", "less.1")
    assert matching.partner_after(Place("doubled", "twos")) == Place("fused", "twos.1")


@pytest.mark.parametrize(("predicate", "op_name"), [("always", "cond"), ("is_positive", "other")])
def test_a_select_by_another_predicate_or_of_another_op_is_none(
    predicate: str, op_name: str
) -> None:
    text = _after(predicate, op_name)
    text = text.replace("  mask =", "  always = pred[] constant(true)\n  mask =")
    pairing = match(parse_module(_BEFORE), parse_module(text)).pairing_before(
        Place("main", "chosen")
    )
    assert pairing is None or pairing.relation is not Relation.INLINED
