import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.readers.parsers import Parser, with_path

from xlareport.readers.buffer_assignment import (
    Allocation,
    BufferAssignment,
    read_buffer_assignment,
    read_buffer_assignment_proto,
)
from xlareport.readers.table_protos import message_class


def _assignment() -> bytes:
    proto = message_class("buffer_assignment", "HloProto")()
    proto.buffer_assignment.buffer_allocations.add(index=0, size=8)
    return bytes(proto.SerializeToString())


ASSIGNMENT = b"""BufferAssignment:
allocation 0: size 256, color 1, page 0, parameter 2, shape |f32[8,8]| at ShapeIndex {0}:
 value: <42 a{1} (phi) @0> (size=256,offset=0): f32[8,8]{1,0}
allocation 1: 0x7fba, size 24, maybe-live-out:
  2 add.5 @0, positions:
 [0,24]: f32[2,3]{1,0}
"""
PARSERS = (
    Parser(with_path(read_buffer_assignment), ASSIGNMENT),
    Parser(with_path(read_buffer_assignment_proto), _assignment(), says=False),
)
"""For `tests/properties/test_parsers.py`."""


HERE = Path(__file__).parent / "data"
TEXT = """BufferAssignment:
allocation 0: size 256, color 1, page 0, parameter 2, at ShapeIndex {0,1}, maybe-live-out:
 value: <42 arg_tuple.3{1} (phi) @1> (size=256,offset=0): f32[8,8]{1,0}
allocation 1: size 16, output shape is |(f32[8,8], constant, preallocated-temp)|, maybe-live-out:
 value: <38 tuple.3{} @0> (size=16,offset=0): (f32[8,8]{1,0}, f32[5]{0})
allocation 2: size 4, constant:
allocation 3: size 8, thread-local:
allocation 4: size 64, preallocated-temp:
 value: <2 a-b @0> (size=60,offset=4): f32[15]
 reused by buffers of a different color:
  value: <3 c @2> (color=2)
allocation 5: size 1:

Total bytes used: 349 (349B)

Used values:
<0 ignored @0>
"""


def read(text: str) -> BufferAssignment:
    parsed, problems = read_buffer_assignment(text.encode(), "b.txt")
    assert problems == []
    return parsed


def test_each_allocation_with_its_words() -> None:
    parsed = read(TEXT)
    kinds = [allocation.kind for allocation in parsed.allocations]
    assert kinds == ["parameter", "output", "constant", "thread-local", "temp", "other"]
    first = parsed.allocations[0]
    assert (first.size, first.color, first.parameter) == (256, 1, 2)
    assert first.maybe_live_out
    assert not parsed.allocations[1].is_constant


def test_each_value_with_its_place() -> None:
    parsed = read(TEXT)
    phi = parsed.allocations[0].values[0]
    assert (phi.id, phi.instruction, phi.index) == (42, "arg_tuple.3", (1,))
    value = parsed.allocations[4].values[0]
    assert (value.instruction, value.offset, value.size, value.shape) == ("a-b", 4, 60, "f32[15]")
    assert parsed.allocations[1].values[0].index == ()


def test_the_text_of_2019() -> None:
    parsed = read((HERE / "tf-1.15-buffer-assignment.txt").read_text())
    assert [allocation.kind for allocation in parsed.allocations] == [
        "output",
        "parameter",
        "parameter",
    ]
    assert [allocation.values[0].instruction for allocation in parsed.allocations] == [
        "add.5",
        "arg0.1",
        "arg1.2",
    ]
    assert parsed.allocations[0].values[0].shape == "f32[2,3]{1,0}"
    assert parsed.allocations[0].values[0].size == 24


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_every_line_of_real_files_is_read(unpacked: Callable[[str], Path], dump: str) -> None:
    paths = sorted(unpacked(dump).rglob("*-buffer-assignment.txt"))
    assert paths
    for path in paths:
        text = path.read_text()
        parsed = read(text)
        lines = text.split("\n")
        values = sum(len(allocation.values) for allocation in parsed.allocations)
        assert values == sum(line.startswith(" value:") for line in lines)
        assert len(parsed.allocations) == sum(line.startswith("allocation") for line in lines)


def test_what_cannot_be_read_is_a_problem_and_costs_its_line() -> None:
    text = TEXT.replace("allocation 2: size 4", "allocation 2: size").replace(
        "offset=4", "offset=x"
    )
    parsed, problems = read_buffer_assignment(text.encode(), "b.txt")
    assert [allocation.index for allocation in parsed.allocations] == [0, 1, 3, 4, 5]
    assert [problem.line for problem in problems] == [6, 9]
    assert problems[0].path == "b.txt"


def test_another_file_says_what_was_expected() -> None:
    _, problems = read_buffer_assignment(b"HloModule m\n\xff", "b.txt")
    assert [problem.message for problem in problems][:2] == [
        "not UTF-8 text",
        "expected `BufferAssignment:`",
    ]


def test_many_problems_are_counted_not_listed() -> None:
    _, problems = read_buffer_assignment(b"BufferAssignment:\n" + b"x\n" * 1000, "b.txt")
    assert len(problems) == 21
    assert problems[-1].message == "980 more problems in this file"


def facts(one: Allocation) -> tuple[object, ...]:
    """Return what text and proto both say."""
    values = [(v.id, v.instruction, v.index, v.offset, v.size) for v in one.values]
    return one.index, one.size, one.color, one.kind, one.parameter, sorted(values)


def test_it_says_what_the_text_says(unpacked: Callable[[str], Path]) -> None:
    protos = sorted(unpacked("jax-cpu-train-allformats").glob("*after_optimizations.hlo.pb"))
    assert protos
    for path in protos:
        parsed, problems = read_buffer_assignment_proto(path.read_bytes(), path.name)
        beside = path.with_name(path.name.replace(".hlo.pb", "-buffer-assignment.txt"))
        text, _ = read_buffer_assignment(beside.read_bytes(), beside.name)
        assert problems == []
        assert parsed is not None
        assert list(map(facts, parsed.allocations)) == list(map(facts, text.allocations))


def test_packed_or_not(unpacked: Callable[[str], Path]) -> None:
    path = next(unpacked("jax-cpu-train-allformats").glob("*after_optimizations.hlo.pb"))
    plain, _ = read_buffer_assignment_proto(path.read_bytes(), path.name)
    packed, _ = read_buffer_assignment_proto(gzip.compress(path.read_bytes()), path.name)
    assert packed == plain


def test_a_proto_of_another_moment_has_none(unpacked: Callable[[str], Path]) -> None:
    path = next(unpacked("jax-cpu-train-allformats").glob("*before_optimizations.hlo.pb"))
    assert read_buffer_assignment_proto(path.read_bytes(), path.name) == (None, [])


@given(st.one_of(st.binary(max_size=100), st.binary(max_size=50).map(lambda b: b"\x1f\x8b" + b)))
def test_no_bytes_stop_it(data: bytes) -> None:
    parsed, problems = read_buffer_assignment_proto(data, "p")
    assert parsed is None or problems == []
