"""Transposes of dimensions of one element, between bitcasts."""

from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m
ENTRY %main (a: f32[1,8,4], b: f32[8,1,4]) -> f32[8,1,4] {
  %a = f32[1,8,4]{2,1,0} parameter(0)
  %b = f32[8,1,4]{2,1,0} parameter(1)
  %bitcast.1 = f32[1,8,4]{2,1,0} bitcast(%a)
  %transpose.1 = f32[8,1,4]{2,1,0} transpose(%bitcast.1), dimensions={1,0,2}, metadata={op_name="t"}
  %bitcast.2 = f32[1,8,4]{2,0,1} bitcast(%transpose.1), metadata={op_name="t"}
  %bitcast.3 = f32[8,1,4]{2,1,0} bitcast(%bitcast.2)
  ROOT %out = f32[8,1,4]{2,1,0} add(%bitcast.3, %b), metadata={op_name="add"}
}
"""
_GONE = ("%bitcast.1 =", "%transpose.1 =", "%bitcast.2 =")
_LINES = [line for line in _BEFORE.splitlines() if not any(name in line for name in _GONE)]
_NEW = '%bitcast.9 = f32[8,1,4]{2,1,0} bitcast(%a), metadata={op_name="t"}'
_AFTER = (
    "\n".join(_LINES)
    .replace("%bitcast.3 = f32[8,1,4]{2,1,0} bitcast(%bitcast.2)", _NEW)
    .replace("add(%bitcast.3", "add(%bitcast.9")
)


def test_the_transpose_became_the_bitcast_that_has_its_metadata(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER), "`algsimp`")
    became = {row.before: row.after for row in change.changes if row.kind is Kind.REPLACED}
    assert became == {Place("main", "transpose.1"): Place("main", "bitcast.9")}
    assert "replaced 1 transpose with a bitcast" in change.headline
    assert "metadata" not in " ".join((change.headline, *change.account))
    assert sum(row.balance for row in change.changes) == -3


def test_a_bitcast_with_other_metadata_stays_what_it_was(read: Read) -> None:
    other = _AFTER.replace('bitcast(%a), metadata={op_name="t"}', "bitcast(%a)")
    change = step(read(_BEFORE), read(other), "`algsimp`")
    assert Kind.REPLACED not in {row.kind for row in change.changes}


def test_the_bitcasts_between_went_with_it(read: Read) -> None:
    """None of them was what the new bitcast reads something else instead of."""
    change = step(read(_BEFORE), read(_AFTER), "`algsimp`")
    reasons = {row.before.instruction: str(row.reason) for row in change.removed if row.before}
    assert reasons["bitcast.2"] == reasons["bitcast.3"]
    assert reasons["bitcast.2"] == "%bitcast.9 has the value of all of them"
