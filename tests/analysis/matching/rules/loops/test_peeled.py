"""Loops of which a pass put the first iteration before the loop."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_SUM = """
HloModule m

%sum (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %add.9 = f32[] add(%l, %r)
}

%going (q: (s32[], f32[8], f32[8]MORE)) -> pred[] {
  %q = (s32[], f32[8]{0}, f32[8]{0}MORE) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %four = s32[] constant(4)
  ROOT %ends = pred[] compare(%k, %four), direction=LT
}
"""
_BEFORE = (
    _SUM.replace("MORE", "")
    + """
%body (p: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %p = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %w = f32[8]{0} get-tuple-element(%p), index=2
  %one = s32[] constant(1)
  %add.1 = s32[] add(%n, %one)
  %sine.1 = f32[8]{0} sine(%x)
  %multiply.1 = f32[8]{0} multiply(%sine.1, %w)
  %sums.1 = f32[8]{0} all-reduce(%multiply.1), channel_id=1, to_apply=%sum
  %tanh.1 = f32[8]{0} tanh(%sums.1)
  ROOT %out.1 = (s32[], f32[8]{0}, f32[8]{0}) tuple(%add.1, %tanh.1, %w)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %zero = s32[] constant(0)
  %in.1 = (s32[], f32[8]{0}, f32[8]{0}) tuple(%zero, %a, %b)
  %while.1 = (s32[], f32[8]{0}, f32[8]{0}) while(%in.1), condition=%going, body=%body
  ROOT %get.1 = f32[8]{0} get-tuple-element(%while.1), index=1
}
"""
)
_AFTER = (
    _SUM.replace("MORE", "")
    + """
%body.2 (p: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %p = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %add.2 = s32[] add(%n, %one)
  %m = f32[8]{0} get-tuple-element(%p), index=1
  %sums.2 = f32[8]{0} all-reduce(%m), channel_id=2, to_apply=%sum
  %tanh.2 = f32[8]{0} tanh(%sums.2)
  %sine.2 = f32[8]{0} sine(%tanh.2)
  %w = f32[8]{0} get-tuple-element(%p), index=2
  %multiply.2 = f32[8]{0} multiply(%sine.2, %w)
  ROOT %out.2 = (s32[], f32[8]{0}, f32[8]{0}) tuple(%add.2, %multiply.2, %w)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %none = s32[] constant(0)
  %step = s32[] constant(1)
  %add.3 = s32[] add(%none, %step)
  %sine.3 = f32[8]{0} sine(%a)
  %multiply.3 = f32[8]{0} multiply(%sine.3, %b)
  %in.2 = (s32[], f32[8]{0}, f32[8]{0}) tuple(%add.3, %multiply.3, %b)
  %while.2 = (s32[], f32[8]{0}, f32[8]{0}) while(%in.2), condition=%going, body=%body.2
  %last = f32[8]{0} get-tuple-element(%while.2), index=1
  %sums.3 = f32[8]{0} all-reduce(%last), channel_id=3, to_apply=%sum
  ROOT %tanh.3 = f32[8]{0} tanh(%sums.3)
}
"""
)


def test_the_first_iteration_before_a_loop_is_a_copy_of_its_body(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    for name in ("add", "sine", "multiply"):
        pairing = matching.pairing_after(Place("main", f"{name}.3"))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert pairing.before == (Place("body", f"{name}.1"),)


def test_the_account_names_the_loop_that_was_peeled(read: Read) -> None:
    told = step(read(_BEFORE), read(_AFTER), "`collective-pipeliner-forward`")
    words = " ".join((told.headline, *told.account))
    assert "peeled the first iteration of `%while.1` and cloned 1 add, 1 multiply, 1 sine" in words
    assert "`%add.1` in `body` was cloned to `%add.3` before the loop" in words


def test_work_on_other_values_than_a_loop_begins_with_is_not_its_first_iteration(
    read: Read,
) -> None:
    other = _AFTER.replace("sine(%a)", "sine(%b)").replace("%multiply.3, %b)", "%multiply.3, %a)")
    told = step(read(_BEFORE), read(other), "`collective-pipeliner-forward`")
    assert "peeled" not in " ".join((told.headline, *told.account))
