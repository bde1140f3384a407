"""Reads the events of instructions from `*.xplane.pb`, the internal format of profilers.

Planes are devices or the host, lines are threads or streams. On a CPU and a GPU an event, or its
metadata, has `hlo_module` and `hlo_op`. On a TPU the line of instructions has only their texts, and
the line of modules shows which one ran at that time. Lines are read piece by piece.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, TypeAlias

from google.protobuf.message import DecodeError
from msgspec import Struct

from xlareport.readers.op_events import (
    DERIVED_LINES,
    OpEvent,
    instruction_name,
    is_time,
    module_name,
    run_name,
)
from xlareport.readers.table_protos import message_class
from xlareport.runtime.errors import Problem

_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
_SIZES = {_FIXED_64: 8, _FIXED_32: 4}
_LONGEST_VARINT = 10
_HEAD = 2 * _LONGEST_VARINT
_PIECE = 1 << 20
"""Bytes that are held at a time, unless a single field is longer."""
_LONGEST_FIELD = 1 << 26
_MOST_FIELDS = 1_000_000
"""Limit on fields of a message that is parsed field by field; planes have thousands."""


class Field(Struct, frozen=True):
    """Where a field of a message is in the file."""

    number: int
    start: int
    """Of its value."""
    end: int


def fields(file: IO[bytes], start: int, end: int) -> Iterator[Field]:
    """Yield the fields of the message in this range; raises DecodeError if it is not a message."""
    count = 0
    while start < end:
        count += 1
        if count > _MOST_FIELDS:
            raise DecodeError(f"a message has more than {_MOST_FIELDS:,} fields")
        file.seek(start)
        number, value, after = _field(file.read(_HEAD), 0)
        if start + after > end:
            raise DecodeError("a field is longer than its message")
        yield Field(number, start + value, start + after)
        start += after


def value_of(file: IO[bytes], field: Field) -> bytes:
    """Return the bytes of a field; raises DecodeError where they are too many."""
    if field.end - field.start > _LONGEST_FIELD:
        raise DecodeError(f"a field has more than {_LONGEST_FIELD:,} bytes")
    file.seek(field.start)
    return file.read(field.end - field.start)


def pieces(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    """Yield a message in pieces of whole fields: each is a message of its own, of the same kind."""
    size = _PIECE
    while start < end:
        file.seek(start)
        chunk = file.read(min(size, end - start))
        whole = _end_of_fields(chunk)
        if whole:
            yield chunk[:whole]
            start, size = start + whole, _PIECE
        elif len(chunk) < size or size > _LONGEST_FIELD:
            raise DecodeError("a field is longer than its message, or than any should be")
        else:
            size *= 4


def _end_of_fields(data: bytes) -> int:
    """Return the end of the last complete field."""
    position = 0
    try:
        while position < len(data):
            after = _field(data, position)[2]
            if after > len(data):
                break
            position = after
    except DecodeError:
        if len(data) - position > _HEAD:  # else its number may be cut off by the end of the piece
            raise
    return position


def _field(data: bytes, position: int) -> tuple[int, int, int]:
    """Return number, start and end of the field that begins there."""
    tag, position = _varint(data, position)
    kind = tag & 7
    if kind == _LENGTH:
        length, position = _varint(data, position)
        return tag >> 3, position, position + length
    if kind == _VARINT:
        return tag >> 3, position, _varint(data, position)[1]
    if kind not in _SIZES:
        raise DecodeError("a field of no known kind")
    return tag >> 3, position, position + _SIZES[kind]


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    byte = data[position] if position < len(data) else 0x80
    if byte < 0x80:
        return byte, position + 1
    value = shift = 0
    for at in range(position, min(position + _LONGEST_VARINT, len(data))):
        value |= (data[at] & 0x7F) << shift
        if data[at] < 0x80:
            return value, at + 1
        shift += 7
    raise DecodeError("a number that does not end")


DeviceRun: TypeAlias = tuple[int, int, str, str]
"""When it began and ended, the module, the run."""
_MOST_RUNS = 500_000
"""Runs of a device; what comes later belongs to none."""


class DeviceRuns:
    """The runs of modules on a device, one after the other."""

    def __init__(self, runs: Iterable[DeviceRun]) -> None:
        self._runs = sorted(islice(runs, _MOST_RUNS))
        self._starts = [start for start, _, _, _ in self._runs]

    def at(self, moment: int) -> tuple[str, str]:
        """Return module and run at a moment; both empty where none ran."""
        place = bisect_right(self._starts, moment) - 1
        if place < 0 or moment >= self._runs[place][1]:
            return "", ""
        return self._runs[place][2:]


_PICOSECONDS = 1_000
"""In a nanosecond."""
_PLANE = 1
_NAME, _LINE, _KIND, _STAT = 2, 3, 4, 5
"""Numbers of the fields of a plane."""
_MOST_PARTS = 1_000_000
_TOLD = ("hlo_module", "hlo_op", "run_id")
_TPU = "/device:TPU:"
_MODULES, _OPS = "XLA Modules", "XLA Ops"
"""Lines of a TPU. Those of `Async XLA Ops` begin and end in instructions of `_OPS`: left out."""

_EventDetails = tuple[str, str, str]
"""Module, instruction and run; empty if unknown."""
_NOTHING = ("", "", "")


def xplane_events(file: IO[bytes], path: str, problems: list[Problem]) -> Iterator[OpEvent]:
    """Yield the events of a profile; where it cannot be read is added to `problems`."""
    try:
        planes = (field for field in fields(file, 0, file.seek(0, 2)) if field.number == _PLANE)
        for number, plane in enumerate(planes):
            yield from _of_plane(file, number, plane)
    except (DecodeError, UnicodeDecodeError) as error:
        problems.append(Problem(path, None, f"Cut off, or no profile: {error}."))


class _Plane(Struct, frozen=True):
    """The common data of all events of a plane."""

    file: IO[bytes]
    number: int
    lines: tuple[Field, ...]
    texts: Mapping[int, str]
    """Names of stats by number, and texts that stats refer to."""
    slots: Mapping[int, int]
    """Which of `_TOLD` a stat is, by its number."""
    names: Mapping[int, str]
    """Of kinds of events, by their numbers."""
    details: Mapping[int, _EventDetails]
    """Of kinds of events, by their numbers."""


def _of_plane(file: IO[bytes], number: int, place: Field) -> Iterator[OpEvent]:
    parts: dict[int, list[Field]] = {_NAME: [], _LINE: [], _KIND: [], _STAT: []}
    for count, field in enumerate(fields(file, place.start, place.end)):
        parts.get(field.number, []).append(field)
        if count > _MOST_PARTS:
            raise DecodeError(f"a plane has more than {_MOST_PARTS:,} lines, names and kinds")
    if not parts[_LINE]:
        return
    name = "".join(value_of(file, field).decode() for field in parts[_NAME])
    entries = (_parsed("StatEntry", value_of(file, field)) for field in parts[_STAT])
    texts = {entry.key: entry.value.name for entry in entries}
    slots = {key: _TOLD.index(text) for key, text in texts.items() if text in _TOLD}
    is_tpu = name.startswith(_TPU)
    if not slots and not is_tpu:
        return
    names, details = {}, {}
    for this_field in parts[_KIND]:
        kind = _parsed("EventEntry", value_of(file, this_field))
        names[kind.key] = kind.value.name
        details[kind.key] = _details(kind.value.stats, _NOTHING, slots, texts)
    plane = _Plane(file, number, tuple(parts[_LINE]), texts, slots, names, details)
    yield from _of_tpu(plane) if is_tpu else _of_threads(plane)


def _of_threads(plane: _Plane) -> Iterator[OpEvent]:
    """Yield events that name their instructions themselves."""
    for event, start, thread in _plane_events(plane, lambda name: name not in DERIVED_LINES):
        details = plane.details.get(event.metadata_id, _NOTHING)
        module, instruction, run = _details(event.stats, details, plane.slots, plane.texts)
        if module and instruction:
            name = module_name(module)
            yield OpEvent(name, instruction, run_name(run), thread, start, event.duration_ps)


def _of_tpu(plane: _Plane) -> Iterator[OpEvent]:
    """Yield the events of the line of instructions, each in the run that lasted then."""
    runs = DeviceRuns(_runs(plane))
    for event, start, thread in _plane_events(plane, lambda name: name == _OPS):
        name = instruction_name(plane.names.get(event.metadata_id, ""))
        module, run = runs.at(start)
        yield OpEvent(module, name, run, thread, start, event.duration_ps)


def _runs(plane: _Plane) -> Iterator[DeviceRun]:
    for event, start, _ in _plane_events(plane, lambda name: name == _MODULES):
        details = plane.details.get(event.metadata_id, _NOTHING)
        run = _details(event.stats, details, plane.slots, plane.texts)[2]
        module = module_name(plane.names.get(event.metadata_id, ""))
        yield start, start + event.duration_ps, module, run or str(start)


def _plane_events(
    plane: _Plane, wanted: Callable[[str], bool]
) -> Iterator[tuple[Any, int, tuple[int, int]]]:
    """Yield the events of lines of wanted names, with the picosecond of the start, and the line."""
    for place in plane.lines:
        number, name, begun = 0, "", 0
        for piece in pieces(plane.file, place.start, place.end):
            line = _parsed("XLine", piece)
            number, name = line.id or number, line.name or name
            begun = line.timestamp_ns * _PICOSECONDS or begun
            if not wanted(name):
                break
            for event in line.events:
                start = begun + event.offset_ps
                if is_time(start, event.duration_ps):
                    yield event, start, (plane.number, number)


def _details(
    stats: Iterable[Any], before: _EventDetails, slots: Mapping[int, int], texts: Mapping[int, str]
) -> _EventDetails:
    """Return the details of stats; `before` where these state none."""
    details: list[str] | None = None
    for stat in stats:
        slot = slots.get(stat.metadata_id)
        if slot is not None:
            details = details or list(before)
            details[slot] = _value(stat, texts)
    return (details[0], details[1], details[2]) if details else before


def _value(stat: Any, texts: Mapping[int, str]) -> str:
    if stat.str_value:
        return str(stat.str_value)
    if stat.ref_value:
        return texts.get(stat.ref_value, "")
    return str(stat.uint64_value or stat.int64_value)


def _parsed(name: str, written: bytes) -> Any:
    message = message_class("xplane", name)()
    message.ParseFromString(written)
    return message
