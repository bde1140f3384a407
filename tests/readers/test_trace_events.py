"""Events of instructions in Chrome traces and in XSpaces; anything else costs nothing."""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path

import pytest

from xlareport.errors import Problem
from xlareport.readers.op_events import OpEvent
from xlareport.readers.table_protos import message_class
from xlareport.readers.trace_events import trace_events
from xlareport.readers.xplane import xplane_events


def event(op: str, start: object, length: object, **told: str) -> dict[str, object]:
    args = {"hlo_module": "jit_f(77)", "hlo_op": op, **told}
    return {"ph": "X", "ts": start, "dur": length, "pid": 1, "tid": 2, "args": args}


def read(path: Path, data: bytes) -> tuple[list[OpEvent], list[Problem]]:
    path.write_bytes(data)
    problems: list[Problem] = []
    with path.open("rb") as file:
        return list(trace_events(file, path.name, problems)), problems


def test_events_of_instructions_are_taken_to_the_picosecond(tmp_path: Path) -> None:
    whole = {"traceEvents": [event("a", 1.25, 93.074, run_id="5"), {"ph": "M", "args": {}}, {}]}
    for data in (json.dumps(whole).encode(), gzip.compress(json.dumps(whole).encode())):
        (found,), problems = read(tmp_path / "x.trace.json.gz", data)
        assert found == OpEvent("jit_f", "a", "5", (1, 2), 1_250_000, 93_074_000)
        assert not problems


@pytest.mark.parametrize("when", [float("nan"), 1e400, -5, 10**400, "5", None, [1]])
def test_a_time_that_no_clock_gives_is_passed_over(tmp_path: Path, when: object) -> None:
    data = json.dumps({"traceEvents": [event("a", when, 1), event("b", 1, 1)]}).encode()
    found, _ = read(tmp_path / "x", data)
    assert {one.instruction for one in found} <= {"b"}


@pytest.mark.parametrize("data", [b"", b"{", b"\x1f\x8bnot gzip", b'{"traceEvents": [{}'])
def test_what_breaks_off_is_told(tmp_path: Path, data: bytes) -> None:
    found, problems = read(tmp_path / "x", data)
    assert not found
    assert [one.path for one in problems] == ["x"]


def test_what_comes_before_the_break_is_kept(tmp_path: Path) -> None:
    data = json.dumps({"traceEvents": [event("a", 1, 1), event("b", 2, 1)]}).encode()
    found, problems = read(tmp_path / "x", data[:-20])
    assert [one.instruction for one in found] == ["a"]
    assert problems


def space(*events: tuple[str, int, int]) -> bytes:
    """Return an XSpace of one line, each kind of event with its module told once."""
    plane, line = message_class("xplane", "XPlane")(), message_class("xplane", "XLine")()
    plane.name = "/device:GPU:0"
    for number, name in enumerate(("hlo_op", "hlo_module", "run_id", "jit_g"), 1):
        entry = plane.stat_metadata.add(key=number)
        entry.value.name = name
    line.timestamp_ns = 2
    for number, (name, start, length) in enumerate(events, 1):
        kind = plane.event_metadata.add(key=number)
        kind.value.stats.add(metadata_id=1, str_value=name)
        kind.value.stats.add(metadata_id=2, ref_value=4)
        one = line.events.add(metadata_id=number, offset_ps=start, duration_ps=length)
        one.stats.add(metadata_id=3, int64_value=9)
    plane.lines.append(line.SerializeToString())
    made = message_class("xplane", "XSpace")(planes=[plane.SerializeToString()])
    return bytes(made.SerializeToString())


def read_space(data: bytes) -> tuple[list[OpEvent], list[Problem]]:
    problems: list[Problem] = []
    return list(xplane_events(BytesIO(data), "x.xplane.pb", problems)), problems


def test_events_of_a_space_have_what_is_told_once_of_all() -> None:
    found, problems = read_space(space(("a", 5, 7), ("b", 20, 1)))
    assert found == [
        OpEvent("jit_g", "a", "9", (0, 0), 2_005, 7),
        OpEvent("jit_g", "b", "9", (0, 0), 2_020, 1),
    ]
    assert not problems


def test_a_space_that_is_cut_off_is_told() -> None:
    whole = space(("a", 5, 7))
    for length in range(len(whole)):
        found, problems = read_space(whole[:length])
        assert len(found) <= 1
        assert length == 0 or problems or found == []


def sums(events: Iterable[OpEvent]) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in events:
        found[one.instruction] += one.duration
    return found


def test_both_forms_of_a_real_profile_say_the_same(dumps: Path) -> None:
    (trace,) = (dumps / "trace-jax-cpu").rglob("*.trace.json.gz")
    (plane,) = (dumps / "trace-jax-cpu").rglob("*.xplane.pb")
    problems: list[Problem] = []
    with trace.open("rb") as one, plane.open("rb") as other:
        first = list(trace_events(one, "t", problems))
        assert len(first) == 1_500
        assert sums(first) == sums(xplane_events(other, "x", problems))
    assert not problems


def test_a_small_real_trace(unpacked: Callable[[str], Path]) -> None:
    (path,) = unpacked("traced").rglob("*.trace.json.gz")
    problems: list[Problem] = []
    with path.open("rb") as file:
        found = list(trace_events(file, path.name, problems))
    assert {one.module for one in found} == {"jit_advance", "jit_overview"}
    assert not problems
