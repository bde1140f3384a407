from collections.abc import Callable, Mapping
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.occupancy import BufferKey, Slot, measure_occupancy
from xlareport.analysis.cost.residency import (
    ArgumentGroup,
    PeakBuffer,
    find_peak_buffers,
    group_arguments,
    sum_by_line,
)
from xlareport.analysis.source.instruction_origins import InstructionOrigin, find_origins
from xlareport.analysis.source.locations import SourcePlace
from xlareport.hlo.model import HloModule
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

ReadModule: TypeAlias = Callable[[str], HloModule]
ASSIGNED = b"""BufferAssignment:
allocation 0: size 8, parameter 0, shape |f32[2]| at ShapeIndex {}:
 value: <1 x @0> (size=8,offset=0): f32[2]{0}
allocation 1: size 80, preallocated-temp:
 value: <2 y @0> (size=64,offset=0): f32[16]{0}
 value: <3 z @0> (size=16,offset=64): f32[4]{0}
"""
MODULE = """ENTRY e {
  x = f32[2] parameter(0)
  y = f32[16] broadcast(x), metadata={op_name="jit(f)/a" source_file="f.py" source_line=3}
  z = f32[4] slice(y), slice={[0:4]}, metadata={op_name="jit(f)/b" source_file="f.py" source_line=3}
  ROOT w = f32[1] slice(z), slice={[0:1]}
}"""


@pytest.fixture(scope="module")
def living() -> tuple[Slot, ...]:
    ranges = (LiveRange("x", (), 0, 4), LiveRange("y", (), 1, 2), LiveRange("z", (), 2, 3))
    live = LiveRanges(schedule=("x", "y", "z", "w"), ranges=ranges)
    occupancy = measure_occupancy(read_buffer_assignment(ASSIGNED, "b.txt")[0], live)
    assert occupancy is not None
    return occupancy.living(occupancy.position)


def origin_in(module: HloModule) -> Callable[[BufferKey], InstructionOrigin]:
    origins = find_origins(module)
    return lambda key: origins.find(key[0])


def test_who_lives_at_the_peak(living: tuple[Slot, ...], module_of: ReadModule) -> None:
    first, second, third = find_peak_buffers(living, origin_in(module_of(MODULE)))
    assert (first.instruction, first.opcode, first.size) == ("y", "broadcast", 64)
    assert (first.op_name, first.place) == ("jit(f)/a", SourcePlace("f.py", 3))
    assert (second.instruction, third.instruction, third.place) == ("z", "x", None)


def test_the_peak_by_line(living: tuple[Slot, ...], module_of: ReadModule) -> None:
    peak = find_peak_buffers(living, origin_in(module_of(MODULE)))
    by_line = sum_by_line(peak, ())
    assert [(share.name, share.size, share.count) for share in by_line] == [
        ("f.py:3", 80, 2),
        ("", 8, 1),
    ]


def groups(sizes: Mapping[str, int]) -> list[ArgumentGroup]:
    names = {f"param.{number}": name for number, name in enumerate(sizes)}
    buffers = [
        PeakBuffer(parameter, (), sizes[name], "parameter", "", "", None)
        for parameter, name in names.items()
    ]
    temporary = PeakBuffer("dot.1", (), 1 << 30, "dot", "", "", None)
    return list(group_arguments([*buffers, temporary], names))


def test_arguments_are_grouped_by_the_first_part_of_their_names() -> None:
    sizes = {"params['emb']": 32, "params['w'][0]": 8, "cache[0]['k']": 16, "tok": 1}
    assert groups(sizes) == [
        ArgumentGroup("params", 2, 40, "params['emb']", 32),
        ArgumentGroup("cache", 1, 16, "cache[0]['k']", 16),
        ArgumentGroup("tok", 1, 1, "tok", 1),
    ]


def test_a_single_argument_is_divided_by_the_next_part() -> None:
    named = [group.name for group in groups({"state.params['w']": 8, "state.opt[0]": 16})]
    assert named == ["state.opt", "state.params"]


def test_names_that_do_not_differ_make_no_groups() -> None:
    assert groups({"x": 8}) == []
    assert groups({}) == []
