"""Each buffer with padding is told once, whatever names its value has, and small ones together."""

import pytest
from msgspec.structs import replace
from tests.analysis.findings.conftest import MakeCase

from xlareport.analysis.cost.memory import HeldMemory, MemoryFigures
from xlareport.analysis.findings.tile_padding import tile_padding
from xlareport.program import MemoryFiles
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

SLICED = """HloModule m, is_scheduled=true

sliced {
  p = f32[65536,1]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[32768,1]{1,0:T(8,128)S(1)} slice(p), slice={[0:32768], [0:1]}
}

ENTRY e {
  x = f32[65536,1]{1,0:T(8,128)} parameter(0)
  a = ((f32[65536,1]), f32[32768,1]{1,0:T(8,128)S(1)}, u32[]) async-start(x), calls=sliced
  b = f32[32768,1]{1,0:T(8,128)S(1)} async-done(a)
  c = (f32[65536,1]{1,0:T(8,128)S(1)}, f32[65536,1]{1,0:T(8,128)}, u32[]) copy-start(x)
  d = f32[65536,1]{1,0:T(8,128)S(1)} copy-done(c)
  ROOT n = f32[8]{0:T(128)} custom-call(b, d), custom_call_target="foo"
}
"""


def test_operands_of_starts_and_arguments_of_calls_are_not_told_again(case_of: MakeCase) -> None:
    found = list(tile_padding(case_of(SLICED)))
    assert [one.places for one in found] == [(("sliced", "s"),), (("e", "d"),), (("e", "x"),)]
    assert [one.bytes for one in found] == [None, None, 127 * 65536 * 4]


SERIAL = """HloModule m, is_scheduled=true

ENTRY e {
  x = f32[8]{0:T(128)} parameter(0)
  a = f32[65536,1]{1,0:T(8,128)} custom-call(x), custom_call_target="foo"
  b = f32[65536,1]{1,0:T(8,128)} negate(a)
  c = f32[65536,1]{1,0:T(8,128)} custom-call(b), custom_call_target="foo"
  ROOT n = f32[8]{0:T(128)} custom-call(c), custom_call_target="foo"
}
"""
ASSIGNED = b"""BufferAssignment:
allocation 0: size 67108864, preallocated-temp:
 value: <1 a @0> (size=33554432,offset=0): f32[65536,1]{1,0:T(8,128)}
 value: <2 b @0> (size=33554432,offset=0): f32[65536,1]{1,0:T(8,128)}
 value: <3 c @0> (size=33554432,offset=33554432): f32[65536,1]{1,0:T(8,128)}
"""


def test_padding_counts_once_for_each_place_in_use_at_the_peak(case_of: MakeCase) -> None:
    assignment, _ = read_buffer_assignment(ASSIGNED, "b.txt")
    padding = 127 * 65536 * 4
    schedule = ("x", "a", "b", "c", "n")
    for c_start, expected in ((2, [2 * padding]), (3, [None, padding])):
        ranges = (("a", 1, 2), ("b", 2, c_start), ("c", c_start + 1, 4))
        if c_start == 2:
            ranges = (("a", 1, 2), ("b", 2, 3), ("c", 2, 4))
        live = LiveRanges(schedule, tuple(LiveRange(name, (), *span) for name, *span in ranges))
        files = MemoryFiles(assignment, live, ())
        found = list(tile_padding(replace(case_of(SERIAL), memory_files=files)))
        assert [finding.bytes for finding in found] == expected
        assert [("not in use at the peak" in finding.evidence) for finding in found] == [
            size is None for size in expected
        ]


PAIR = """HloModule m, is_scheduled=true

ENTRY e {
  x = f32[8]{0:T(128)} parameter(0)
  p = (f32[65536,1]{1,0:T(8,128)}, f32[65536,1]{1,0:T(8,128)}) custom-call(x), \
custom_call_target="foo"
  ROOT n = f32[8]{0:T(128)} custom-call(p), custom_call_target="foo"
}
"""
PLACED = b"""BufferAssignment:
allocation 0: size 67108864, preallocated-temp:
 value: <1 p{0} @0> (size=33554432,offset=0): f32[65536,1]{1,0:T(8,128)}
 value: <2 p{1} @0> (size=33554432,offset=33554432): f32[65536,1]{1,0:T(8,128)}
"""


def test_of_a_tuple_only_elements_in_use_at_the_peak_count(case_of: MakeCase) -> None:
    assignment, _ = read_buffer_assignment(PLACED, "b.txt")
    padding = 127 * 65536 * 4
    for first_end, expected in ((2, 2 * padding), (1, padding)):
        ranges = (
            LiveRange("p", (0,), 1, first_end),
            LiveRange("p", (1,), 2 if first_end == 1 else 1, 3),
        )
        files = MemoryFiles(assignment, LiveRanges(("x", "p", "n", "n"), ranges), ())
        *_, finding = tile_padding(replace(case_of(PAIR), memory_files=files))
        assert finding.bytes == expected


DONATED = """HloModule m, is_scheduled=true

ENTRY e {
  x = f32[65536,1]{1,0:T(8,128)} parameter(0)
  n = f32[65536,1]{1,0:T(8,128)S(1)} custom-call(x), custom_call_target="foo"
  s = (f32[65536,1]{1,0:T(8,128)}, f32[65536,1]{1,0:T(8,128)S(1)}, u32[]) copy-start(n)
  ROOT d = f32[65536,1]{1,0:T(8,128)} copy-done(s)
}
"""
WRITTEN_OVER = b"""BufferAssignment:
allocation 0: size 33554432, parameter 0, shape |f32[65536,1]| at ShapeIndex {}, maybe-live-out:
 value: <1 x @0> (size=33554432,offset=0): f32[65536,1]{1,0:T(8,128)}
 value: <2 s{0} @0> (size=33554432,offset=0): f32[65536,1]{1,0:T(8,128)}
"""


def test_a_result_in_the_memory_of_a_donated_argument_does_not_count_again(
    case_of: MakeCase,
) -> None:
    assignment, _ = read_buffer_assignment(WRITTEN_OVER, "b.txt")
    ranges = (LiveRange("x", (), 0, 1), LiveRange("s", (0,), 2, 4))
    files = MemoryFiles(assignment, LiveRanges(("x", "n", "s", "d"), ranges), ())
    *_, finding = tile_padding(replace(case_of(DONATED), memory_files=files))
    assert (finding.occurrences, finding.bytes) == (1, 127 * 65536 * 4)


def rows(count: int, columns: int) -> MemoryFiles:
    """Return a buffer assignment of rows that live at once, each in tiles, and their schedule."""
    size = 8 * 4 * columns
    lines = [
        f" value: <{n} r{n} @0> (size={size},offset={size * n}): f32[1,{columns}]{{1,0:T(8,128)}}"
        for n in range(count)
    ]
    written = f"BufferAssignment:\nallocation 0: size {size * count}, preallocated-temp:\n"
    assignment, _ = read_buffer_assignment((written + "\n".join(lines) + "\n").encode(), "b.txt")
    names = ("x", *(f"r{n}" for n in range(count)), "n")
    ranges = tuple(LiveRange(f"r{n}", (), 1, len(names)) for n in range(count))
    return MemoryFiles(assignment, LiveRanges(names, ranges), ())


@pytest.mark.parametrize(
    ("count", "columns", "held", "expected"),
    [
        (32, 1536, 0, 32 * 7 * 4 * 1536),
        (32, 1536, 1 << 30, None),  # under 1% of the device memory
        (32, 128, 0, None),  # one tile each, which nothing saves
        (2, 1536, 0, None),  # under 1 MiB together
    ],
)
def test_rows_padded_to_tiles_count_where_their_sum_matters(
    case_of: MakeCase, count: int, columns: int, held: int, expected: int | None
) -> None:
    shape = f"f32[1,{columns}]{{1,0:T(8,128)}}"
    lines = "".join(
        f'  r{n} = {shape} custom-call(x), custom_call_target="foo"\n' for n in range(count)
    )
    names = ", ".join(f"r{n}" for n in range(count))
    text = f"""HloModule m, is_scheduled=true

ENTRY e {{
  x = f32[8]{{0:T(128)}} parameter(0)
{lines}  ROOT n = f32[8]{{0:T(128)}} custom-call({names}), custom_call_target="foo"
}}
"""
    memory = MemoryFigures(None, None, None, (), {}, HeldMemory(held, 0, 0, 0, 0))
    case = replace(case_of(text), memory_files=rows(count, columns), memory=memory)
    findings = list(tile_padding(case))
    assert [finding.bytes for finding in findings] == ([expected] if expected else [])
    for finding in findings:
        assert finding.occurrences == count
        assert "dimension of size 1" in finding.suggestion


def test_the_share_is_of_the_peak_and_not_of_what_is_allocated(case_of: MakeCase) -> None:
    assignment, _ = read_buffer_assignment(ASSIGNED, "b.txt")
    spans = (("a", 1, 2), ("b", 2, 3), ("c", 4, 4))
    ranges = tuple(LiveRange(name, (), *span) for name, *span in spans)
    files = MemoryFiles(assignment, LiveRanges(("x", "a", "b", "c", "n"), ranges), ())
    memory = MemoryFigures(None, None, None, (), {}, HeldMemory(1 << 26, 0, 0, 0, 0))
    case = replace(case_of(SERIAL), memory_files=files, memory=memory)
    *_, finding = tile_padding(case)
    assert case.occupancy is not None
    assert case.held_bytes == 2 * case.occupancy.peak
    assert "31.8 MiB of padding, 99% of the peak memory." in finding.evidence


def test_the_dimensions_that_tiles_round_up_are_named(case_of: MakeCase) -> None:
    """Of two dimensions and of one; XLA chooses the minor one, here the first."""
    text = """HloModule m, is_scheduled=true

ENTRY e {
  x = bf16[64,224,224,3]{0,3,2,1:T(4,128)(2,1)} parameter(0)
  ROOT y = f32[65536,64]{1,0:T(8,128)} custom-call(x), custom_call_target="foo"
}
"""
    by_place = {finding.places[0][1]: finding for finding in tile_padding(case_of(text))}
    both = by_place["x"].suggestion
    assert (
        "In its tiles, dimension 0 (64) takes 128 and dimension 3 (3) takes 4: make these" in both
    )
    halved = next(
        tile_padding(case_of(text.replace("224,3]{0,3,2,1:T(4,128)", "224,4]{0,3,2,1:T(4,128)")))
    )
    assert (
        "In its tiles, dimension 0 (64) takes 128: make it a multiple of the tile"
        in halved.suggestion
    )
