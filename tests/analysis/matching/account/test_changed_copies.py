"""A pass clones a comparator and changes the clone: what it took over is no addition."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_COMPARATOR = """
%cmp (p0: f32[], p1: f32[], p2: s32[], p3: s32[]) -> pred[] {
  %p0 = f32[] parameter(0)
  %p1 = f32[] parameter(1)
  %p2 = s32[] parameter(2)
  %p3 = s32[] parameter(3)
  ROOT %less = pred[] compare(%p0, %p1), direction=LT
}
"""
_STABLE = """
ENTRY %main (a: f32[64], b: s32[64]) -> (f32[64], s32[64]) {
  %a = f32[64]{0} parameter(0)
  %b = s32[64]{0} parameter(1)
  ROOT %sort = (f32[64]{0}, s32[64]{0}) sort(%a, %b), dimensions={0}, is_stable=true, to_apply=%cmp
}
"""
_TIES_BROKEN = """
%cmp.clone (q0: f32[], q1: f32[], q2: s32[], q3: s32[]) -> pred[] {
  %q0 = f32[] parameter(0)
  %q1 = f32[] parameter(1)
  %q2 = s32[] parameter(2)
  %q3 = s32[] parameter(3)
  %less.1 = pred[] compare(%q0, %q1), direction=LT
  %more = pred[] compare(%q1, %q0), direction=LT
  %same = pred[] compare(%less.1, %more), direction=EQ
  %tie = pred[] compare(%q2, %q3), direction=LT
  ROOT %chosen = pred[] select(%same, %tie, %less.1)
}
"""
_UNSTABLE = _STABLE.replace(", is_stable=true", "").replace("%cmp", "%cmp.clone")
_ADDED = {"more", "same", "tie", "chosen"}


@pytest.mark.parametrize("left", [_COMPARATOR, ""], ids=["the original stays", "it is removed"])
def test_lines_of_a_cloned_comparator_are_clones(read: Read, left: str) -> None:
    matching = match(read(_COMPARATOR + _STABLE), read(left + _TIES_BROKEN + _UNSTABLE))
    assert {place.instruction for place in matching.added} == _ADDED
    assert matching.partner_before(Place("cmp.clone", "less.1")) == Place("cmp", "less")


def test_it_is_matched_and_says_what_it_is_made_of(read: Read) -> None:
    matching = match(read(_COMPARATOR + _STABLE), read(_COMPARATOR + _TIES_BROKEN + _UNSTABLE))
    pairing = matching.pairing_after(Place("cmp.clone", "less.1"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    known = pairing.known_of(Place("cmp", "less"), Place("cmp.clone", "less.1"))
    assert known == (Grade.MATCHED, "%cmp.clone is made of %cmp")


def test_a_comparator_that_shares_parameters_alone_is_new(read: Read) -> None:
    other = _TIES_BROKEN.replace("compare(%q0, %q1)", "compare(%q0, %q1), type=TOTALORDER")
    matching = match(read(_COMPARATOR + _STABLE), read(_COMPARATOR + other + _UNSTABLE))
    assert {"q0", "q3", "less.1"} <= {place.instruction for place in matching.added}


def test_what_a_cloned_comparator_computes_once_more_is_a_clone_too(read: Read) -> None:
    """What `tpu-stable-sort-expander` makes of keys that it compares in both orders."""
    key = "  %key = f32[] abs(%p0)\n  ROOT %less = pred[] compare(%key, %p1), direction=LT"
    whole = _COMPARATOR.replace("  ROOT %less = pred[] compare(%p0, %p1), direction=LT", key)
    twice = _TIES_BROKEN.replace(
        "  %less.1 = pred[] compare(%q0, %q1)",
        "  %key.1 = f32[] abs(%q0)\n  %less.1 = pred[] compare(%key.1, %q1)",
    ).replace(
        "  %more = pred[] compare(%q1, %q0)",
        "  %key.2 = f32[] abs(%q0)\n  %more = pred[] compare(%q1, %key.2)",
    )
    matching = match(read(whole + _STABLE), read(whole + twice + _UNSTABLE))
    assert {place.instruction for place in matching.added} == _ADDED
    assert matching.partner_before(Place("cmp.clone", "key.2")) == Place("cmp", "key")


_BRANCH = """
%other (o: f32[8]) -> f32[8] {
  ROOT %o = f32[8]{0} parameter(0)
}
%branch (p: (f32[8], f32[8], s32[])) -> f32[8] {
  %p = (f32[8]{0}, f32[8]{0}, s32[]) parameter(0)
  %x = f32[8]{0} get-tuple-element(%p), index=0
  %y = f32[8]{0} get-tuple-element(%p), index=1
  %exp = f32[8]{0} exponential(%x)
  ROOT %sum = f32[8]{0} add(%exp, %y)
}
ENTRY %main (i: pred[], a: f32[8], b: s32[]) -> f32[8] {
  %i = pred[] parameter(0)
  %a = f32[8]{0} parameter(1)
  %b = s32[] parameter(2)
  %given = (f32[8]{0}, f32[8]{0}, s32[]) tuple(%a, %a, %b)
  ROOT %either = f32[8]{0} conditional(%i, %given, %a), true_computation=%branch, \
false_computation=%other
}
"""


def test_a_branch_that_lost_an_element_of_its_argument_is_a_clone(read: Read) -> None:
    start, end = _BRANCH.index("%branch"), _BRANCH.index("ENTRY")
    body, entry = _BRANCH[start:end], _BRANCH[end:]
    narrow = body.replace("f32[8]{0}, s32[])", "f32[8]{0})").replace("f32[8], s32[])", "f32[8])")
    for name in ("p", "x", "y", "exp", "sum"):
        narrow = narrow.replace(f"%{name} ", f"%{name}.1 ").replace(f"%{name})", f"%{name}.1)")
        narrow = narrow.replace(f"%{name},", f"%{name}.1,")
    narrow = narrow.replace("%branch", "%branch.clone").replace("(p:", "(p.1:")
    entry = entry.replace("%branch", "%branch.clone").replace("tuple(%a, %a, %b)", "tuple(%a, %a)")
    entry = entry.replace("(f32[8]{0}, f32[8]{0}, s32[]) tuple", "(f32[8]{0}, f32[8]{0}) tuple")
    matching = match(read(_BRANCH), read(_BRANCH[:end] + narrow + entry))
    assert not [place for place in matching.added if place.computation == "branch.clone"]
    assert matching.partner_before(Place("branch.clone", "sum.1")) == Place("branch", "sum")


_ADDS = """
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}
"""
_REDUCED = """
ENTRY %main (a: bf16[4,8], zero: f32[]) -> f32[4] {
  %a = bf16[4,8]{1,0} parameter(0)
  %zero = f32[] parameter(1)
  %wide = f32[4,8]{1,0} convert(%a)
  ROOT %reduce.1 = f32[4]{0} reduce(%wide, %zero), dimensions={1}, to_apply=%add
}
"""
_NARROW_ADDS = """
%add.clone (x.1: bf16[], y.1: bf16[]) -> bf16[] {
  %x.1 = bf16[] parameter(0)
  %y.1 = bf16[] parameter(1)
  ROOT %sum.1 = bf16[] add(%x.1, %y.1)
}
"""
_NARROWED = """
ENTRY %main (a: bf16[4,8], zero: f32[]) -> f32[4] {
  %a = bf16[4,8]{1,0} parameter(0)
  %zero = f32[] parameter(1)
  %low = bf16[] convert(%zero)
  %reduce.2 = bf16[4]{0} reduce(%a, %low), dimensions={1}, to_apply=%add.clone
  ROOT %high = f32[4]{0} convert(%reduce.2)
}
"""


def test_a_reducer_that_was_cloned_in_another_type_is_made_of_the_former(read: Read) -> None:
    """What `tpu-reduce-rewriter` does, before a later pass removes the reducer without callers."""
    matching = match(read(_ADDS + _REDUCED), read(_ADDS + _NARROW_ADDS + _NARROWED))
    for name in ("x", "y", "sum"):
        pairing = matching.pairing_after(Place("add.clone", f"{name}.1"))
        assert pairing is not None
        assert pairing.before == (Place("add", name),)
        known = pairing.known_of(pairing.before[0], Place("add.clone", f"{name}.1"))
        assert known == (Grade.MATCHED, "%add.clone is made of %add")


def test_the_account_says_in_which_type_it_was_cloned(read: Read) -> None:
    made = step(read(_ADDS + _REDUCED), read(_ADDS + _NARROW_ADDS + _NARROWED))
    words = " ".join((made.headline, *made.account))
    assert "`%add` was cloned to `%add.clone` in the element type `bf16`" in words
