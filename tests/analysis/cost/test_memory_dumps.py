"""The three figures of memory against the files of every large dump, read by other means."""

import re
from collections import Counter
from pathlib import Path

from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import read_live_range
from xlareport.readers.memory_usage_report import read_memory_report, read_memory_report_proto

THREAD_LOCAL = "thread-local:"
ALLOCATION = re.compile(r"^allocation \d+: (?:0x\w+, )?size (\d+)(.*)$", re.MULTILINE)
LIVING = re.compile(r"^ {4}\S+: (\d+) bytes", re.MULTILINE)
TOTAL = re.compile(r"^Total bytes(?: used)?: (\d+)", re.MULTILINE)


def test_allocated_and_temporary_bytes_equal_the_allocations_of_every_dump(dumps: Path) -> None:
    paths = sorted(dumps.rglob("*-buffer-assignment.txt"))
    assert paths
    for path in paths:
        text = path.read_text("utf-8", "replace")
        figures = collect_memory_figures(
            read_buffer_assignment(path.read_bytes(), path.name)[0], None
        )
        allocated, temp = Counter[int](), Counter[int]()
        for size, rest in ALLOCATION.findall(text):
            color = int((re.findall(r", color (\d+)", rest) or ["0"])[0])
            allocated[color] += int(size) * (not rest.endswith(THREAD_LOCAL))
            temp[color] += int(size) if rest.endswith("preallocated-temp:") else 0
        assert {space.color: space.allocated_bytes for space in figures.spaces} == allocated, path
        assert {space.color: space.temp_bytes for space in figures.spaces} == temp, path
        assert (figures.allocated_bytes or 0) == allocated[0], path


def test_the_live_peak_equals_what_every_dump_lists(dumps: Path) -> None:
    files = [*dumps.rglob("*-live-range.txt"), *dumps.rglob("*-buffer-assignment.txt")]
    compared = 0
    for path in sorted(files):
        text = path.read_text("utf-8", "replace")
        live, _ = read_live_range(path.read_bytes(), path.name)
        listed = text.partition(" (peak):")[2].partition("Stack trace")[0]
        figures = collect_memory_figures(None, live)
        if listed:
            assert figures.live_peak_bytes == sum(map(int, LIVING.findall(listed))), path
            compared += 1
        else:
            assert figures.live_peak_bytes is None, path
    assert compared


def test_the_memory_usage_reports_agree_with_the_allocations(dumps: Path) -> None:
    for path in sorted(dumps.rglob("*-memory-usage-report.*")):
        text = path.with_name(path.name.partition("-memory-usage-report")[0])
        beside = text.with_name(f"{text.name}-buffer-assignment.txt")
        reads = read_memory_report if path.suffix == ".txt" else read_memory_report_proto
        spaces, problems = reads(path.read_bytes(), path.name)
        assert problems == [], path
        if beside.is_file():
            assigned = read_buffer_assignment(beside.read_bytes(), beside.name)[0]
            figures = collect_memory_figures(assigned, None)
            reported = {space.color: space.total_bytes for space in spaces}
            assert reported == {space.color: space.total_bytes for space in figures.spaces}, path
