"""Loops with another trip count, and the time that belongs to it."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.compare.given_program import read_program
from xlareport.analysis.compare.loop_changes import (
    ComparedLoop,
    compared_loops,
    find_time_in_trips,
    find_trip_changes,
    time_iteration,
)
from xlareport.analysis.compare.operations import key_of
from xlareport.analysis.compare.program_changes import ChangeKind, find_program_changes
from xlareport.analysis.cost.fusion_shares import share_fusions
from xlareport.analysis.cost.work import count_cost
from xlareport.knowledge.devices import nominal_device

STEP = """HloModule jit_step

body {
  s = (s32[], f32[256,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[256,256] get-tuple-element(s), index=1
  y = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[256,256]) tuple(j, y)
}

condition {
  s = (s32[], f32[256,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY main {
  x = f32[256,256] parameter(0), metadata={op_name="x"}
  z = s32[] constant(0)
  s = (s32[], f32[256,256]) tuple(z, x)
  w = (s32[], f32[256,256]) while(s), condition=condition, body=body, \
metadata={op_name="jit(step)/while" source_file="m.py" source_line=3}
  ROOT r = f32[256,256] get-tuple-element(w), index=1
}
"""
LONGER = STEP.replace("constant(4)", "constant(6)")


def loops(text: str) -> tuple[ComparedLoop, ...]:
    hlo = parse_module(text)
    cost = count_cost(hlo)
    return compared_loops(hlo, cost, share_fusions(hlo, cost, nominal_device("cpu")).seconds)


def test_another_trip_count_is_the_cause() -> None:
    (change,) = find_program_changes(
        read_program(parse_module(STEP)), read_program(parse_module(LONGER))
    )
    assert (change.kind, change.base, change.head) == (ChangeKind.LOOPS, "4", "6")
    assert (change.names, change.lines) == (("w",), ("m.py:3",))


def test_other_operations_are_told_beside_it() -> None:
    text = LONGER.replace("ROOT r = f32[256,256]", "q = f32[256,256]").replace(
        "index=1\n}\n", "index=1\n  ROOT m = f32[256,256] negate(q)\n}\n"
    )
    changes = find_program_changes(
        read_program(parse_module(STEP)), read_program(parse_module(text))
    )
    assert [change.kind for change in changes] == [ChangeKind.LOOPS, ChangeKind.OPERATIONS]
    assert "negate" in changes[1].head


@pytest.mark.parametrize(("old", "new", "sign"), [(STEP, LONGER, 1), (LONGER, STEP, -1)])
def test_the_time_of_the_runs_added(old: str, new: str, sign: int) -> None:
    (change,) = find_trip_changes(loops(old), loops(new))
    time = find_time_in_trips(loops(old), loops(new), change)
    assert time is not None
    assert time[0] == pytest.approx(sign * (loops(LONGER)[0].seconds - loops(STEP)[0].seconds))
    assert time[0] * sign > 0


def test_of_an_unrolled_loop_no_time_is_told() -> None:
    (change,) = find_trip_changes(loops(STEP), loops(LONGER))
    assert find_time_in_trips(loops(STEP), (), change) is None


@pytest.mark.parametrize("other", ["jit(step)/scan", "jit(step)/mlp/while"])
def test_another_loop_is_not_compared(other: str) -> None:
    text = LONGER.replace("jit(step)/while", other)
    assert find_trip_changes(loops(STEP), loops(text)) == ()


def test_loops_of_one_name_in_another_number_are_not_compared() -> None:
    loop = loops(STEP)[0]
    assert find_trip_changes((loop,), (loops(LONGER)[0], loop)) == ()


def test_an_iteration_is_that_of_the_outermost_loops_of_unknown_trip_count() -> None:
    key = key_of("step", "")
    loops = (
        ComparedLoop("tokens", key, None, seconds=3.0),
        ComparedLoop("layers", key, 6, outer=("tokens",), seconds=2.0),
        ComparedLoop("search", key, None, outer=("layers", "tokens"), seconds=1.0),
        ComparedLoop("encoder", key, 6, seconds=8.0),
        ComparedLoop("inner", key, None, outer=("encoder",), seconds=0.5),
    )
    assert time_iteration(loops) == 3.5
