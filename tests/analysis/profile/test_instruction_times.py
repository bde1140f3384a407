"""Own times, runs and unions of events."""

import gzip
import json
from array import array
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.profile.instruction_times import (
    ModuleRuns,
    measure_union,
    sum_runs,
    sum_times,
)
from xlareport.readers.op_events import OpEvent
from xlareport.readers.trace_events import trace_events


def ran(name: str, start: int, end: int, run: str = "1", thread: int = 0) -> OpEvent:
    return OpEvent("m", name, run, (thread,), start, end - start)


def test_what_runs_inside_is_not_ones_own() -> None:
    events = [
        ran("while", 0, 100),
        ran("call", 10, 40),
        ran("dot", 15, 35),
        ran("add", 50, 60),
        ran("add", 60, 75),
        ran("tail", 100, 110),
    ]
    found = sum_times(events)["m"].instructions
    own = {name: instruction.own for name, instruction in found.items()}
    assert own == {"while": 45, "call": 10, "dot": 20, "add": 25, "tail": 10}
    assert sum(own.values()) == 110
    assert {name: instruction.total for name, instruction in found.items()}["while"] == 100
    assert (found["add"].count, found["add"].mean, found["add"].spread) == (2, 12.5, 2.5)
    assert (found["add"].least, found["add"].most, found["add"].first) == (10, 15, 50)


def test_threads_do_not_hold_one_another() -> None:
    found = sum_times([ran("a", 0, 100, thread=1), ran("b", 10, 20, thread=2)])["m"]
    assert {name: instruction.own for name, instruction in found.instructions.items()} == {
        "a": 100,
        "b": 10,
    }
    assert (found.length, found.busy) == (100, 100)


def test_events_that_only_overlap_do_not_hold_one_another() -> None:
    found = sum_times([ran("a", 0, 10), ran("b", 5, 15), ran("c", 20, 30)])["m"]
    assert [instruction.own for instruction in found.instructions.values()] == [10, 10, 10]
    assert (found.length, found.busy) == (30, 25)


def test_events_out_of_order_keep_their_time() -> None:
    found = sum_times([ran("b", 50, 60), ran("a", 0, 100)])["m"]
    assert {name: instruction.own for name, instruction in found.instructions.items()} == {
        "b": 10,
        "a": 100,
    }


def test_runs_are_apart() -> None:
    found = sum_times([ran("a", 40, 50, "2"), ran("a", 0, 10, "1"), ran("b", 12, 20, "1")])["m"]
    assert [(run.name, run.start, run.length, run.busy) for run in found.runs] == [
        ("1", 0, 20, 18),
        ("2", 40, 10, 10),
    ]
    assert sum_runs(found) == ModuleRuns(2, 30 / 1e6)


def test_without_runs_it_is_not_known_how_many_there_were() -> None:
    found = sum_times([ran("a", at, at + 1, "") for at in range(3)] + [ran("b", 9, 11, "")])["m"]
    assert sum_runs(found) == ModuleRuns(None, 5 / 1e6)


def test_too_many_events_leave_the_union_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.analysis.profile.instruction_times.MOST_INTERVALS", 2)
    found = sum_times([ran("a", at, at + 1, str(at // 2)) for at in range(6)])["m"]
    assert [run.busy for run in found.runs] == [2, None, None]
    assert found.busy is None
    assert found.instructions["a"].count == 6


def test_too_many_names_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.analysis.profile.instruction_times.MOST_NAMES", 5)
    found = sum_times([ran(str(at), at, at + 1) for at in range(100)])["m"]
    assert (len(found.instructions), found.events) == (5, 100)


def test_the_union_of_intervals() -> None:
    assert measure_union([]) == 0
    assert measure_union([array("q", [5, 8, 0, 3, 2, 6, 20, 20])]) == 8


def test_sums_are_those_of_a_real_trace_exactly(dumps: Path) -> None:
    (path,) = (dumps / "trace-jax-cpu").rglob("*.trace.json.gz")
    with path.open("rb") as file:
        found = sum_times(trace_events(file, path.name, []))["jit_train_step"]
    written: Counter[str] = Counter()
    for traceevent in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]:
        if "hlo_op" in traceevent.get("args", {}):
            written[traceevent["args"]["hlo_op"]] += round(traceevent["dur"] * 1e6)
    assert {name: instruction.total for name, instruction in found.instructions.items()} == written
    slowest = sorted(found.instructions.values(), key=lambda one: -one.total)[:10]
    assert [instruction.name for instruction in slowest] == [
        name for name, _ in written.most_common(10)
    ]
    assert len(found.runs) == 10


def test_how_often_the_programs_of_a_small_real_trace_ran(
    unpacked: Callable[[str], Path],
) -> None:
    (path,) = unpacked("traced").rglob("*.trace.json.gz")
    with path.open("rb") as file:
        times = sum_times(trace_events(file, path.name, []))
    counts = {name: sum_runs(one).count for name, one in times.items()}
    assert counts == {"jit_advance": 400, "jit_overview": 1}


def test_own_times_of_a_real_trace_with_loops_and_calls(unpacked: Callable[[str], Path]) -> None:
    (path,) = unpacked("looped").rglob("*.trace.json.gz")
    with path.open("rb") as file:
        events = list(trace_events(file, path.name, []))
    found = sum_times(events)["jit_loops"].instructions
    for name in ("while.18", "while.23", "while.10", "cond.1.clone", "jit_inner_.9"):
        whole = [event for event in events if event.instruction == name]
        assert found[name].own == sum(map(len_without(events), whole)), name
        assert 0 < found[name].own < found[name].total / 15
    assert (found["while.18"].count, found["while.10"].count) == (5, 20)
    assert sum(one.own for one in found.values()) == sum(top_level(events))


def len_without(events: list[OpEvent]) -> Callable[[OpEvent], int]:
    """Return how to tell an event's time without the events that lie directly inside of it."""

    def length(one: OpEvent) -> int:
        inside = [other for other in events if holds(one, other)]
        direct = [a for a in inside if not any(holds(b, a) for b in inside)]
        return one.duration - sum(other.duration for other in direct)

    return length


def holds(one: OpEvent, other: OpEvent) -> bool:
    same = one is not other and one.thread == other.thread
    return same and one.start <= other.start and other.end <= one.end


def top_level(events: list[OpEvent]) -> list[int]:
    return [a.duration for a in events if not any(holds(b, a) for b in events)]
