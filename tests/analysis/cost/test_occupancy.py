"""What is in use when, against a count of its own from the texts of real dumps."""

import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analysis.cost.small_occupancy import LIVE, TEXT

from xlareport.analysis.cost.occupancy import Occupancy, measure_occupancy
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges, read_live_range


@pytest.fixture
def occupancy() -> Occupancy:
    measured = measure_occupancy(read_buffer_assignment(TEXT, "b.txt")[0], LIVE)
    assert measured is not None
    return measured


def test_arguments_are_held_throughout_and_a_shared_place_counts_once(occupancy: Occupancy) -> None:
    assert occupancy.curve == (96, 128, 128, 128, 128, 64)
    assert occupancy.curves[1] == (0, 0, 0, 0, 8, 8), "no memory space is added to another"
    assert (occupancy.peak, occupancy.position) == (128, 1)


def test_what_lives_at_the_peak_adds_up_to_it(occupancy: Occupancy) -> None:
    living = occupancy.living(occupancy.position)
    assert [(slot.key[0], slot.size) for slot in living] == [("x", 64), ("y", 32), ("z", 32)]


def test_an_allocation_at_its_fullest(occupancy: Occupancy) -> None:
    (fill,) = occupancy.fills
    assert (fill.allocation.index, fill.used, fill.lost, fill.position) == (1, 64, 64, 1)


def test_without_lives_only_what_is_held_throughout_is_known() -> None:
    assignment, _ = read_buffer_assignment(TEXT, "b.txt")
    assert measure_occupancy(assignment, None) is None
    assert measure_occupancy(None, LIVE) is None
    held, _ = read_buffer_assignment(TEXT.partition(b"allocation 1")[0], "b.txt")
    measured = measure_occupancy(held, None)
    assert measured is not None
    assert measured.curve == (64,)


def test_an_output_is_named_by_what_is_in_it_at_the_end(unpacked: Callable[[str], Path]) -> None:
    """Larger values may use its memory before."""
    dump = unpacked("jax-cpu-train")
    (assigned,) = dump.glob("*jit_train_step.cpu_after_optimizations-buffer-assignment.txt")
    (lives,) = dump.glob("*jit_train_step.cpu_after_optimizations-live-range.txt")
    assignment, _ = read_buffer_assignment(assigned.read_bytes(), assigned.name)
    live, _ = read_live_range(lives.read_bytes(), lives.name)
    measured = measure_occupancy(assignment, live)
    assert measured is not None
    outputs = [slot for slot in measured.slots if slot.allocation.kind == "output"]
    assert outputs
    assert all(measured.ranges[slot.key].end == slot.end for slot in outputs)


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "tpu-v5e-oom", "tpu-v5e-remat"])
def test_the_curve_equals_a_count_from_the_texts(
    unpacked: Callable[[str], Path], dump: str
) -> None:
    compare(unpacked(dump))


def test_the_curve_equals_a_count_from_the_texts_of_every_dump(dumps: Path) -> None:
    for dump in sorted(dumps.iterdir()):
        if not dump.name.startswith(("jax-gpt2", "gpu-h100x8")):
            compare(dump)


def compare(dump: Path) -> None:
    for path in sorted(dump.rglob("*-live-range.txt")):
        beside = path.with_name(path.name.replace("live-range", "buffer-assignment"))
        if not beside.is_file():
            continue
        live, _ = read_live_range(path.read_bytes(), path.name)
        measured = measure_occupancy(read_buffer_assignment(beside.read_bytes(), "b.txt")[0], live)
        peaks, allocated = peaks_in(beside.read_text(), path.read_text())
        assert measured is not None
        assert {color: max(curve) for color, curve in measured.curves.items()} == peaks, path
        assert all(peak <= allocated[color] for color, peak in peaks.items()), path


def peaks_in(assignment: str, live: str) -> tuple[dict[int, int], dict[int, int]]:
    """Return the most bytes in use of each space, and those allocated, by regular expressions."""
    lives = {
        (name, index): (int(start), int(end))
        for name, index, start, end in re.findall(
            r"^    (\S+?)\{([0-9,]*)\}:(\d+)-(\d+)", live, re.MULTILINE
        )
    }
    held, allocated = defaultdict[int, int](int), defaultdict[int, int](int)
    placed = defaultdict[int, list[tuple[int, int, int, int, int]]](list)
    for block in re.split(r"^(?=allocation \d+:)", assignment, flags=re.MULTILINE)[1:]:
        head, *values = block.split("\n")
        number, size = map(int, re.findall(r"\d+", head)[:2])
        color = int((re.findall(r", color (\d+)", head) or ["0"])[0])
        allocated[color] += size
        if re.search(r", parameter |, constant|, maybe-live-out", head):
            held[color] += size
        elif "thread-local" not in head:
            held[color] += 0
            for line in values:
                match = re.match(
                    r" value: <\d+ ([^\s{>]+)(?:\{([0-9,]*)\})?.*? \(size=(\d+),offset=(\d+)", line
                )
                if match:
                    name, index, length, offset = match.groups()
                    place = number, int(offset), int(offset) + int(length)
                    placed[color].append((*place, *lives[name, index or ""]))
    return {color: base + most_covered(placed[color]) for color, base in held.items()}, allocated


def most_covered(values: list[tuple[int, int, int, int, int]]) -> int:
    most = 0
    for moment in {start for *_, start, _ in values}:
        covered, reached = 0, (-1, 0)
        for number, low, high, start, end in sorted(values):
            if start <= moment <= end:
                base = reached[1] if reached[0] == number else 0
                covered += max(0, high - max(low, base))
                reached = (number, max(high, base))
        most = max(most, covered)
    return most


def test_shared_memory_is_named_by_a_value_that_lives_then_and_held_memory_by_its_own() -> None:
    text = b"""BufferAssignment:
allocation 0: size 64, maybe-live-out:
 value: <1 early @0> (size=64,offset=0): f32[16]{0}
 value: <2 late @0> (size=32,offset=0): f32[8]{0}
allocation 1: size 32, preallocated-temp:
 value: <3 first @0> (size=32,offset=0): f32[8]{0}
 value: <4 renamed @0> (size=32,offset=0): f32[8]{0}
"""
    ranges = (("early", 0, 0), ("late", 2, 4), ("first", 0, 1), ("renamed", 1, 3))
    live = LiveRanges(
        schedule=("early", "first", "late", "renamed"),
        ranges=tuple(LiveRange(name, (), start, end) for name, start, end in ranges),
    )
    assignment, _ = read_buffer_assignment(text, "b.txt")
    occupancy = measure_occupancy(assignment, live)
    assert occupancy is not None
    living = [occupancy.living(position) for position in range(4)]
    names = [[slot.value.instruction for slot in slots] for slots in living]
    assert names == [["late", "first"]] * 2 + [["late", "renamed"]] * 2
    occupants = [slots[0].occupant for slots in living]
    assert [value and value.instruction for value in occupants] == ["early", None, None, None]


def test_an_argument_is_named_by_the_first_of_the_values_that_fill_it() -> None:
    text = b"""BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out:
 value: <1 updated @0> (size=64,offset=0): f32[16]{0}
 value: <2 cache @0> (size=64,offset=0): f32[16]{0}
"""
    ranges = (LiveRange("cache", (), 1, 2), LiveRange("updated", (), 2, 4))
    live = LiveRanges(schedule=("other", "cache", "updated"), ranges=ranges)
    occupancy = measure_occupancy(read_buffer_assignment(text, "b.txt")[0], live)
    assert occupancy is not None
    (slot,) = occupancy.living(3)
    assert slot.value.instruction == "cache"
    assert slot.occupant is not None
    assert slot.occupant.instruction == "updated"


def test_a_value_of_another_memory_or_position_is_no_temporary_in_use(
    occupancy: Occupancy,
) -> None:
    assert occupancy.is_temporary_at(("y", ()), 2)
    assert not occupancy.is_temporary_at(("y", ()), 3)
    assert occupancy.is_temporary_at(("z", ()), 3)  # "same" took it over in place
    assert not occupancy.is_temporary_at(("v", ()), 4)  # another memory space
    assert not occupancy.is_temporary_at(("x", ()), 1)  # an argument
