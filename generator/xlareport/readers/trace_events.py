"""Reads the events of instructions from Chrome traces, `*.trace.json.gz`, one after the other.

`jax.profiler` and TensorFlow's profiler write them; events of instructions carry `hlo_module` and
`hlo_op`, on most backends `run_id`. Those of a TPU do not: they are read of the `*.xplane.pb`. A
trace of any length takes no more memory than one event.
"""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO

import ijson

from xlareport.errors import Problem
from xlareport.readers.op_events import DERIVED_LINES, OpEvent, is_time, module_name

_GZIP = b"\x1f\x8b"
_PICOSECONDS = 1e6
"""In a microsecond."""
_BROKEN = (ijson.JSONError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError)


def trace_events(file: IO[bytes], path: str, problems: list[Problem]) -> Iterator[OpEvent]:
    """Yield the events of a trace, packed or not; where it breaks off is added to `problems`."""
    packed = file.read(2) == _GZIP
    file.seek(0)
    try:
        yield from _events(gzip.GzipFile(fileobj=file) if packed else file)
    except _BROKEN as error:
        problems.append(Problem(path, None, f"Not read to its end as a trace: {error}."))


def _events(file: "IO[bytes] | gzip.GzipFile") -> Iterator[OpEvent]:
    again: set[tuple[int, int]] = set()
    for event in ijson.items(file, "traceEvents.item", use_float=True):
        told = event.get("args") if isinstance(event, dict) else None
        if not isinstance(told, dict):
            continue
        thread = _number(event.get("pid")), _number(event.get("tid"))
        if "hlo_op" not in told or "hlo_module" not in told:
            if event.get("name") == "thread_name" and told.get("name") in DERIVED_LINES:
                again.add(thread)
            continue
        start, duration = _picoseconds(event.get("ts")), _picoseconds(event.get("dur"))
        if start is None or duration is None or not is_time(start, duration) or thread in again:
            continue
        yield OpEvent(
            module=module_name(str(told["hlo_module"])),
            instruction=str(told["hlo_op"]),
            run=str(told.get("run_id", "")),
            thread=thread,
            start=start,
            duration=duration,
        )


def _picoseconds(value: object) -> int | None:
    if not isinstance(value, int | float) or not abs(value) < 1e18:
        return None
    return round(value * _PICOSECONDS)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
