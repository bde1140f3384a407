"""Values that only sums and moves read; instructions that name themselves end the search."""

from collections.abc import Callable

import pytest

from xlareport.analysis.findings import linear_flow
from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.linear_flow import Tracks, follow, is_plain

CYCLES = """HloModule m

inner {
  %p = f32[4] parameter(0)
  %a = f32[4] call(%p), to_apply=inner
  ROOT %b = f32[4] call(%a), to_apply=inner
}

ENTRY main {
  %c = f32[4] constant({1, 2, 3, 4})
  %d = f32[4] negate(%c)
  %e = f32[4] copy(%e)
  %p = f32[4] parameter(0)
  %s = f32[4] add(%p, %d)
  ROOT %r = f32[4] call(%s), to_apply=inner
}
"""


def test_a_copy_of_itself_is_no_constant(case_of: Callable[..., Case]) -> None:
    entry = case_of(CYCLES).module.by_name["main"]
    assert is_plain(entry, "d")
    assert not is_plain(entry, "e")


def test_calls_of_calls_end_at_the_limit(
    case_of: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear_flow, "_MOST_STEPS", 20)
    module = case_of(CYCLES).module
    tracks = Tracks(module)
    follow(module.by_name["main"], {"p": {(): frozenset({"p"})}}, tracks)
    assert tracks.spent == {"p"}
    assert tracks.steps < 60
