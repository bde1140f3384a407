"""Events of instructions in Chrome traces and in XSpaces; anything else costs nothing."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.readers.events import device, event, read, read_space, space
from tests.readers.parsers import Parser, events

from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.readers.trace_events import trace_events

if TYPE_CHECKING:
    from xlareport.runtime.errors import Problem


def _trace() -> bytes:
    event = {"ph": "X", "ts": 1, "dur": 1, "pid": 1, "tid": 1, "args": {"hlo_module": "m"}}
    event["args"] = {"hlo_module": "m(1)", "hlo_op": "add.1", "run_id": "7"}
    return json.dumps({"traceEvents": [event]}).encode()


TRACES = (
    gzip.compress(_trace()),
    gzip.compress(_trace())[:-9],
    _trace().replace(b'"add.1"', b"[" * 50_000 + b"]" * 50_000),
    _trace().replace(b'"add.1"', b"9" * 5_000),
    _trace().replace(b'"pid": 1', b'"pid": ' + b"9" * 5_000),
    _trace().replace(b'"ts": 1', b'"ts": 1e999'),
    _trace().replace(b'"m(1)"', b'"\\ud800"'),
)
PARSERS = (Parser(events(trace_events), _trace(), cases=TRACES),)
"""For `tests/properties/test_parsers.py`."""


@pytest.mark.parametrize("when", [float("nan"), 1e400, -5, 10**400, "5", None, [1]])
def test_a_time_that_no_clock_gives_is_passed_over(tmp_path: Path, when: object) -> None:
    data = json.dumps({"traceEvents": [event("a", when, 1), event("b", 1, 1)]}).encode()
    parsed, _ = read(tmp_path / "x", data)
    assert {one.instruction for one in parsed} <= {"b"}


@pytest.mark.parametrize("data", [b"", b"{", b"\x1f\x8bnot gzip", b'{"traceEvents": [{}'])
def test_what_breaks_off_is_told(tmp_path: Path, data: bytes) -> None:
    parsed, problems = read(tmp_path / "x", data)
    assert not parsed
    assert [problem.path for problem in problems] == ["x"]


def test_what_comes_before_the_break_is_kept(tmp_path: Path) -> None:
    data = json.dumps({"traceEvents": [event("a", 1, 1), event("b", 2, 1)]}).encode()
    parsed, problems = read(tmp_path / "x", data[:-20])
    assert [one.instruction for one in parsed] == ["a"]
    assert problems


def test_a_space_that_is_cut_off_is_told() -> None:
    whole = space(("a", 5, 7))
    for length in range(len(whole)):
        parsed, problems = read_space(whole[:length])
        assert len(parsed) <= 1
        assert length == 0 or problems or parsed == []


def test_a_run_without_a_name_has_none(tmp_path: Path) -> None:
    whole = {"traceEvents": [event("a", 1, 1, run_id="-1"), event("a", 2, 1)]}
    parsed, _ = read(tmp_path / "x", json.dumps(whole).encode())
    assert [one.run for one in parsed] == ["", ""]


def test_threads_of_a_gpu_that_tell_events_again_are_left_out(tmp_path: Path) -> None:
    names = {2: "Stream #14(Compute)", 3: "XLA Ops"}
    told = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": name}}
        for tid, name in names.items()
    ]
    events = [event("fusion.1", 1, 1), {**event("fusion.1", 1, 1), "tid": 3}]
    parsed, _ = read(tmp_path / "x", json.dumps({"traceEvents": [*told, *events]}).encode())
    assert [one.thread for one in parsed] == [(1, 2)]


DOT = "%dot.1 = f32[8,8]{1,0} dot(%p, %p), lhs_contracting_dims={1}"


def test_on_a_tpu_the_line_of_modules_tells_which_one_ran() -> None:
    kinds: dict[str, dict[str, str]] = {
        "jit_f(77)": {"program_id": "77"},
        "jit_g(78)": {},
        DOT: {},
        "%while.2 = (f32[8]) while(%t)": {},
        "fusion.3": {},
    }
    ops = [DOT, "%while.2 = (f32[8]) while(%t)", "fusion.3"]
    lines = {
        "XLA Ops": [f"{ops[1]}|0|50", f"{ops[0]}|10|20", f"{ops[2]}|60|5", f"{ops[0]}|95|1"],
        "XLA Modules": ["jit_g(78)|60|30", "jit_f(77)|0|55|run_id=4"],
        "Async XLA Ops": [f"{DOT}|0|90"],
    }
    parsed, problems = read_space(device("/device:TPU:0", kinds, lines))
    assert [(one.module, one.instruction, one.run, one.start) for one in parsed] == [
        ("jit_f", "while.2", "4", 1_000),
        ("jit_f", "dot.1", "4", 1_010),
        ("jit_g", "fusion.3", "1060", 1_060),
        ("", "dot.1", "", 1_095),
    ]
    own = {name: one.own for name, one in sum_times(parsed)["jit_f"].instructions.items()}
    assert own == {"while.2": 30, "dot.1": 20}
    assert not problems


def test_a_line_that_is_longer_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [(str(number), number, 1) for number in range(100)]
    whole = read_space(space(*events))
    for size in (8, 33, 64):
        monkeypatch.setattr("xlareport.readers.xplane._PIECE", size)
        assert read_space(space(*events)) == whole


def test_a_small_real_trace(unpacked: Callable[[str], Path]) -> None:
    (path,) = unpacked("traced").rglob("*.trace.json.gz")
    problems: list[Problem] = []
    with path.open("rb") as file:
        events = list(trace_events(file, path.name, problems))
    assert {one.module for one in events} == {"jit_advance", "jit_overview"}
    assert not problems
