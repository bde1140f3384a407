"""Copies in another shape, told by what their readers' originals read."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
%greatest (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %most = f32[] maximum(%x, %y)
}

ENTRY %main (a: f32[4,8]) -> (f32[4,4], f32[4,4]) {
  %a = f32[4,8]{1,0} parameter(0)
  %low = f32[] constant(-inf)
  %pool = f32[4,4]{1,0} reduce-window(%a, %low), window={size=1x2 stride=1x2}, to_apply=%greatest, metadata={op_name="jit(f)/max"}
  %wave = f32[4,4]{1,0} sine(%pool), metadata={op_name="jit(f)/wave"}
  %other = f32[4,4]{1,0} tanh(%pool)
  ROOT %out = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%wave, %other)
}
"""  # noqa: E501 - lines as XLA writes them
_AFTER = _BEFORE.replace(
    '  %wave = f32[4,4]{1,0} sine(%pool), metadata={op_name="jit(f)/wave"}',
    """  %wide = f32[5,8]{1,0} pad(%a, %low), padding=0_1x0_0
  %masked = f32[5,8]{1,0} negate(%wide)
  %again = f32[5,4]{1,0} reduce-window(%masked, %low), window={size=1x2 stride=1x2}, to_apply=%greatest, metadata={op_name="jit(f)/max"}
  %wave.clone = f32[5,4]{1,0} sine(%again), metadata={op_name="jit(f)/wave"}
  %back = f32[4,4]{1,0} slice(%wave.clone), slice={[0:4], [0:4]}
  %wave = f32[4,4]{1,0} sine(%pool), metadata={op_name="jit(f)/wave"}""",  # noqa: E501 - as above
).replace("tuple(%wave, ", "tuple(%back, ")


def _copied(before: HloModule, after: HloModule, name: str) -> tuple[Relation, tuple[Place, ...]]:
    pairing = match(before, after).pairing_after(Place("main", name))
    assert pairing is not None
    return pairing.relation, pairing.before


def test_what_a_reader_in_another_shape_reads_is_a_copy_of_what_it_read(read: Read) -> None:
    known = _copied(read(_BEFORE), read(_AFTER), "again")
    assert known == (Relation.CLONED, (Place("main", "pool"),))


def test_what_is_of_another_framework_op_is_no_copy(read: Read) -> None:
    before, op = _AFTER.split("  %again =")
    after = f"{before}  %again ={op.replace('jit(f)/max', 'jit(f)/least', 1)}"
    assert _copied(read(_BEFORE), read(after), "again")[0] is Relation.ADDED


def test_what_does_other_work_is_no_copy(read: Read) -> None:
    before, work = _AFTER.split("  %again =")
    after = f"{before}  %again ={work.replace('stride=1x2', 'stride=1x2 pad=0_0x0_0', 1)}"
    assert _copied(read(_BEFORE), read(after), "again")[0] is Relation.ADDED
