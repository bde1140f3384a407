"""Reads `module_NNNN.metadata.textproto`: every pass that ran, with its times.

XLA's HloModuleMetadataProto in protobuf's text format; only the fields needed here are kept, others
are skipped. Passes nest: a pipeline is an entry too, and covers the entries of its passes.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.readers.textproto import Message, read_textproto
from xlareport.runtime.errors import Problem
from xlareport.runtime.whole_numbers import parse_whole_number


class PassRun(Struct, frozen=True):
    """A run of a pass or pipeline."""

    number: int
    """Order of start, as XLA counts it, from 1."""
    name: str
    pipeline: str
    changed: bool
    """The pass's own report; it may report a change without making one."""
    start: int | None
    """Microseconds since the epoch."""
    end: int | None
    files: tuple[str, ...]
    """Names of the files written after it, without their folders."""

    @property
    def duration(self) -> int | None:
        """Microseconds, with everything that ran inside."""
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return self.end - self.start


class TimedPass(Struct, frozen=True):
    """A run with the time spent in itself."""

    run: PassRun
    self_time: int | None
    """Microseconds spent in itself; these sum to at most the span from first start to last end."""


class ModuleMetadata(Struct, frozen=True):
    """The metadata of one module."""

    module_id: int | None
    runs: tuple[PassRun, ...]
    """In the order of the file."""

    def timed(self) -> tuple[TimedPass, ...]:
        """Return the runs by start, with self times."""
        return tuple(_timed(self.runs))

    @property
    def span(self) -> int | None:
        """Microseconds from the first start to the last end."""
        starts = [run.start for run in self.runs if run.start is not None]
        ends = [run.end for run in self.runs if run.end is not None]
        return max(ends) - min(starts) if starts and ends else None


def read_pass_metadata(data: bytes, path: str) -> tuple[ModuleMetadata | None, list[Problem]]:
    """Return the metadata of a file and its problems; None if it names no pass."""
    message, problems = read_textproto(data, path)
    runs = tuple(_pass_run(run) for run in message.messages("pass_metadata"))
    module_id = parse_whole_number(message.text("canonical_module_id"))
    nothing = not runs and module_id is None
    return (None if nothing else ModuleMetadata(module_id, runs)), problems


def _pass_run(message: Message) -> PassRun:
    return PassRun(
        number=parse_whole_number(message.text("pass_id")) or 0,
        name=message.text("pass_name"),
        pipeline=message.text("pipeline_name"),
        changed=message.text("module_changed") == "true",
        start=parse_whole_number(message.text("start_timestamp_usec")),
        end=parse_whole_number(message.text("end_timestamp_usec")),
        files=tuple(name.rpartition("/")[2] for name in message.texts("dump_filenames")),
    )


def _timed(runs: Sequence[PassRun]) -> Iterator[TimedPass]:
    """Yield the runs by start; each one's time goes to the innermost run around it."""
    timed = [run for run in runs if run.duration is not None]
    order = sorted(timed, key=lambda run: (run.start or 0, -(run.duration or 0), -run.number))
    around: list[PassRun] = []
    inside: dict[int, int] = {}
    for run in order:
        while around and (around[-1].end or 0) <= (run.start or 0):
            around.pop()
        if around:
            shared = min(run.end or 0, around[-1].end or 0) - (run.start or 0)
            inside[id(around[-1])] = inside.get(id(around[-1]), 0) + shared
        around.append(run)
    for run in order:
        self_time = (run.duration or 0) - inside.get(id(run), 0)
        yield TimedPass(run, max(self_time, 0))
    for run in runs:
        if run.duration is None:
            yield TimedPass(run, None)
