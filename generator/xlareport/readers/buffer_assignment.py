"""Reads `-buffer-assignment.txt`: what memory a module reserves, and which values live where.

Three generations of the text are read: values in one line (since 2020), values with their uses
spread over lines (2019), and allocations with an address. What follows the allocations in older
files (values and live ranges) is left to their own readers.
"""

import re
import zlib
from collections.abc import Mapping
from typing import Any

from google.protobuf.message import DecodeError
from msgspec import Struct

from xlareport.readers.lines import FileProblems, decoded_lines, numbers_in
from xlareport.readers.table_protos import message_class
from xlareport.runtime.errors import Problem
from xlareport.runtime.packed import decompress_bytes

_ALLOCATION = re.compile(
    r"allocation (?P<index>\d{1,18}): (?:0x[0-9a-f]{1,16}, )?size (?P<size>\d{1,18})(?P<rest>.*)"
)
_VALUE = re.compile(
    r" value: <(?P<id>\d{1,18}) (?P<name>[^\s{>]+)(?:\{(?P<index>[0-9, ]*)\})?(?: \(phi\))?"
    r" @\d{1,9}> \(size=(?P<size>\d{1,18}),offset=(?P<offset>\d{1,18})\): (?P<shape>.*)"
)
_OLD_VALUE = re.compile(
    r"  <?(?P<id>\d{1,18}) (?P<name>[^\s{>]+)(?:\{(?P<index>[0-9, ]*)\})?(?: \(phi\))?"
    r" @\d{1,9}(?:, positions:|> \[(?P<place>[0-9,]{1,40})\]: (?P<shape>.*))"
)
_OLD_PLACE = re.compile(r" \[(?P<place>[0-9,]{1,40})\]: (?P<shape>.*)")
_COLOR = re.compile(r", color (\d{1,9})")
_PARAMETER = re.compile(r", parameter (\d{1,9})")
_OUTPUT = re.compile(r", output shape is \|[^|]*+\|")
_PARAMETER_SHAPE = re.compile(r", shape \|[^|]*+\|")
_END = ("Used values:", "HloLiveRange")


class BufferValue(Struct):
    """A value in an allocation; values that are not live at the same time may overlap."""

    id: int
    instruction: str
    index: tuple[int, ...]
    """The place in the instruction's tuple; empty for the whole."""
    offset: int
    """Bytes from the beginning of the allocation."""
    size: int
    """Bytes."""
    shape: str


class Allocation(Struct, frozen=True):
    """A piece of memory that the module reserves."""

    index: int
    size: int
    """Bytes."""
    color: int
    """The memory space; 0 is the backend's default."""
    parameter: int | None
    """The number of the entry parameter that it holds."""
    is_constant: bool
    is_thread_local: bool
    maybe_live_out: bool
    """May hold a part of the output."""
    is_preallocated_temp: bool
    values: tuple[BufferValue, ...]

    @property
    def kind(self) -> str:
        """`parameter`, `constant`, `thread-local`, `temp`, `output` or `other`.

        A parameter that an output is written over stays a parameter.
        """
        if self.parameter is not None:
            return "parameter"
        marks = {
            "constant": self.is_constant,
            "thread-local": self.is_thread_local,
            "temp": self.is_preallocated_temp,
            "output": self.maybe_live_out,
        }
        return next((kind for kind, marked in marks.items() if marked), "other")


class BufferAssignment(Struct, frozen=True):
    """The allocations of one module."""

    allocations: tuple[Allocation, ...]


def read_buffer_assignment(data: bytes, path: str) -> tuple[BufferAssignment, list[Problem]]:
    """Read the text; what cannot be read is a problem and costs no more than its line."""
    reader = _Reader(FileProblems(path))
    return reader.read(data), reader.problems.all()


class _Reader:
    """Reads line by line: an allocation, then its values."""

    def __init__(self, problems: FileProblems) -> None:
        self.problems = problems
        self._done: list[Allocation] = []
        self._head: re.Match[str] | None = None
        self._values: list[BufferValue] = []
        self._open_value: re.Match[str] | None = None

    def read(self, data: bytes) -> BufferAssignment:
        lines = decoded_lines(data, self.problems)
        if not lines[0].startswith("BufferAssignment:"):
            self.problems.add(1, "expected `BufferAssignment:`")
        for number, line in enumerate(lines[1:], 2):
            if line.startswith(_END):
                break
            self._line(number, line)
        self._finish()
        return BufferAssignment(tuple(self._done))

    def _line(self, number: int, line: str) -> None:
        if line.startswith("allocation "):
            self._allocation(number, line)
        elif line.startswith((" value:", "  <")) or line.endswith(", positions:"):
            self._value(number, line)
        elif line.startswith(" ["):
            self._old_place(number, line)
        elif line and not line.startswith((" ", "Total bytes used:")):
            self.problems.add(number, f"neither an allocation nor a value: {line[:80]}")

    def _allocation(self, number: int, line: str) -> None:
        self._finish()
        self._head = _ALLOCATION.fullmatch(line)
        if self._head is None:
            self.problems.add(number, f"an allocation without a size: {line[:80]}")

    def _value(self, number: int, line: str) -> None:
        match = _VALUE.fullmatch(line)
        if match:
            self._values.append(_value(match, int(match["offset"]), int(match["size"])))
            return
        match = _OLD_VALUE.fullmatch(line)
        if match is None:
            self.problems.add(number, f"a value that cannot be read: {line.strip()[:80]}")
        elif match["place"]:
            self._placed(number, match, match["place"], match["shape"])
        else:
            self._open_value = match

    def _old_place(self, number: int, line: str) -> None:
        match = _OLD_PLACE.fullmatch(line)
        if match and self._open_value:
            self._placed(number, self._open_value, match["place"], match["shape"])
        else:
            self.problems.add(number, "a place without a value")
        self._open_value = None

    def _placed(self, number: int, match: re.Match[str], place: str, shape: str) -> None:
        numbers = numbers_in(place)
        if len(numbers) != 2:
            self.problems.add(number, f"expected [offset,size]: {place[:40]}")
            return
        value = _value(match, *numbers)
        value.shape = shape
        self._values.append(value)

    def _finish(self) -> None:
        if self._head is not None:
            self._done.append(_allocation(self._head, tuple(self._values)))
        self._head, self._values, self._open_value = None, [], None


def _value(match: re.Match[str], offset: int, size: int) -> BufferValue:
    return BufferValue(
        id=int(match["id"]),
        instruction=match["name"],
        index=numbers_in(match["index"] or ""),
        offset=offset,
        size=size,
        shape=match["shape"] or "",
    )


def _allocation(head: re.Match[str], values: tuple[BufferValue, ...]) -> Allocation:
    details = head["rest"]
    words = set(_PARAMETER_SHAPE.sub("", _OUTPUT.sub("", details)).rstrip(":").split(", "))
    color = _matched_number(_COLOR, details)
    return Allocation(
        index=int(head["index"]),
        size=int(head["size"]),
        color=0 if color is None else color,
        parameter=_matched_number(_PARAMETER, details),
        is_constant="constant" in words,
        is_thread_local="thread-local" in words,
        maybe_live_out="maybe-live-out" in words,
        is_preallocated_temp="preallocated-temp" in words,
        values=values,
    )


def _matched_number(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return int(match[1]) if match else None


def read_buffer_assignment_proto(
    data: bytes, path: str
) -> tuple[BufferAssignment | None, list[Problem]]:
    """Read the assignment from a HloProto, packed or not; None where it has none.

    Only the protos of the optimized module have one. It lacks the shapes of the values and of the
    output; all sizes and places are those of the text.
    """
    try:
        proto = message_class("buffer_assignment", "HloProto")()
        proto.ParseFromString(decompress_bytes(data))
    except (DecodeError, zlib.error) as error:
        return None, [Problem(path, None, f"cut off, or no HLO proto: {error}")]
    if not proto.HasField("buffer_assignment"):
        return None, []
    names = {
        instruction.id: instruction.name.decode("utf-8", "replace")
        for computation in proto.hlo_module.computations
        for instruction in computation.instructions
    }
    buffers = {
        logical_buffer.id: logical_buffer
        for logical_buffer in proto.buffer_assignment.logical_buffers
    }
    allocations = tuple(
        _proto_allocation(buffer_allocation, buffers, names)
        for buffer_allocation in proto.buffer_assignment.buffer_allocations
    )
    return BufferAssignment(allocations), []


def _proto_allocation(
    value: Any, buffers: Mapping[int, Any], names: Mapping[int, str]
) -> Allocation:
    special = value.is_entry_computation_parameter or value.is_constant or value.is_thread_local
    placements = [placed for placed in value.assigned if placed.logical_buffer_id in buffers]
    values = (
        _proto_value(placed, buffers[placed.logical_buffer_id], names) for placed in placements
    )
    return Allocation(
        index=value.index,
        size=value.size,
        color=value.color,
        parameter=value.parameter_number if value.is_entry_computation_parameter else None,
        is_constant=value.is_constant,
        is_thread_local=value.is_thread_local,
        maybe_live_out=value.maybe_live_out,
        is_preallocated_temp=not special and not value.maybe_live_out,
        values=tuple(values),
    )


def _proto_value(placed: Any, buffer: Any, names: Mapping[int, str]) -> BufferValue:
    place = buffer.defined_at
    name = place.instruction_name.decode("utf-8", "replace")
    return BufferValue(
        id=buffer.id,
        instruction=name or names.get(place.instruction_id, ""),
        index=tuple(place.shape_index),
        offset=placed.offset,
        size=placed.size,
        shape="",
    )
