"""Events of instructions from a profiler's planes."""

import gzip
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from tests.readers.events import device, event, read, read_space, space, sums
from tests.readers.parsers import Parser, events

from xlareport.readers.op_events import OpEvent
from xlareport.readers.table_protos import message_class
from xlareport.readers.trace_events import trace_events
from xlareport.readers.xplane import fields, pieces, value_of, xplane_events

if TYPE_CHECKING:
    from xlareport.runtime.errors import Problem


def _space() -> bytes:
    """Return a profile of one event."""
    line = message_class("xplane", "XLine")(id=1, timestamp_ns=1)
    line.events.add(metadata_id=1, offset_ps=1, duration_ps=1)
    plane = message_class("xplane", "XPlane")()
    for key, name in enumerate(("hlo_op", "hlo_module"), 1):
        plane.stat_metadata.add(key=key).value.name = name
        made = plane.event_metadata[0] if plane.event_metadata else plane.event_metadata.add(key=1)
        made.value.stats.add(metadata_id=key, str_value=name)
    plane.lines.append(line.SerializeToString())
    space = message_class("xplane", "XSpace")()
    space.planes.append(plane.SerializeToString())
    return bytes(space.SerializeToString())


SPACES = (
    b"\x0a\x03\x12\x01\xff",  # a plane whose name is no text
    b"\x0a\x02\x1a\x05",
    b"\x0a\x00" * 5_000,
    b"\x0a" + b"\xff" * 20,
)
PARSERS = (Parser(events(xplane_events), _space(), cases=SPACES, says=False),)
"""For `tests/properties/test_parsers.py`."""


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


def test_both_forms_of_a_real_profile_say_the_same(dumps: Path) -> None:
    (trace,) = (dumps / "trace-jax-cpu").rglob("*.trace.json.gz")
    (plane,) = (dumps / "trace-jax-cpu").rglob("*.xplane.pb")
    problems: list[Problem] = []
    with trace.open("rb") as one, plane.open("rb") as other:
        first = list(trace_events(one, "t", problems))
        assert len(first) == 1_500
        assert sums(first) == sums(xplane_events(other, "x", problems))
    assert not problems


def test_events_of_instructions_are_taken_to_the_picosecond(tmp_path: Path) -> None:
    whole = {"traceEvents": [event("a", 1.25, 93.074, run_id="5"), {"ph": "M", "args": {}}, {}]}
    for data in (json.dumps(whole).encode(), gzip.compress(json.dumps(whole).encode())):
        (found,), problems = read(tmp_path / "x.trace.json.gz", data)
        assert found == OpEvent("jit_f", "a", "5", (1, 2), 1_250_000, 93_074_000)
        assert not problems


def test_events_of_a_space_have_what_is_told_once_of_all() -> None:
    parsed, problems = read_space(space(("a", 5, 7), ("b", 20, 1)))
    assert parsed == [
        OpEvent("jit_g", "a", "9", (0, 0), 2_005, 7),
        OpEvent("jit_g", "b", "9", (0, 0), 2_020, 1),
    ]
    assert not problems


def test_on_a_gpu_the_streams_tell_and_what_is_derived_is_left_out() -> None:
    told = {"hlo_op": "fusion.1", "hlo_module": "jit_f"}
    kinds = {"loop_fusion_kernel": told, "fusion.1": told, "MemcpyD2D": {}}
    lines = {
        "Stream #14(Compute)": ["loop_fusion_kernel|5|7|run_id=3", "MemcpyD2D|20|7"],
        "XLA Ops": ["fusion.1|5|7|run_id=3"],
        "XLA Modules": ["fusion.1|5|7"],
    }
    parsed, problems = read_space(device("/device:GPU:0", kinds, lines))
    assert parsed == [OpEvent("jit_f", "fusion.1", "3", (0, 0), 1_005, 7)]
    assert not problems


MESSAGE = b"\x08\x96\x01" + b"\x12\x03abc" + b"\x1d\x01\x02\x03\x04" + b"\x21" + b"\x05" * 8
"""A number, three bytes, and two fixed numbers."""


def test_fields_are_found_where_they_lie() -> None:
    file = BytesIO(b"before" + MESSAGE + b"after")
    found = list(fields(file, 6, 6 + len(MESSAGE)))
    assert [field.number for field in found] == [1, 2, 3, 4]
    assert [value_of(file, field) for field in found][1:3] == [b"abc", b"\x01\x02\x03\x04"]


@pytest.mark.parametrize("size", [1, 5, 8, 100])
def test_pieces_are_whole_fields(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("xlareport.readers.xplane._PIECE", size)
    found = list(pieces(BytesIO(MESSAGE * 3), 0, 3 * len(MESSAGE)))
    assert b"".join(found) == MESSAGE * 3
    assert all(list(fields(BytesIO(piece), 0, len(piece))) for piece in found)


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
    for reader in (fields, pieces):
        try:
            assert len(list(reader(BytesIO(data), 0, len(data)))) <= len(data)
        except DecodeError:
            continue
