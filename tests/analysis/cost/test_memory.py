from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.cost.memory import collect_memory_figures, rank_values, sum_by_kind
from xlareport.readers.buffer_assignment import BufferAssignment, read_buffer_assignment
from xlareport.readers.live_range import LiveRanges, read_live_range
from xlareport.readers.memory_usage_report import SpaceUsage

TEXT = b"""BufferAssignment:
allocation 0: size 256, parameter 0, shape |f32[8,8]| at ShapeIndex {}:
 value: <1 x @0> (size=256,offset=0): f32[8,8]{1,0}
allocation 1: size 96, preallocated-temp:
 value: <2 y @0> (size=64,offset=0): f32[16]{0}
 value: <3 z @0> (size=96,offset=0): f32[24]{0}
allocation 2: size 512, color 1, preallocated-temp:
"""


def assigned(text: bytes) -> BufferAssignment:
    return read_buffer_assignment(text, "b.txt")[0]


def test_memory_spaces_are_never_added_up() -> None:
    figures = collect_memory_figures(assigned(TEXT), LiveRanges(peak_bytes=320), ())
    assert (figures.allocated_bytes, figures.temp_bytes, figures.live_peak_bytes) == (352, 96, 320)
    assert [(space.color, space.allocated_bytes) for space in figures.spaces] == [
        (0, 352),
        (1, 512),
    ]
    assert figures.sources == {
        "allocated_bytes": "buffer-assignment",
        "temp_bytes": "buffer-assignment",
        "live_peak_bytes": "live-range",
    }


def test_thread_local_allocations_reserve_no_memory() -> None:
    inside = (
        b"allocation 3: size 4096, thread-local:\n"
        b" value: <4 p @0> (size=4096,offset=0): f32[1024]{0}\n"
    )
    assignment = assigned(TEXT + inside)
    figures = collect_memory_figures(assignment, None)
    assert figures.allocated_bytes == 352
    assert (figures.spaces[0].thread_local_bytes, figures.spaces[0].total_bytes) == (4096, 4448)
    assert [placed.value.instruction for placed in rank_values(assignment, 9)] == ["x", "z", "y"]


def test_what_no_file_says_is_none() -> None:
    figures = collect_memory_figures(None, None)
    assert (figures.allocated_bytes, figures.live_peak_bytes, figures.temp_bytes) == (None,) * 3
    assert figures.sources == {}


def test_the_report_alone_gives_the_total() -> None:
    figures = collect_memory_figures(None, None, [SpaceUsage("default", 0, 71144)])
    assert (figures.allocated_bytes, figures.temp_bytes) == (71144, None)
    assert figures.sources == {"allocated_bytes": "memory-usage-report"}


def test_kinds_and_largest_values() -> None:
    assignment = assigned(TEXT)
    assert [(one.color, one.kind, one.size) for one in sum_by_kind(assignment)] == [
        (0, "parameter", 256),
        (0, "temp", 96),
        (1, "temp", 512),
    ]
    first, second = rank_values(assignment, 2)
    assert (first.value.instruction, first.allocation.kind) == ("x", "parameter")
    assert (second.value.instruction, second.allocation.index) == ("z", 1)


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_the_figures_equal_the_lines_of_the_dump(
    unpacked: Callable[[str], Path], dump: str
) -> None:
    for path in sorted(unpacked(dump).rglob("*-buffer-assignment.txt")):
        beside = path.with_name(path.name.replace("buffer-assignment", "live-range"))
        live, _ = read_live_range(beside.read_bytes(), beside.name)
        figures = collect_memory_figures(assigned(path.read_bytes()), live)
        lines = [line for line in path.read_text().split("\n") if line.startswith("allocation")]
        default = [line for line in lines if ", color" not in line]
        temp = [line for line in default if line.endswith(", preallocated-temp:")]
        reserved = [line for line in default if "thread-local" not in line]
        assert figures.allocated_bytes == sum(map(_size, reserved))
        assert figures.spaces[0].total_bytes == sum(map(_size, default))
        assert figures.temp_bytes == sum(map(_size, temp))
        stated = beside.read_text().partition("for peak usage: ")[2].partition(" bytes")[0]
        assert figures.live_peak_bytes == int(stated.replace(" ", ""))


def _size(line: str) -> int:
    return int(line.partition("size ")[2].split(",")[0].rstrip(":"))
