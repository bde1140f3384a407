"""The other files of a dump that are read: one reader each, chosen by the first byte."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.readers.debug_options import read_debug_options, read_flagfile
from xlareport.readers.device_words import read_device_words
from xlareport.readers.fusion_decisions import read_fusion_decisions
from xlareport.readers.kernels import llvm_kernels, object_kernels, ptx_kernels
from xlareport.readers.memory_usage_report import read_memory_report, read_memory_report_proto
from xlareport.readers.mosaic import read_mosaic
from xlareport.readers.pass_metadata import read_pass_metadata
from xlareport.readers.stablehlo import read_stablehlo
from xlareport.readers.textproto import read_textproto
from xlareport.readers.tf_graph import read_tf_graph, read_tf_log
from xlareport.readers.thunks import read_thunk_metadata, read_thunk_sequence
from xlareport.readers.trace_events import trace_events
from xlareport.readers.xplane import xplane_events
from xlareport.runtime.errors import Problem
from xlareport.storage.payloads import read_payload


def _trace(data: bytes, path: str) -> tuple[Any, list[Problem]]:
    problems: list[Problem] = []
    return sum_times(trace_events(BytesIO(data), path, problems)), problems


def _space(data: bytes, path: str) -> tuple[Any, list[Problem]]:
    problems: list[Problem] = []
    return sum_times(xplane_events(BytesIO(data), path, problems)), problems


READERS: tuple[Callable[[bytes, str], tuple[Any, Any]], ...] = (
    *(read_debug_options, read_flagfile, read_device_words, read_fusion_decisions),
    *(read_memory_report, read_memory_report_proto, read_pass_metadata, _trace, _space),
    *(read_stablehlo, read_tf_graph, read_thunk_metadata, read_thunk_sequence),
)
PLAIN: tuple[Callable[[bytes], Any], ...] = (llvm_kernels, ptx_kernels, object_kernels, read_tf_log)
LATER: tuple[Callable[[bytes], Any], ...] = (read_mosaic, lambda data: read_textproto(data, "a"))
"""Behind the first ones, so that the seeds keep their readers."""


def check(data: bytes) -> None:
    """Read what follows the first byte with the reader that the byte names."""
    readers = (*map(_checked, READERS), *PLAIN, _payload)
    number = (data or b"\0")[0]
    more = number - 256 + len(LATER)
    (LATER[more] if more >= 0 else readers[number % len(readers)])(data[1:])


def _checked(read: Callable[[bytes, str], tuple[Any, Any]]) -> Callable[[bytes], None]:
    """Return a reader that sees that problems are those of its file."""

    def reading(data: bytes) -> None:
        _, problems = read(data, "a")
        assert all(one.path == "a" for one in problems)

    return reading


def _payload(data: bytes) -> None:
    """Read a script; what is none is refused with a ValueError."""
    try:
        read_payload(data.decode("latin-1"))
    except ValueError:
        return
