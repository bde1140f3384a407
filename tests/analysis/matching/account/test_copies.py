"""Copies of computations that no known instruction calls: names decide."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_SUM = """%add.N (x.N: f32[], y.N: f32[]) -> f32[] {
  %x.N = f32[] parameter(0)
  %y.N = f32[] parameter(1)
  ROOT %s.N = f32[] add(%x.N, %y.N)
}

"""
_SUMS = _SUM.replace(".N", ".1") + _SUM.replace(".N", ".2")
_HEAD = """ENTRY %main (a: f32[8]) -> (f32[], f32[]) {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %total.1 = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%add.1
  %total.2 = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%add.2
"""
_BEFORE = f"""HloModule m

{_SUMS}{_HEAD}  ROOT %out = (f32[], f32[]) tuple(%total.1, %total.2)
}}
"""


def _summed(clone: str) -> str:
    computation = _SUM.replace("add.N", clone).replace(".N", ".9")
    sent = f"  %sent = f32[] all-reduce(%total.2), to_apply=%{clone}\n"
    root = "  ROOT %out = (f32[], f32[]) tuple(%total.1, %sent)\n}\n"
    return f"HloModule m\n\n{_SUMS}{computation}{_HEAD}{sent}{root}"


def test_a_clone_has_the_name_of_its_original_with_a_mark_behind_it(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_summed("add.2.clone"))).pairing_after(
        Place("add.2.clone", "s.9")
    )
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.grade is Grade.MATCHED
    assert pairing.before == (Place("add.2", "s.2"),)


def test_of_equal_computations_the_first_part_of_the_name_is_a_guess(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_summed("add.7"))).pairing_after(Place("add.7", "s.9"))
    assert pairing is not None
    assert pairing.grade is Grade.GUESSED
