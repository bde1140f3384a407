"""Work that a pass does again in a loop that carried its result."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_CARRIED = """
HloModule m

%body (p: (f32[8], f32[8], f32[8])) -> (f32[8], f32[8], f32[8]) {
  %p = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%p), index=0
  %angle = f32[8]{0} get-tuple-element(%p), index=1
  %given = f32[8]{0} get-tuple-element(%p), index=2
  %turned = f32[8]{0} add(%x, %angle)
  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%turned, %angle, %given)
}

%condition (q: (f32[8], f32[8], f32[8])) -> pred[] {
  %q = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %ends = pred[] constant(true)
}

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %mul.1 = f32[8]{0} multiply(%b, %b)
  %cos.1 = f32[8]{0} cosine(%mul.1)
  %in = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%a, %cos.1, %b)
  %while = (f32[8]{0}, f32[8]{0}, f32[8]{0}) while(%in), condition=%condition, body=%body
  %y = f32[8]{0} get-tuple-element(%while), index=0
  ROOT %all = (f32[8]{0}, f32[8]{0}) tuple(%y, %cos.1)
}
"""
_SUNK = _CARRIED.replace(
    "  %turned = f32[8]{0} add(%x, %angle)\n",
    "  %mul.2 = f32[8]{0} multiply(%given, %given)\n"
    "  %cos.2 = f32[8]{0} cosine(%mul.2)\n"
    "  %turned = f32[8]{0} add(%x, %cos.2)\n",
)


def test_work_in_a_loop_is_a_copy_of_that_whose_result_it_carried(read: Read) -> None:
    matching = match(read(_CARRIED), read(_SUNK))
    for new, old in {"cos.2": "cos.1", "mul.2": "mul.1"}.items():
        pairing = matching.pairing_after(Place("body", new))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert pairing.before == (Place("main", old),)


def test_the_account_says_in_which_loop_the_copies_are(read: Read) -> None:
    made = step(read(_CARRIED), read(_SUNK), "`while-loop-fusible-sinking`")
    words = " ".join((made.headline, *made.account))
    assert "cloned 1 cosine and 1 multiply" in words
    assert "`%cos.1` in `main` was cloned to `%cos.2` in the loop `%while`" in words


def test_work_that_is_only_in_the_loop_now_moved_there(read: Read) -> None:
    used = "  ROOT %all = (f32[8]{0}, f32[8]{0}) tuple(%y, %cos.1)"
    unused = "  ROOT %all = (f32[8]{0}, f32[8]{0}) tuple(%y, %b)"
    work = "  %mul.1 = f32[8]{0} multiply(%b, %b)\n  %cos.1 = f32[8]{0} cosine(%mul.1)\n"
    before, after = _CARRIED.replace(used, unused), _SUNK.replace(used, unused).replace(work, "")
    after = after.replace("tuple(%a, %cos.1, %b)", "tuple(%a, %a, %b)")
    made = step(read(before), read(after), "`while-loop-fusible-sinking`")
    words = " ".join((made.headline, *made.account))
    assert "moved 1 cosine and 1 multiply into loops" in words
    assert "`%cos.1` in `main` moved into the loop `%while`" in words


@pytest.mark.parametrize("read_now", ["%given, %x", "%x, %x"])
def test_work_on_another_value_is_no_copy(read: Read, read_now: str) -> None:
    given = _CARRIED.replace("tuple(%a, ", "tuple(%b, ")
    other = _SUNK.replace("tuple(%a, ", "tuple(%b, ").replace("%given, %given", read_now)
    pairing = match(read(given), read(other)).pairing_after(Place("body", "cos.2"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED
