"""Inputs and results of runs, from a HloSnapshot."""

import struct
import zlib
from contextlib import suppress

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from xlareport.hlo.protos.recorded_run import RecordError, read_recorded_run
from xlareport.hlo.protos.schema import message_class


def record(*arguments: dict[str, object], result: dict[str, object] | None = None) -> bytes:
    message = message_class("HloSnapshot")()
    message.hlo.hlo_module.name = b"m"
    message.execution_platform = b"cuda"
    for given in arguments:
        fill(message.arguments.add(), given)
    if result is not None:
        fill(message.result, result)
    return bytes(message.SerializeToString())


def fill(literal: object, given: dict[str, object]) -> None:
    shape = literal.shape  # type: ignore[attr-defined]
    shape.element_type = given["type"]
    shape.dimensions.extend(given.get("sizes", ()))
    shape.layout.minor_to_major.extend(given.get("order", ()))
    for each in given.get("elements", ()):  # type: ignore[attr-defined]
        fill(literal.tuple_literals.add(), each)  # type: ignore[attr-defined]
    for name, values in given.items():
        if name.endswith("s") and name not in {"sizes", "elements"}:
            if isinstance(values, bytes):
                setattr(literal, name, values)
            else:
                getattr(literal, name).extend(values)


FLOATS = {"type": 11, "sizes": [2], "f32s": [1.0, 2.0]}
BYTES = {"type": 16, "sizes": [2], "bf16s": b"\x80\x3f\x00\x40"}


def test_arguments_and_result_are_arrays() -> None:
    run = read_recorded_run(record(FLOATS, {"type": 13, "elements": [BYTES]}, result=FLOATS))
    assert [argument.element_type for argument in run.arguments] == ["f32", "bf16"]
    assert run.arguments[0].data == struct.pack("<2f", 1, 2)
    assert run.arguments[1].data == BYTES["bf16s"]
    assert run.results == run.arguments[:1]
    assert run.platform == "cuda"


def test_a_packed_record_is_unpacked() -> None:
    packed = zlib.compressobj(wbits=31)
    data = packed.compress(record(FLOATS)) + packed.flush()
    assert read_recorded_run(data).arguments[0].dimensions == (2,)


def test_the_order_of_dimensions_is_kept() -> None:
    literal = {"type": 11, "sizes": [1, 2], "order": [0, 1], "f32s": [1.0, 2.0]}
    assert read_recorded_run(record(literal)).arguments[0].is_column_major


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"type": 11, "sizes": [3], "f32s": [1.0]}, "does not hold all"),
        ({"type": 11, "sizes": [-1]}, "does not hold all"),
        ({"type": 99}, "type unknown"),
        ({"type": 31, "sizes": [1]}, "type u1"),
        (
            {"type": 11, "sizes": [1, 1, 1], "order": [1, 0, 2], "f32s": [1.0]},
            "order of the dimensions",
        ),
    ],
)
def test_what_cannot_be_taken_is_named(given: dict[str, object], reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        read_recorded_run(record(given))


@pytest.mark.parametrize("data", [b"", b"\xff\xff", record(FLOATS)[:-3]])
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError):
        read_recorded_run(data)


@drawn(st.binary(max_size=60), st.integers(0, 200))
def test_any_bytes_are_a_record_or_refused(more: bytes, place: int) -> None:
    whole = record(FLOATS, result=BYTES)
    with suppress(RecordError):
        read_recorded_run(whole[:place] + more + whole[place:])
