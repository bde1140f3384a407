"""Reads the events of instructions from Chrome traces, `*.trace.json.gz`, one after the other.

`jax.profiler` and TensorFlow's profiler write them; events of instructions carry `hlo_module` and
`hlo_op`, on most backends `run_id`. Those of a TPU do not: they are read of the `*.xplane.pb`. A
trace of any length takes no more memory than one event.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from typing import IO

import ijson

from xlareport.readers.op_events import DERIVED_LINES, OpEvent, is_time, module_name, run_name
from xlareport.runtime.errors import Problem

_GZIP = b"\x1f\x8b"
_PICOSECONDS = 1e6
"""In a microsecond."""
_BROKEN = (ijson.JSONError, EOFError, zlib.error, gzip.BadGzipFile, ValueError)
"""The last is for numbers and letters that are none."""
_OPENS, _CLOSES = ("start_map", "start_array"), ("end_map", "end_array")
_EVENT, _ARGUMENTS = 3, 4
"""How deep the fields of an event and of its arguments are in the text."""


def trace_events(file: IO[bytes], path: str, problems: list[Problem]) -> Iterator[OpEvent]:
    """Yield the events of a trace, packed or not; where it breaks off is added to `problems`."""
    packed = file.read(2) == _GZIP
    file.seek(0)
    try:
        yield from _op_events(gzip.GzipFile(fileobj=file) if packed else file)
    except _BROKEN as error:
        reason = str(error).partition("\n")[0]
        problems.append(Problem(path, None, f"Not read to its end as a trace: {reason}."))


def _op_events(file: "IO[bytes] | gzip.GzipFile") -> Iterator[OpEvent]:
    again: set[tuple[int, int]] = set()
    for event in _fields(file):
        thread = _integer_or_zero(event.get("pid")), _integer_or_zero(event.get("tid"))
        if "args.hlo_op" not in event or "args.hlo_module" not in event:
            if event.get("name") == "thread_name" and event.get("args.name") in DERIVED_LINES:
                again.add(thread)
            continue
        start, duration = _picoseconds(event.get("ts")), _picoseconds(event.get("dur"))
        if start is None or duration is None or not is_time(start, duration) or thread in again:
            continue
        yield OpEvent(
            module=module_name(str(event["args.hlo_module"])),
            instruction=str(event["args.hlo_op"]),
            run=run_name(str(event.get("args.run_id", ""))),
            thread=thread,
            start=start,
            duration=duration,
        )


def _fields(file: "IO[bytes] | gzip.GzipFile") -> Iterator[Mapping[str, object]]:
    """Yield the scalar fields of each event, and those of its arguments as `args.NAME`.

    Deeper levels are skipped: a text of only brackets takes neither time nor memory.
    """
    event: dict[str, object] = {}
    keys = [""] * (_ARGUMENTS + 1)
    depth = 0
    for kind, value in ijson.basic_parse(file, use_float=True):
        if kind == "map_key":
            keys[depth : depth + 1] = [value] if depth <= _ARGUMENTS else []
        elif kind in _OPENS:
            depth += 1
            keys[depth : depth + 1] = [""] if depth <= _ARGUMENTS else []
            event = {} if depth == _EVENT else event
        elif kind in _CLOSES:
            if depth == _EVENT and keys[1] == "traceEvents":
                yield event
            depth -= 1
        elif depth == _EVENT:
            event[keys[_EVENT]] = value
        elif depth == _ARGUMENTS:
            event[f"{keys[_EVENT]}.{keys[_ARGUMENTS]}"] = value


def _picoseconds(value: object) -> int | None:
    if not isinstance(value, int | float) or not abs(value) < 1e18:
        return None
    return round(value * _PICOSECONDS)


def _integer_or_zero(value: object) -> int:
    return value if isinstance(value, int) else 0
