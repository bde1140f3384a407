"""Operations on 64-bit integers that became several on 32-bit halves."""

from collections.abc import Callable

from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_WHOLE = """
HloModule m

ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %count = u64[4]{0} iota(), iota_dimension=0
  %ones = u64[] constant(3)
  %many = u64[4]{0} broadcast(%ones), dimensions={}
  %sum = u64[4]{0} add(%count, %many)
  %short = u32[4]{0} convert(%sum)
  ROOT %out = u32[4]{0} xor(%a, %short)
}
"""
_HALVES = """
HloModule m

ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %iota = u32[4]{0} iota(), iota_dimension=0
  %constant.1 = u32[] constant(0)
  %broadcast.1 = u32[4]{0} broadcast(%constant.1), dimensions={}
  %tuple.1 = (u32[4]{0}, u32[4]{0}) tuple(%iota, %broadcast.1)
  %constant.2 = u32[] constant(3)
  %constant.3 = u32[] constant(0)
  %tuple.2 = (u32[], u32[]) tuple(%constant.2, %constant.3)
  %many = u32[4]{0} broadcast(%constant.2), dimensions={}
  %broadcast.3 = u32[4]{0} broadcast(%constant.3), dimensions={}
  %tuple.3 = (u32[4]{0}, u32[4]{0}) tuple(%many, %broadcast.3)
  %add.1 = u32[4]{0} add(%iota, %many)
  %compare.1 = pred[4]{0} compare(%add.1, %iota), direction=LT
  %convert.1 = u32[4]{0} convert(%compare.1)
  %add.2 = u32[4]{0} add(%broadcast.1, %broadcast.3)
  %add.3 = u32[4]{0} add(%add.2, %convert.1)
  %tuple.4 = (u32[4]{0}, u32[4]{0}) tuple(%add.1, %add.3)
  %short = u32[4]{0} convert(%add.1)
  ROOT %out = u32[4]{0} xor(%a, %short)
}
"""


def _at(name: str) -> Place:
    return Place("main", name)


def test_an_operation_becomes_several_of_which_one_gives_the_low_half(read: Read) -> None:
    matching = match(read(_WHOLE), read(_HALVES))
    became = {
        "count": {"iota", "constant.1", "broadcast.1", "tuple.1"},
        "ones": {"constant.2", "constant.3", "tuple.2"},
        "many": {"many", "broadcast.3", "tuple.3"},
        "sum": {"add.1", "compare.1", "convert.1", "add.2", "add.3", "tuple.4"},
    }
    firsts = {"count": "iota", "ones": "constant.2", "many": "many", "sum": "add.1"}
    for name, parts in became.items():
        pairing = matching.pairing_before(_at(name))
        assert pairing is not None
        assert pairing.relation is Relation.EXPANDED, name
        assert pairing.after[0] == _at(firsts[name])
        assert {place.instruction for place in pairing.after} == parts


def test_the_account_adds_and_changes_no_other_instruction(read: Read) -> None:
    made = step(read(_WHOLE), read(_HALVES), "`xprecision-rewriter`")
    kinds = {change.kind for change in made.changes}
    assert not kinds & {Kind.ADDED, Kind.REMOVED, Kind.TYPE}
    assert "expanded 1 add, 1 broadcast, 1 constant and 1 iota into 16" in made.headline
    assert sum(change.balance for change in made.changes) == 12


def test_the_history_of_a_half_goes_back_to_the_whole(read: Read) -> None:
    known = history(SnapshotSequence([read(_WHOLE), read(_HALVES)]), 1, _at("add.3"))
    assert _at("sum") in known[-1].sources or _at("sum") in {k.instruction for k in known}


def test_new_pairs_that_are_read_are_no_halves(read: Read) -> None:
    used = _HALVES.replace(
        "  %short",
        "  %get = u32[4]{0} get-tuple-element(%tuple.4), index=0\n  %short",
    ).replace("convert(%add.1)", "convert(%get)")
    pairing = match(read(_WHOLE), read(used)).pairing_before(_at("sum"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED
