"""A scatter that is called asynchronously, with indices that were sorted first."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_SUM = """
HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}
"""
_SCATTER = """
%held (p: f32[8], i: s32[4], u: f32[4]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %i = s32[4]{0} parameter(1)
  %u = f32[4]{0} parameter(2)
  ROOT %scatter = f32[8]{0} scatter(%p, %i, %u), update_window_dims={}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%sum
}
"""
_ENTRY = """
ENTRY %main (a: f32[8], b: s32[4], c: f32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = s32[4]{0} parameter(1)
  %c = f32[4]{0} parameter(2)
BODY
}
"""
_BEFORE = (
    _SUM
    + _SCATTER
    + _ENTRY.replace(
        "BODY",
        "  ROOT %scatter_fusion = f32[8]{0} fusion(%a, %b, %c), kind=kCustom, calls=%held",
    )
)
_ASYNC = """
%less (k: s32[], l: s32[], v: f32[], w: f32[]) -> pred[] {
  %k = s32[] parameter(0)
  %l = s32[] parameter(1)
  %v = f32[] parameter(2)
  %w = f32[] parameter(3)
  ROOT %lt = pred[] compare(%k, %l), direction=LT
}

%called (q: f32[8], j: s32[4], t: f32[4]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %j = s32[4]{0} parameter(1)
  %t = f32[4]{0} parameter(2)
  ROOT %scatter_fusion.1 = f32[8]{0} fusion(%q, %j, %t), kind=kCustom, calls=%held
}

%wrapped (q.1: f32[8], j.1: s32[4], t.1: f32[4]) -> f32[8] {
  %q.1 = f32[8]{0} parameter(0)
  %j.1 = s32[4]{0} parameter(1)
  %t.1 = f32[4]{0} parameter(2)
  ROOT %call = f32[8]{0} call(%q.1, %j.1, %t.1), to_apply=%called
}
"""
_LINES = """  %sort = (s32[4]{0}, f32[4]{0}) sort(%b, %c), dimensions={0}, to_apply=%less
  %keys = s32[4]{0} get-tuple-element(%sort), index=0
  %values = f32[4]{0} get-tuple-element(%sort), index=1
  %start = ((f32[8]{0}, s32[4]{0}, f32[4]{0}), f32[8]{0}, s32[]) async-start(%a, %keys, %values), \
calls=%wrapped
  ROOT %done = f32[8]{0} async-done(%start)"""
_AFTER = _SUM + _SCATTER + _ASYNC + _ENTRY.replace("BODY", _LINES)


def test_what_is_called_between_a_start_and_a_done_was_made_asynchronous(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER), "`offload`")
    words = " ".join((change.headline, *change.account))
    assert "made 1 fusion asynchronous" in change.headline
    assert "outlined" not in words
    assert "async-start" not in words
    kinds = {row.kind for row in change.changes}
    assert Kind.ASYNC in kinds
    assert Kind.OUTLINED not in kinds
    gained = change.after.instructions - change.before.instructions
    assert len(change.added) - len(change.removed) == gained


def test_a_call_that_runs_at_once_is_a_call(read: Read) -> None:
    plain = _ASYNC[: _ASYNC.index("%wrapped")]
    line = "  ROOT %call = f32[8]{0} call(%a, %b, %c), to_apply=%called"
    change = step(
        read(_BEFORE), read(_SUM + _SCATTER + plain + _ENTRY.replace("BODY", line)), "`p`"
    )
    assert "outlined 1 call" in change.headline
