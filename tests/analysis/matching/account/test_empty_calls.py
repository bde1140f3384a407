"""Inlined calls of which no instruction is known."""

from collections.abc import Callable

from xlareport.analysis.matching.account.empty_calls import RETURNS_ARGUMENT
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

CALLED = """
%pad (p: f32[8]) -> f32[8] {
  ROOT %p = f32[8]{0} parameter(0)
}

%work (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %s = f32[8]{0} sine(%q)
  ROOT %t = f32[8]{0} tanh(%s)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %cosine = f32[8]{0} cosine(%a)
  %call.1 = f32[8]{0} call(%cosine), to_apply=%pad
  %call.2 = f32[8]{0} call(%call.1), to_apply=%work
  ROOT %out = f32[8]{0} negate(%call.2)
}
"""
INLINED = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %cosine = f32[8]{0} cosine(%a)
  %s.1 = f32[8]{0} sine(%cosine)
  %t.1 = f32[8]{0} tanh(%s.1)
  ROOT %out = f32[8]{0} negate(%t.1)
}
"""


def test_a_call_whose_computation_returns_an_argument_is_inlined(read: Read) -> None:
    change = step(read(CALLED), read(INLINED), "`call-inliner`")
    assert change.headline.startswith("`call-inliner` inlined 2 calls into 2 instructions;")
    sentence = "`%call.1` in `main` was inlined: its computation only returns an argument."
    assert sentence in " ".join((change.headline, *change.account))
    row = next(row for row in change.changes if row.before and row.before.instruction == "call.1")
    assert (row.kind, row.reason) == (Kind.INLINED, RETURNS_ARGUMENT)
    assert all(other.kind is not Kind.REMOVED for other in change.changes)


def test_a_call_that_nothing_needs_is_dead_though_its_computation_returns_an_argument(
    read: Read,
) -> None:
    unread = CALLED.replace("call(%call.1)", "call(%cosine)")
    change = step(read(unread), read(INLINED), "`dce`")
    row = next(row for row in change.changes if row.before and row.before.instruction == "call.1")
    assert row.kind is Kind.DEAD


_BEGUN = """
%copied (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %copy.1 = f32[8]{0} copy(%q)
}

%begun (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %call.1 = f32[8]{0} call(%p), to_apply=%copied
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %start = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%a), calls=%begun
  %done = f32[8]{0} async-done(%start)
  ROOT %out = f32[8]{0} negate(%done)
}
"""


def test_a_call_that_an_async_start_ran_is_gone_with_it(read: Read) -> None:
    after = _BEGUN[_BEGUN.index("ENTRY") :].replace("negate(%done)", "negate(%a)")
    lines = [line for line in after.splitlines() if "async" not in line]
    change = step(read(_BEGUN), read("\n" + "\n".join(lines)), "`copy-remover`")
    row = next(row for row in change.changes if row.before and row.before.instruction == "call.1")
    assert row.kind is not Kind.INLINED
    assert "where it was inlined" not in " ".join((change.headline, *change.account))
