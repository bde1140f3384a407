"""Events of instructions from a profiler's planes."""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from xlareport.readers.op_events import OpEvent
from xlareport.readers.table_protos import message_class
from xlareport.readers.trace_events import trace_events
from xlareport.readers.xplane import fields, pieces, value_of, xplane_events
from xlareport.runtime.errors import Problem


def test_both_forms_of_a_small_real_profile_say_the_same(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("looped")
    (trace,), (plane,) = folder.rglob("*.trace.json.gz"), folder.rglob("*.xplane.pb")
    problems: list[Problem] = []
    with trace.open("rb") as one, plane.open("rb") as other:
        first, second = list(trace_events(one, "t", problems)), list(xplane_events(other, "x", []))
    assert len(first) == len(second) == 595
    assert sums(first) == sums(second)
    assert [one.run for one in first] == [one.run for one in second]
    assert not problems


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


def device(name: str, kinds: dict[str, dict[str, str]], lines: dict[str, list[str]]) -> bytes:
    """Return a plane as tests write it: kinds of events with what is told of them; lines of events.

    An event is `kind start length`, and perhaps `stat=value`.
    """
    plane = message_class("xplane", "XPlane")(name=name)
    stats = ["", "hlo_op", "hlo_module", "run_id", "program_id"]
    numbers = {kind: number for number, kind in enumerate(kinds, 1)}
    for number, stat in enumerate(stats):
        plane.stat_metadata.add(key=number).value.name = stat
    for kind, number in numbers.items():
        entry = plane.event_metadata.add(key=number)
        entry.value.name = kind
        for stat, value in kinds[kind].items():
            entry.value.stats.add(metadata_id=stats.index(stat), str_value=value)
    for number, (title, events) in enumerate(lines.items()):
        line = message_class("xplane", "XLine")(id=number, name=title, timestamp_ns=1)
        for written in events:
            kind, start, length, *rest = written.rsplit("|")
            one = line.events.add(
                metadata_id=numbers[kind], offset_ps=int(start), duration_ps=int(length)
            )
            for stat, _, value in (pair.partition("=") for pair in rest):
                one.stats.add(metadata_id=stats.index(stat), int64_value=int(value))
        plane.lines.append(line.SerializeToString())
    made = message_class("xplane", "XSpace")(planes=[plane.SerializeToString()])
    return bytes(made.SerializeToString())


def test_on_a_gpu_the_streams_tell_and_what_is_derived_is_left_out() -> None:
    told = {"hlo_op": "fusion.1", "hlo_module": "jit_f"}
    kinds = {"loop_fusion_kernel": told, "fusion.1": told, "MemcpyD2D": {}}
    lines = {
        "Stream #14(Compute)": ["loop_fusion_kernel|5|7|run_id=3", "MemcpyD2D|20|7"],
        "XLA Ops": ["fusion.1|5|7|run_id=3"],
        "XLA Modules": ["fusion.1|5|7"],
    }
    found, problems = read_space(device("/device:GPU:0", kinds, lines))
    assert found == [OpEvent("jit_f", "fusion.1", "3", (0, 0), 1_005, 7)]
    assert not problems


MESSAGE = b"\x08\x96\x01" + b"\x12\x03abc" + b"\x1d\x01\x02\x03\x04" + b"\x21" + b"\x05" * 8
"""A number, three bytes, and two fixed numbers."""


def test_fields_are_found_where_they_lie() -> None:
    file = BytesIO(b"before" + MESSAGE + b"after")
    found = list(fields(file, 6, 6 + len(MESSAGE)))
    assert [one.number for one in found] == [1, 2, 3, 4]
    assert [value_of(file, one) for one in found][1:3] == [b"abc", b"\x01\x02\x03\x04"]


@pytest.mark.parametrize("size", [1, 5, 8, 100])
def test_pieces_are_whole_fields(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("xlareport.readers.xplane._PIECE", size)
    found = list(pieces(BytesIO(MESSAGE * 3), 0, 3 * len(MESSAGE)))
    assert b"".join(found) == MESSAGE * 3
    assert all(list(fields(BytesIO(one), 0, len(one))) for one in found)


def test_a_field_that_is_longer_than_the_message() -> None:
    with pytest.raises(DecodeError):
        list(fields(BytesIO(b"\x12\x7fabc"), 0, 5))
    with pytest.raises(DecodeError):
        list(pieces(BytesIO(b"\x12\x7fabc"), 0, 5))


def test_fields_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.readers.xplane._MOST_FIELDS", 10)
    assert len(list(fields(BytesIO(b"\x0a\x00" * 10), 0, 20))) == 10
    with pytest.raises(DecodeError, match="more than 10 fields"):
        list(fields(BytesIO(b"\x0a\x00" * 11), 0, 22))


@given(st.binary(max_size=200))
def test_anything_ends(data: bytes) -> None:
    for read in (fields, pieces):
        try:
            assert len(list(read(BytesIO(data), 0, len(data)))) <= len(data)
        except DecodeError:
            continue
