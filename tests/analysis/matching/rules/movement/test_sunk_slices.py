"""Slices of operands that became a slice of the result."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """HloModule m

ENTRY %main (a: f32[2,8], b: f32[2,8]) -> (f32[8], f32[8]) {
  %a = f32[2,8]{1,0} parameter(0)
  %b = f32[2,8]{1,0} parameter(1)
"""
_SLICED = """\
  %slice.1 = f32[1,8]{1,0} slice(%a), slice={[0:1], [0:8]}
  %slice.2 = f32[1,8]{1,0} slice(%b), slice={[0:1], [0:8]}
  %add.1 = f32[1,8]{1,0} add(%slice.1, %slice.2)
  %slice.3 = f32[1,8]{1,0} slice(%a), slice={[1:2], [0:8]}
  %slice.4 = f32[1,8]{1,0} slice(%b), slice={[1:2], [0:8]}
  %add.2 = f32[1,8]{1,0} add(%slice.3, %slice.4)
"""
_WHOLE = """\
  %add.9 = f32[2,8]{1,0} add(%a, %b)
  %slice.8 = f32[1,8]{1,0} slice(%add.9), slice={[0:1], [0:8]}
  %slice.9 = f32[1,8]{1,0} slice(%add.9), slice={[1:2], [0:8]}
"""


def _tail(first: str, second: str) -> str:
    return (
        f"  %x = f32[8]{{0}} reshape(%{first})\n  %y = f32[8]{{0}} reshape(%{second})\n"
        "  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%x, %y)\n}\n"
    )


BEFORE = _HEAD + _SLICED + _tail("add.1", "add.2")


def test_slices_move_past_work_whose_originals_are_left_unread(read: Read) -> None:
    after = _HEAD + _SLICED + _WHOLE + _tail("slice.8", "slice.9")
    told = step(read(BEFORE), read(after))
    words = " ".join((told.headline, *told.account))
    assert "`%slice.1` in `main` was moved past `%add.1` (now `%slice.8`)" in words
    assert "`%add.1` in `main` was moved past `%slice.1` (now `%add.9`)" in words
    assert "added" not in words
    assert "instead of" not in words


def test_slices_of_other_elements_or_other_work_are_new(read: Read) -> None:
    whole = _HEAD + _SLICED + _WHOLE + _tail("slice.8", "slice.9")
    for work in ("multiply(%a, %b)", "add(%b, %a)"):
        other = read(whole.replace("add(%a, %b)", work))
        pairing = match(read(BEFORE), other).pairing_after(Place("main", "slice.8"))
        assert pairing is not None
        assert pairing.relation is Relation.ADDED
