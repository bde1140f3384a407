"""New computations that instructions apply are added as a whole."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: f32[8,4]) -> f32[8] {
  %a = f32[8,4]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %b = f32[4]{0} slice(%a), slice={[0:1], [0:4]}
  ROOT %out = f32[8]{0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
_SUM = """
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %more = f32[] add(%x, %y)
}
"""
_AFTER = _SUM + _BEFORE.replace(
    "ROOT %out = f32[8]{0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    """%wide = f32[8,4]{1,0} broadcast(%b), dimensions={1}
  %product = f32[8,4]{1,0} multiply(%a, %wide)
  ROOT %out = f32[8]{0} reduce(%product, %zero), dimensions={1}, to_apply=%sum""",
)


def test_a_new_reducer_is_told_as_a_computation(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER))
    words = " ".join((change.headline, *change.account))
    assert "dded 1 computation of 3 instructions: `%sum` is applied by `%out`" in words
    assert "parameters" not in words
    assert sum(row.kind is Kind.DEFINED for row in change.added) == 3


def test_a_new_computation_that_a_call_runs_is_told_by_its_instructions(read: Read) -> None:
    called = _BEFORE.replace(
        "ROOT %out", "%c = f32[] call(%zero, %zero), to_apply=%sum\n  ROOT %out"
    )
    change = step(read(_BEFORE), read(_SUM + called))
    assert not any(row.kind is Kind.DEFINED for row in change.changes)


def test_a_new_reducer_that_only_dead_instructions_apply_has_no_live_callers(read: Read) -> None:
    after = _SUM + _BEFORE.replace(
        "ROOT %out",
        "%unread = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum\n  ROOT %out",
    )
    change = step(read(_BEFORE), read(after))
    words = " ".join((change.headline, *change.account))
    assert "dded 3 instructions to a computation without live callers" in words
    assert "applied by" not in words


def test_a_removed_reducer_is_told_as_a_computation(read: Read) -> None:
    change = step(read(_AFTER), read(_BEFORE))
    words = " ".join((change.headline, *change.account))
    assert "emoved 1 computation of 3 instructions: `%sum` was removed with `%out`" in words
    assert sum(row.kind is Kind.UNAPPLIED for row in change.removed) == 3
