"""Reads the events of instructions from `*.xplane.pb`, what profilers keep before they draw it.

Planes are devices or the host, lines are threads or streams. An event, or what is told once of all
of its kind, has `hlo_module` and `hlo_op`. One line at a time is taken apart.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from google.protobuf.message import DecodeError

from xlareport.errors import Problem
from xlareport.gzipped import unpacked
from xlareport.readers.op_events import OpEvent, is_time, module_name
from xlareport.readers.table_protos import message_class

_PICOSECONDS = 1_000
"""In a nanosecond."""
_TOLD = ("hlo_module", "hlo_op", "run_id")


def xplane_events(file: IO[bytes], path: str, problems: list[Problem]) -> Iterator[OpEvent]:
    """Yield the events of a profile; where it cannot be read is added to `problems`."""
    try:
        space = _parsed("XSpace", unpacked(file.read()))
        for number, written in enumerate(space.planes):
            yield from _of_plane(number, _parsed("XPlane", written))
    except (DecodeError, zlib.error) as error:
        problems.append(Problem(path, None, f"Cut off, or no profile: {error}."))


@dataclass(frozen=True, slots=True)
class _Plane:
    """What is told once of all events of a plane."""

    names: Mapping[int, str]
    """What a stat is, by its number; texts that are referred to lie here too."""
    told: Mapping[int, Mapping[str, str]]
    """Of each kind of event."""


def _of_plane(number: int, plane: Any) -> Iterator[OpEvent]:
    names = {one.key: one.value.name for one in plane.stat_metadata}
    if not names.keys() or "hlo_op" not in names.values():
        return
    told = {one.key: _stats(one.value.stats, names) for one in plane.event_metadata}
    shared = _Plane(names, told)
    for written in plane.lines:
        line = _parsed("XLine", written)
        for event in line.events:
            made = _event(event, shared, (number, line.id), line.timestamp_ns * _PICOSECONDS)
            if made is not None:
                yield made


def _event(event: Any, plane: _Plane, thread: tuple[int, int], begun: int) -> OpEvent | None:
    told = {**plane.told.get(event.metadata_id, {}), **_stats(event.stats, plane.names)}
    start = begun + event.offset_ps
    if "hlo_op" not in told or "hlo_module" not in told or not is_time(start, event.duration_ps):
        return None
    return OpEvent(
        module=module_name(told["hlo_module"]),
        instruction=told["hlo_op"],
        run=told.get("run_id", ""),
        thread=thread,
        start=start,
        duration=event.duration_ps,
    )


def _stats(stats: Iterable[Any], names: Mapping[int, str]) -> dict[str, str]:
    return {
        name: _value(one, names) for one in stats if (name := names.get(one.metadata_id)) in _TOLD
    }


def _value(stat: Any, names: Mapping[int, str]) -> str:
    if stat.str_value:
        return str(stat.str_value)
    if stat.ref_value:
        return names.get(stat.ref_value, "")
    return str(stat.uint64_value or stat.int64_value)


def _parsed(name: str, written: bytes) -> Any:
    message = message_class("xplane", name)()
    message.ParseFromString(written)
    return message
