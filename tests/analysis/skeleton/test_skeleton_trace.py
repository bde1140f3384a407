"""Traces: the Trace Event Format, strictly, and what the lanes say."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.skeleton.program import parsed, text

from xlareport.analysis.skeleton import skeleton_trace as traces
from xlareport.analysis.skeleton.skeleton_trace import make_trace, to_microseconds
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module
from xlareport.skeleton import module_skeleton, skeleton_text

Event = dict[str, Any]
_METADATA = {"process_name": {"name"}, "thread_name": {"name"}, "thread_sort_index": {"sort_index"}}


def check_format(trace: dict[str, Any]) -> None:
    """Check a trace against the Trace Event Format: the fields of each event, and nesting."""
    assert json.loads(json.dumps(trace, allow_nan=False)) == trace
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert all(isinstance(value, str) for value in trace["otherData"].values())
    for event in trace["traceEvents"]:
        assert type(event["pid"]) is int
        assert type(event["tid"]) is int
        assert isinstance(event["args"], dict)
        if event["ph"] == "M":
            assert set(event["args"]) == _METADATA[event["name"]]
            continue
        assert event["ph"] == "X"
        assert isinstance(event["name"], str)
        assert event["name"]
        assert isinstance(event["cat"], str)
        for key in ("ts", "dur"):
            assert isinstance(event[key], (int, float))
            assert event[key] >= 0
    named = {event["tid"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    lanes = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            lanes[event["tid"]].append(event)
    assert set(lanes) <= named
    for events in lanes.values():
        check_nesting(events)


def check_nesting(events: list[Event]) -> None:
    """Check that an event of a lane ends before the next begins, or lies inside of it.

    Times are cut to nanoseconds as Perfetto does (`CoerceToNs`), which drops events that overlap.
    """
    open_ends: list[int] = []
    begin = 0
    for event in events:
        first = int(event["ts"] * 1000)
        assert first >= begin, "events of a lane stand in the order of their begins"
        begin, end = first, first + int(event["dur"] * 1000)
        while open_ends and open_ends[-1] <= first:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1]
        open_ends.append(end)


def trace_of(folder: Path, content: str = "") -> tuple[dict[str, Any], dict[str, Event]]:
    trace = make_trace(module_skeleton(parsed(folder, content or text())))
    check_format(trace)
    return trace, {
        traceevent["name"]: traceevent
        for traceevent in trace["traceEvents"]
        if traceevent["ph"] == "X"
    }


def test_compute_runs_beside_a_collective(tmp_path: Path) -> None:
    _, events = trace_of(tmp_path)
    start, beside = events["start"], events["beside.1"]
    assert start["tid"] != beside["tid"]
    assert start["ts"] == beside["ts"]
    # 2 * 3/4 of 4 MiB at 450 GB/s; two kernels of 8 MiB at 3.35 TB/s hide a part of it
    assert start["dur"] == pytest.approx(1.5 * 4 * 1024 * 1024 / 450e9 * 1e6, abs=0.002)
    waited = events["wait: done"]
    assert waited["ts"] + waited["dur"] == pytest.approx(start["ts"] + start["dur"])


def test_iterations_of_a_loop_lie_inside_of_it(tmp_path: Path) -> None:
    _, events = trace_of(tmp_path)
    assert {f"iteration {number} of 5" for number in range(1, 6)} <= events.keys()
    loop, last = events["loop"], events["iteration 5 of 5"]
    assert last["ts"] + last["dur"] == pytest.approx(loop["ts"] + loop["dur"])


def test_estimates_are_said_to_be_estimates(tmp_path: Path) -> None:
    trace, _ = trace_of(tmp_path)
    assert "not measured" in trace["otherData"]["what"]
    names = [event["args"].get("name") for event in trace["traceEvents"] if event["ph"] == "M"]
    assert "jit_step (estimates, not measured)" in names
    assert "collectives (NCCL)" in names


def test_very_many_iterations_are_one_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "_MOST_EVENTS", 60)
    content = text().replace("%end = s32[] constant(5)", "%end = s32[] constant(5000)")
    trace, events = trace_of(tmp_path, content)
    assert "iterations 4 to 5000" in events
    assert "iterations 4 to 5000 of loop" in trace["otherData"]["notDrawn"]


def test_what_does_not_fit_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "_MOST_EVENTS", 3)
    trace, _ = trace_of(tmp_path)
    assert "items after" in trace["otherData"]["notDrawn"]


@pytest.mark.parametrize(
    "name", ["gpu-h100x2-train", "tpu-v5e-scan", "jax-cpu-train-allformats", "looped"]
)
def test_traces_of_real_dumps_keep_the_format(unpacked: Any, name: str) -> None:
    from xlareport.report import BuildOptions, read_one_module

    trace = make_trace(module_skeleton(read_one_module(unpacked(name), None, BuildOptions())))
    check_format(trace)
    assert sum(event["ph"] == "X" for event in trace["traceEvents"]) > 3


def test_a_sparse_core_has_a_lane_of_its_own(unpacked: Callable[[str], Path]) -> None:
    with open_source(unpacked("overlapped-tpu")) as source:
        modules = group(name_files(source)).modules
        (files,) = (module for module in modules if module.name == "jit_independent")
        skeleton = module_skeleton(read_module(files))
    trace = make_trace(skeleton)
    check_format(trace)
    lanes = {
        event["args"]["name"]: event["tid"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_name"
    }
    (sent,) = (
        traceevent for traceevent in trace["traceEvents"] if traceevent.get("cat") == "collective"
    )
    assert sent["tid"] == lanes["execution thread sparsecore"]
    assert "collectives (ICI)" not in lanes
    assert " on sparsecore until all-reduce" in skeleton_text(skeleton)


def test_every_time_is_read_back_to_the_nanosecond() -> None:
    cut = [number for number in range(20_000) if int(number / 1000 * 1000) != number]
    assert cut, "of these, a plain division loses a nanosecond"
    assert [int(to_microseconds(number) * 1000) for number in cut] == cut
