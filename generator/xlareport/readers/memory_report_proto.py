"""Reads `-memory-usage-report.pb`, packed or not: the memory usage report as a proto.

It says what the text says, and numbers the allocations; names of memory spaces it has none.
"""

import zlib
from typing import Any

from google.protobuf.message import DecodeError

from xlareport.readers.memory_report import ReportTable, SpaceUsage, report_tables
from xlareport.readers.table_protos import message_class
from xlareport.runtime.errors import Problem
from xlareport.runtime.packed import decompress_bytes


def read_memory_report_proto(
    data: bytes, path: str
) -> tuple[tuple[SpaceUsage, ...], list[Problem]]:
    """Read the report; empty where it is cut off."""
    try:
        proto = message_class("memory_report", "MemoryUsageReportProto")()
        proto.ParseFromString(decompress_bytes(data))
    except (DecodeError, zlib.error) as error:
        return (), [Problem(path, None, f"cut off, or no memory usage report: {error}")]
    return tuple(
        SpaceUsage("", space.color, space.total_bytes, _tables(space)) for space in proto.spaces
    ), []


def _tables(space: Any) -> tuple[ReportTable, ...]:
    texts = (allocation.hlo_text.decode("utf-8", "replace") for allocation in space.allocations)
    return tuple(table for text in texts for table in report_tables(text))
