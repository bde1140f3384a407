"""What `simplify-while-loops` does with an element that no iteration changes."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m

%body (p: (s32[], s32[], f32[8])) -> (s32[], s32[], f32[8]) {
  %p = (s32[], s32[], f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %kept = s32[] get-tuple-element(%p), index=1
  %read = s32[] get-tuple-element(%p), index=1
  %x = f32[8]{0} get-tuple-element(%p), index=2
  %next = s32[] subtract(%n, %read)
  %y = f32[8]{0} cosine(%x)
  ROOT %t = (s32[], s32[], f32[8]{0}) tuple(%next, %kept, %y)
}

%condition (q: (s32[], s32[], f32[8])) -> pred[] {
  %q = (s32[], s32[], f32[8]{0}) parameter(0)
  %m = s32[] get-tuple-element(%q), index=0
  %end = s32[] constant(9)
  ROOT %go = pred[] compare(%m, %end), direction=LT
}

ENTRY %main (a: f32[8], b: s32[]) -> (s32[], s32[], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = s32[] parameter(1)
  %seven = s32[] constant(7)
  %start = (s32[], s32[], f32[8]{0}) tuple(%b, %seven, %a)
  ROOT %w = (s32[], s32[], f32[8]{0}) while(%start), condition=%condition, body=%body
}
"""
_AFTER = _BEFORE.replace(
    "%kept = s32[] get-tuple-element(%p), index=1", "%seven.clone.1 = s32[] constant(7)"
)
_AFTER = _AFTER.replace(
    "%read = s32[] get-tuple-element(%p), index=1", "%seven.clone = s32[] constant(7)"
)
_AFTER = _AFTER.replace("tuple(%next, %kept", "tuple(%next, %seven.clone.1")
_AFTER = _AFTER.replace("subtract(%n, %read)", "subtract(%n, %seven.clone)")


def test_elements_that_are_a_constant_were_folded_into_it(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER), "`simplify-while-loops`")
    assert change.headline == (
        "`simplify-while-loops` folded 2 get-tuple-elements into constants; the get-tuple-element "
        "`%kept` in `body` was folded into `%seven.clone.1` (one of 2)."
    )
    assert Kind.CLONED not in {row.kind for row in change.changes}
    assert not change.added
    assert not change.removed


def test_a_clone_that_no_former_reader_reads_stays_a_clone(read: Read) -> None:
    only = _BEFORE.replace("  %next", "  %seven.clone = s32[] constant(7)\n  %next")
    only = only.replace("subtract(%n, %read)", "subtract(%seven.clone, %read)")
    change = step(read(_BEFORE), read(only), "`pass`")
    assert Kind.FOLDED not in {row.kind for row in change.changes}
