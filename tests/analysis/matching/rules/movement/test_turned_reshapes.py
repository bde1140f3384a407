"""Transposes that a reshape of their result stands before now."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
ENTRY %main (a: f32[2,3,8,4], b: f32[6,5]) -> f32[32,5] {
  %a = f32[2,3,8,4]{3,2,1,0} parameter(0)
  %b = f32[6,5]{1,0} parameter(1)
  %given = f32[2,3,8,4]{3,2,1,0} tanh(%a)
"""
_DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
_BEFORE = f"""{_HEAD}
  %reshape.1 = f32[2,3,32]{{2,1,0}} reshape(%given)
  %transpose.1 = f32[32,2,3]{{2,1,0}} transpose(%reshape.1), dimensions={{2,0,1}}
  %reshape.2 = f32[32,6]{{1,0}} reshape(%transpose.1)
  ROOT %dot.1 = f32[32,5]{{1,0}} dot(%reshape.2, %b), {_DOT}
}}
"""
_AFTER = f"""{_HEAD}
  %reshape.3 = f32[6,32]{{1,0}} reshape(%given)
  %transpose.2 = f32[32,6]{{1,0}} transpose(%reshape.3), dimensions={{1,0}}
  ROOT %dot.1 = f32[32,5]{{1,0}} dot(%transpose.2, %b), {_DOT}
}}
"""


def test_a_transpose_that_reads_what_reshaped_it_was_moved(read: Read) -> None:
    before, after = read(_BEFORE), read(_AFTER)
    pairing = match(before, after).pairing_before(Place("main", "transpose.1"))
    assert pairing is not None
    assert pairing.after == (Place("main", "transpose.2"),)
    assert pairing.relation is Relation.SWAPPED
    words = step(before, after, "`algsimp`")
    assert "moved 1 transpose past other instructions" in " ".join((words.headline, *words.account))


def test_a_transpose_of_another_value_is_another(read: Read) -> None:
    other = _AFTER.replace("reshape(%given)", "reshape(%a)")
    pairing = match(read(_BEFORE), read(other)).pairing_before(Place("main", "transpose.1"))
    assert pairing is None or pairing.relation is not Relation.SWAPPED
