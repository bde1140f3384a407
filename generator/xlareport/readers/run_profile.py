"""Chrome traces of a profiler: how often each module ran while it watched, and how long.

`jax.profiler` and TensorFlow's profiler write `*.trace.json.gz`; events of operations on a device
carry `hlo_module`, `hlo_op` and, on most backends, `run_id`.
"""

import gzip
import io
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from xlareport.errors import Problem

LARGEST = 100_000_000
"""Bytes of JSON; a profiler writes at most a million events."""

_LATEST = 1e18
"""Microseconds since the epoch, or since the profiler began, are below this for ages."""

_HASHED = re.compile(r"\(\d++\)\Z")


@dataclass(frozen=True, slots=True)
class Runs:
    """How often a module ran while a profiler watched."""

    count: int
    microseconds: float
    """From the first to the last operation of each run, summed."""

    def __add__(self, other: "Runs") -> "Runs":
        return Runs(self.count + other.count, self.microseconds + other.microseconds)


def read_run_profile(
    data: bytes, path: str, most: int = LARGEST
) -> tuple[Mapping[str, Runs], list[Problem]]:
    """Return the runs by the name of the module; empty for what is not such a trace.

    What unpacks to more than `most` bytes is not read.
    """
    try:
        text = _plain(data, most)
        whole = json.loads(text) if len(text) <= most else None
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        return {}, [Problem(path, None, f"Not read as a trace: {error}.")]
    if whole is None:
        message = f"Not read: it unpacks to over {most:,} bytes; allow more with --max-beside-size."
        return {}, [Problem(path, None, message)]
    events = whole.get("traceEvents") if isinstance(whole, dict) else None
    return _runs(events) if isinstance(events, list) else {}, []


def _plain(data: bytes, most: int) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return file.read(most + 1)


@dataclass(frozen=True, slots=True)
class _Operation:
    module: str
    name: str
    run: str
    """Empty where the event names no run."""
    start: float
    end: float


def _operations(events: Iterable[object]) -> Iterator[_Operation]:
    for event in events:
        told = event.get("args") if isinstance(event, dict) else None
        if not isinstance(event, dict) or not isinstance(told, dict):
            continue
        start, length = _number(event.get("ts")), _number(event.get("dur"))
        if start is not None and length is not None:
            module = _HASHED.sub("", str(told.get("hlo_module", "")))
            run, name = str(told.get("run_id", "")), str(told.get("hlo_op", ""))
            if module:
                yield _Operation(module, name, run, start, start + length)


def _number(value: object) -> float | None:
    """Return microseconds; None for what is no number, or none that a clock could give."""
    if isinstance(value, int | float) and 0 <= value < _LATEST:
        return float(value)
    return None


def _runs(events: Iterable[object]) -> Mapping[str, Runs]:
    by_module: dict[str, list[_Operation]] = defaultdict(list)
    for one in _operations(events):
        by_module[one.module].append(one)
    return {name: _of_module(found) for name, found in by_module.items()}


def _of_module(found: Iterable[_Operation]) -> Runs:
    """Count the runs; where they are not named, the operation that came most often tells."""
    by_run: dict[str, list[_Operation]] = defaultdict(list)
    for one in found:
        by_run[one.run].append(one)
    unnamed = by_run.pop("", [])
    spans = [max(one.end for one in run) - min(one.start for one in run) for run in by_run.values()]
    times = Counter(one.name for one in unnamed)
    microseconds = sum(spans) + sum(one.end - one.start for one in unnamed)
    return Runs(len(spans) + max(times.values(), default=0), microseconds)
