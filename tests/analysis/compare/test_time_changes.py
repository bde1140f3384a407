"""Two profiles of a module: what is the same work, what became slower, and what changed there."""

from collections.abc import Iterator

import pytest
from tests.modules import parse_module

from xlareport.analysis.compare.time_changes import (
    ProfiledSide,
    TimeChange,
    compare_times,
    scope_changes,
)
from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.analysis.profile.measured import PartialTrace
from xlareport.knowledge.grades import Grade
from xlareport.readers.op_events import OpEvent

BASE = """HloModule m

fused {
  p = f32[8,8] parameter(0)
  ROOT t = f32[8,8] tanh(p), metadata={op_name="jit(f)/act/tanh"}
}

ENTRY main {
  a = f32[8,8] parameter(0)
  d = f32[8,8] dot(a, a), metadata={op_name="jit(f)/dense/dot"}
  ROOT f.1 = f32[8,8] fusion(d), kind=kLoop, calls=fused, metadata={op_name="jit(f)/act/tanh"}
}
"""
HEAD = BASE.replace(
    "  ROOT t = f32[8,8] tanh(p)",
    "  e = f32[8,8] exponential(p)\n  ROOT t = f32[8,8] multiply(e, p)",
).replace(
    "  ROOT f.1 =",
    "  s = f32[8,8] sort(d), dimensions={0}, to_apply=less\n  ROOT f.1 =",
)
LOOP = """HloModule m

body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  step = s32[] constant(1)
  next = s32[] add(i, step)
  x = f32[4] get-tuple-element(s), index=1
  work = f32[4] tanh(x)
  ROOT t = (s32[], f32[4]) tuple(next, work)
}

condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(100)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY main {
  zero = s32[] constant(0)
  a = f32[4] parameter(0)
  start = f32[4] negate(a)
  t = (s32[], f32[4]) tuple(zero, start)
  ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body
}
"""
MICROSECOND = 1_000_000


def timed(text: str, **took: tuple[int, ...]) -> ProfiledSide:
    """Return a module of which each instruction took so many microseconds in each run."""
    return ProfiledSide(parse_module(text), sum_times(_events(took))["m"])


def _events(took: dict[str, tuple[int, ...]]) -> Iterator[OpEvent]:
    for place, (name, lengths) in enumerate(took.items()):
        for run, length in enumerate(lengths):
            start = (1000 * run + 100 * place) * MICROSECOND
            shown = name.replace("_", ".")
            yield OpEvent("m", shown, str(run), (0,), start, length * MICROSECOND)


def by_head(found: tuple[TimeChange, ...]) -> dict[str, TimeChange]:
    return {" ".join(one.head): one for one in found}


def test_what_became_slower_and_what_is_new() -> None:
    base = timed(BASE, d=(10, 10, 11), f_1=(5, 5, 6))
    head = timed(HEAD, d=(10, 11, 10), f_1=(50, 51, 50), s=(7, 7, 7))
    found = by_head(compare_times(base, head))
    assert next(iter(found)) == "f.1"
    fusion = found["f.1"]
    assert fusion.base == ("f.1",)
    assert fusion.more == pytest.approx(45, rel=0.02)
    assert fusion.certain is True
    assert "\N{MINUS SIGN}1 tanh" in fusion.what
    assert "+1 exponential" in fusion.what
    assert (found["s"].base, found["s"].what, found["s"].certain) == ((), "only in the head", None)
    assert found["d"].certain is False
    assert found["d"].what == "compiled the same"


def test_a_module_against_itself_has_nothing_slower() -> None:
    base = timed(BASE, d=(10, 12), f_1=(5, 6))
    times = compare_times(base, base)
    assert {one.more for one in times} == {0.0}
    assert {one.certain for one in times} == {False}
    assert {one.grade for one in times} == {Grade.EXACT}
    assert {one.what for one in times} == {"compiled the same"}


def test_what_ran_once_is_not_certain() -> None:
    found = by_head(compare_times(timed(BASE, d=(10,)), timed(BASE, d=(90,))))
    assert found["d"].certain is None


def test_what_is_gone_is_only_in_the_base() -> None:
    times = compare_times(timed(HEAD, s=(7, 7), d=(1, 1)), timed(BASE, d=(1, 1)))
    assert [one.what for one in times if not one.head] == ["only in the base"]
    assert times[-1].base == ("s",)


def test_times_of_scopes() -> None:
    base = timed(BASE, d=(10, 10), f_1=(5, 5))
    head = timed(HEAD, d=(10, 10), f_1=(50, 50), s=(7, 7))
    found = {
        scope_change.scope: (scope_change.before, scope_change.after)
        for scope_change in scope_changes(base, head)
    }
    assert found["act"] == pytest.approx((5, 50))
    assert found["dense"] == pytest.approx((10, 10))
    assert found["no scope"] == pytest.approx((0, 7))


def test_a_trace_with_some_iterations_is_cut() -> None:
    assert timed(LOOP, start=(1, 1), work=(1, 1)).cut == PartialTrace("work", 2, 200)
    assert timed(BASE, d=(10, 20), f_1=(5, 5)).cut is None


def test_times_are_of_one_run() -> None:
    side = timed(BASE, d=(10, 20), f_1=(5, 5))
    assert (side.runs, side.joined) == (2, 4)
    assert side.own(["d"]) == pytest.approx(15e-6)
    assert side.seconds == pytest.approx(105e-6)
