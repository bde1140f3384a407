from collections import Counter
from collections.abc import Callable
from gzip import compress
from pathlib import Path

import pytest
from tests.readers.parsers import Parser, with_path

from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.memory_usage_report import read_memory_report, read_memory_report_proto
from xlareport.readers.table_protos import message_class


def _usage() -> bytes:
    report = message_class("memory_report", "MemoryUsageReportProto")()
    report.spaces.add(color=1, total_bytes=8)
    return bytes(report.SerializeToString())


MEMORY = b"""Memory Space: default (color=0)
Total bytes: 71144 (69.5KiB)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
    16.0KiB(100%);    16.0KiB;            0;                3; f32[16,64]
  The rest 3 values
"""
PARSERS = (
    Parser(with_path(read_memory_report), MEMORY),
    Parser(with_path(read_memory_report_proto), _usage(), says=False),
)
"""For `tests/properties/test_parsers.py`."""


HERE = Path(__file__).parent / "data"
TEXT = """Memory Space: default (color=0)
Total bytes: 71144 (69.5KiB)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
    16.0KiB(100%);    16.0KiB;            0;                3; f32[16,64], 2\u00d7f32[64,64]
  The rest 12 values are less than 5% of the total size and not shown.

  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
         0B(-nan%);         0B;            0;                2; 2\u00d7s32[0]

Memory Space: vmem (color=1)
Total bytes: 512 (512B)
"""


def test_spaces_with_their_totals() -> None:
    (default, vmem), problems = read_memory_report(TEXT.encode(), "m.txt")
    assert problems == []
    assert (default.name, default.color, default.total_bytes) == ("default", 0, 71144)
    assert (vmem.name, vmem.color, vmem.total_bytes) == ("vmem", 1, 512)


def test_the_report_of_2024_is_one_total() -> None:
    data = (HERE / "jax-0.4.35-memory-usage-report.txt").read_bytes()
    (only,), problems = read_memory_report(data, "m.txt")
    assert problems == []
    assert (only.color, only.total_bytes) == (0, 256)


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_the_totals_are_those_of_the_buffer_assignment(
    unpacked: Callable[[str], Path], dump: str
) -> None:
    paths = sorted(unpacked(dump).rglob("*-memory-usage-report.txt"))
    assert paths
    for path in paths:
        spaces, problems = read_memory_report(path.read_bytes(), path.name)
        beside = path.with_name(path.name.replace("memory-usage-report", "buffer-assignment"))
        assignment, _ = read_buffer_assignment(beside.read_bytes(), beside.name)
        sizes: Counter[int] = Counter()
        for allocation in assignment.allocations:
            sizes[allocation.color] += allocation.size
        assert problems == []
        assert {space.color: space.total_bytes for space in spaces} == dict(sizes)


def test_another_file_is_a_problem() -> None:
    spaces, problems = read_memory_report(b"Memory Space: ?\nnothing\n", "m.txt")
    assert spaces == ()
    assert [problem.line for problem in problems] == [1, None]


def test_the_proto_says_what_the_text_says(unpacked: Callable[[str], Path]) -> None:
    paths = sorted(unpacked("jax-cpu-train-allformats").rglob("*-memory-usage-report.pb"))
    assert paths
    for path in paths:
        proto, problems = read_memory_report_proto(path.read_bytes(), path.name)
        text, _ = read_memory_report(path.with_suffix(".txt").read_bytes(), path.name)
        assert problems == []
        assert [(one.color, one.total_bytes) for one in proto] == [
            (one.color, one.total_bytes) for one in text
        ]
        assert read_memory_report_proto(compress(path.read_bytes()), "m.pb.gz") == (proto, [])


def test_what_is_cut_off_is_a_problem() -> None:
    for data in (b"\n\xa5k\x08", b"\x1f\x8b\x08nothing"):
        parsed, problems = read_memory_report_proto(data, "m.pb")
        assert parsed == ()
        assert [problem.path for problem in problems] == ["m.pb"]
