"""Computations that a step leaves without callers are counted, with the clones in them."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%p)
  ROOT %n = f32[8]{0} negate(%t)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %shared = f32[8]{0} fusion(%a), kind=kLoop, calls=%body
  %s = f32[8]{0} sine(%shared)
  %c = f32[8]{0} cosine(%shared)
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%s, %c)
}
"""
_AFTER = """
%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%p)
  ROOT %n = f32[8]{0} negate(%t)
}

%first (p.1: f32[8]) -> f32[8] {
  %p.1 = f32[8]{0} parameter(0)
  %t.1 = f32[8]{0} tanh(%p.1)
  %n.1 = f32[8]{0} negate(%t.1)
  ROOT %s.1 = f32[8]{0} sine(%n.1)
}

%second (p.2: f32[8]) -> f32[8] {
  %p.2 = f32[8]{0} parameter(0)
  %t.2 = f32[8]{0} tanh(%p.2)
  %n.2 = f32[8]{0} negate(%t.2)
  ROOT %c.2 = f32[8]{0} cosine(%n.2)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%first
  %g = f32[8]{0} fusion(%a), kind=kLoop, calls=%second
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%f, %g)
}
"""


def test_what_is_left_without_callers_is_counted(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER))
    assert "1 computation of 3 instructions has no live callers after the step." in change.account
    assert not any("no live callers" in line for line in step(read(_AFTER), read(_AFTER)).account)


def test_a_fusion_that_two_others_hold_was_merged_into_both(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER))
    account = " ".join((change.headline, *change.account))
    assert "`%shared` in `main` was merged into `%f` and `%g`" in account


def test_what_stays_as_it_was_is_no_change(read: Read) -> None:
    changes = step(read(_BEFORE), read(_AFTER)).changes
    assert not [change for change in changes if change.kind is Kind.PART]


_ABANDONED = _AFTER.replace(
    "ENTRY",
    """%attempt (p.3: f32[8]) -> f32[8] {
  %p.3 = f32[8]{0} parameter(0)
  %t.3 = f32[8]{0} tanh(%p.3)
  ROOT %n.3 = f32[8]{0} negate(%t.3)
}

ENTRY""",
)


def test_what_a_dead_computation_gains_is_a_leftover_and_no_clone(read: Read) -> None:
    change = step(read(_BEFORE), read(_ABANDONED))
    left = [c for c in change.added if c.after and c.after.computation == "attempt"]
    assert [c.kind for c in left] == [Kind.LEFTOVER] * 3
    sentence = "Added 3 instructions to a computation without live callers"
    assert any(line.startswith(sentence) for line in change.account)
    assert len(change.added) - len(change.removed) == 7 + 3


_EXTENDED = _AFTER.replace(
    "ROOT %n = f32[8]{0} negate(%t)", "%n = f32[8]{0} negate(%t)\n  ROOT %e = f32[8]{0} exp(%n)"
).replace(" exp(", " exponential(")


def test_a_fusion_whose_computation_was_abandoned_goes_on_in_others(read: Read) -> None:
    change = step(read(_BEFORE), read(_EXTENDED))
    account = " ".join((change.headline, *change.account))
    assert "`%shared` in `main` was merged into `%f` and `%g`" in account
    assert "inlined" not in account
