"""Values that one decision of the compiler put at the peak together."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.occupancy import Occupancy, measure_occupancy
from xlareport.analysis.cost_report.peak_groups import PeakGroup, element_at, find_peak_groups
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import parse_shape
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

SCHEDULE = ("zeros", "a", "b", "now", "first", "second")
Value = tuple[str, int, int]
"""A value with the first and the last position at which it lives."""


def module_of(body: str) -> HloModule:
    return parse_module(f"HloModule m\n\n{body}\n")


def occupancy(*values: Value) -> Occupancy:
    places = "".join(
        f" value: <{number} {name} @0> (size=100,offset={100 * number}): f32[25]{{0}}\n"
        for number, (name, _, _) in enumerate(values)
    )
    text = f"BufferAssignment:\nallocation 0: size {100 * len(values)}, preallocated-temp:\n"
    assignment, _ = read_buffer_assignment((text + places).encode(), "b.txt")
    ranges = tuple(LiveRange(*_key(name), first, last) for name, first, last in values)
    result = measure_occupancy(assignment, LiveRanges(SCHEDULE, ranges, None, ()))
    assert result is not None
    return result


def _key(name: str) -> tuple[str, tuple[int, ...]]:
    instruction, _, index = name.removesuffix("}").partition("{")
    return instruction, tuple(map(int, index.split(","))) if index else ()


COPIES = """fill {
  c = f32[] constant(0)
  ROOT b = f32[25] broadcast(c), dimensions={}
}

ENTRY e {
  x = f32[25] parameter(0)
  zeros = f32[25] fusion(), kind=kLoop, calls=fill
  a = f32[25] copy(zeros)
  b = f32[25] copy(zeros)
  now = f32[25] negate(x)
  first = f32[25] add(a, now)
  ROOT second = f32[25] add(b, first)
}"""


SCATTERED = """add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

ENTRY e {
  x = f32[25] parameter(0)
  i = s32[1,1] parameter(1)
  u = f32[1] parameter(2)
  z = f32[] constant(0)
  zeros = f32[25] broadcast(z), dimensions={}
  a = f32[25] negate(x)
  b = f32[25] negate(a)
  now = f32[25] negate(b)
  first = f32[25] scatter(zeros, i, u), update_window_dims={}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT second = f32[25] add(first, now)
}"""


@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("negate(b)", "negate(zeros)"), ("constant(0)", "constant(1)")]
)
def test_zeros_that_a_scatter_adds_to_after_the_peak(before: str, after: str) -> None:
    use = occupancy(("zeros", 0, 4), ("b", 2, 3), ("now", 3, 5))
    assert use.position == 3
    groups = find_peak_groups(module_of(SCATTERED.replace(before, after)), use, SCHEDULE)
    expected = () if before else (PeakGroup("scatter", "zeros", 1, 100, adding="first"),)
    assert groups == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("copy(zeros)", "copy(x)"),
        ("negate(x)", "negate(a)"),
        ("f32[25] copy(zeros)", "f32[25] negate(zeros)"),
    ],
)
def test_copies_of_a_broadcast_that_nothing_read_yet(before: str, after: str) -> None:
    use = occupancy(("a", 1, 4), ("b", 2, 5), ("now", 3, 4))
    assert use.position == 3
    groups = find_peak_groups(module_of(COPIES.replace(before, after)), use, SCHEDULE)
    expected = () if before else (PeakGroup("broadcast", "zeros", 2, 200),)
    assert groups == expected


GATHERED = """ENTRY e {
  x = f32[5] parameter(0)
  y = f32[5] parameter(1)
  g = ((f32[5], f32[5]), (f32[25], f32[25])) all-gather-start(x, y), dimensions={0}
  d = (f32[25], f32[25]) all-gather-done(g)
  ROOT r = f32[25] get-tuple-element(d), index=0
}"""


def test_results_of_a_combined_collective() -> None:
    use = occupancy(("g{1,0}", 0, 4), ("g{1,1}", 0, 5), ("g{1}", 0, 4))
    (group,) = find_peak_groups(module_of(GATHERED), use, SCHEDULE)
    assert group == PeakGroup("all-gather", "g", 2, 200, 2)
    single = GATHERED.replace("(x, y)", "(x)")
    assert not find_peak_groups(module_of(single), use, SCHEDULE)


def test_elements_of_tuples() -> None:
    shape = parse_shape("((f32[5]), (f32[25], s32[]))")
    assert element_at(shape, (1, 1)).text == "s32[]"
    assert element_at(shape, (0, 7)).text == "(f32[5])"
