"""Copies in another shape, told by what their readers' originals read."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_OP = 'metadata={op_name="jit(f)/OP"}'
_BEFORE = """
ENTRY %main (a: f32[4,8], b: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[4,8]{1,0} parameter(1)
  %ratio = f32[4,8]{1,0} divide(%a, %b), RATIO
  %more = f32[4,8]{1,0} add(%ratio, %a), MORE
  %wave = f32[4,8]{1,0} sine(%more), WAVE
  %other = f32[4,8]{1,0} tanh(%more)
  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%wave, %other)
}
"""
for _name in ("ratio", "more", "wave"):
    _BEFORE = _BEFORE.replace(_name.upper(), _OP.replace("OP", _name))
_AFTER = _BEFORE.replace(
    '  %wave = f32[4,8]{1,0} sine(%more), metadata={op_name="jit(f)/wave"}',
    """  %a.1 = f32[32]{0} reshape(%a)
  %b.1 = f32[32]{0} reshape(%b)
  %share = f32[32]{0} divide(%a.1, %b.1), metadata={op_name="jit(f)/ratio"}
  %total = f32[32]{0} add(%share, %a.1), metadata={op_name="jit(f)/more"}
  %wave.1 = f32[32]{0} sine(%total), metadata={op_name="jit(f)/wave"}
  %back = f32[4,8]{1,0} reshape(%wave.1)""",
).replace("tuple(%wave, ", "tuple(%back, ")


def _copied(before: HloModule, after: HloModule, name: str) -> tuple[Relation, tuple[Place, ...]]:
    pairing = match(before, after).pairing_after(Place("main", name))
    assert pairing is not None
    return pairing.relation, pairing.before


def test_what_a_reader_in_another_shape_reads_is_a_copy_of_what_it_read(read: Read) -> None:
    before, after = read(_BEFORE), read(_AFTER)
    assert _copied(before, after, "total") == (Relation.CLONED, (Place("main", "more"),))
    assert _copied(before, after, "share") == (Relation.CLONED, (Place("main", "ratio"),))


def test_what_is_of_another_framework_op_is_no_copy(read: Read) -> None:
    other = _AFTER.replace(
        'add(%share, %a.1), metadata={op_name="jit(f)/more"}',
        'add(%share, %a.1), metadata={op_name="jit(f)/less"}',
    )
    assert _copied(read(_BEFORE), read(other), "total")[0] is Relation.ADDED


def test_what_does_other_work_is_no_copy(read: Read) -> None:
    other = _AFTER.replace("add(%share, %a.1)", "subtract(%share, %a.1)")
    assert _copied(read(_BEFORE), read(other), "total")[0] is Relation.ADDED
