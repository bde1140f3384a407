"""What a loop was given for an element that its body reads, and reads of it that went."""

from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.loop_elements import given_values
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_LOOP = """
HloModule m
%cond (c: (s32[], f32[8], f32[])) -> pred[] {
  %c = (s32[], f32[8]{0}, f32[]) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(9)
  ROOT %less = pred[] compare(%k, %most), direction=LT
}
%body (p: (s32[], f32[8], f32[])) -> (s32[], f32[8], f32[]) {
  %p = (s32[], f32[8]{0}, f32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %scale = f32[] get-tuple-element(%p), index=2
  %wide = f32[8]{0} broadcast(%scale), dimensions={}
  %y = f32[8]{0} multiply(%x, %wide)
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %through = f32[] get-tuple-element(%p), index=2
  ROOT %out = (s32[], f32[8]{0}, f32[]) tuple(%next, %y, %through)
}
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %half = f32[] constant(0.5)
  %start = (s32[], f32[8]{0}, f32[]) tuple(%zero, %a, %half)
  %while = (s32[], f32[8]{0}, f32[]) while(%start), condition=%cond, body=%body
  ROOT %result = f32[8]{0} get-tuple-element(%while), index=1
}
"""
_SUNK = (
    _LOOP.replace("%body", "%body.sunk")
    .replace("broadcast(%scale)", "broadcast(%half.sunk)")
    .replace(
        "  %scale = f32[] get-tuple-element(%p), index=2\n", "  %half.sunk = f32[] constant(0.5)\n"
    )
)


def test_an_element_that_no_iteration_changes_is_what_the_loop_was_given(read: Read) -> None:
    loop = read(_LOOP)
    half = Place("main", "half")
    assert [*given_values(loop, Place("body", "scale"))] == [half]
    assert [*given_values(loop, Place("body", "through"))] == [half]
    for name in ("x", "i", "wide", "p"):
        assert not [*given_values(loop, Place("body", name))]
    assert not [*given_values(loop, Place("main", "result"))]


def test_a_constant_that_was_sunk_into_the_loop_is_the_same_value(read: Read) -> None:
    """What `while-loop-constant-sinking` does: it changes the operands of nothing in effect."""
    change = step(read(_LOOP), read(_SUNK), "`while-loop-constant-sinking`")
    kinds = {row.kind for row in change.changes}
    assert Kind.OPERANDS not in kinds
    assert Kind.REWIRED in kinds
    other = _SUNK.replace("%half.sunk = f32[] constant(0.5)", "%half.sunk = f32[] constant(0.25)")
    kinds = {row.kind for row in step(read(_LOOP), read(other), "`simplify`").changes}
    assert Kind.REWIRED not in kinds
