from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.residency import buffer_sizes, peak_buffers, shares, trace_residency
from xlareport.analysis.source.locations import SourcePlace
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRanges, read_live_range

ReadModule: TypeAlias = Callable[[str], HloModule]


LIVE = b"""HloLiveRange (max 4):
  InstructionSequence:
    0:x
    1:y
    2:z
    3:w
  BufferLiveRange:
    x{}:0-4
    y{}:1-2
    z{}:2-3
    w{}:3-4
  Live ranges at 2 (peak):
    y{}: 64 bytes (cumulative: 64 bytes)
    z{}: 16 bytes (cumulative: 80 bytes)
    x{}: 8 bytes (cumulative: 88 bytes)
"""


SIZES = {("x", ()): 8, ("y", ()): 64, ("z", ()): 16, ("w", ()): 4}


MODULE = """ENTRY e {
  x = f32[2] parameter(0)
  y = f32[16] broadcast(x), metadata={op_name="jit(f)/a" source_file="f.py" source_line=3}
  z = f32[4] slice(y), slice={[0:4]}, metadata={op_name="jit(f)/b" source_file="f.py" source_line=3}
  ROOT w = f32[1] slice(z), slice={[0:1]}
}"""


@pytest.fixture(scope="module")
def live() -> LiveRanges:
    found, _ = read_live_range(LIVE, "l.txt")
    assert found is not None
    return found


def test_the_curve_over_the_schedule(live: LiveRanges) -> None:
    assert trace_residency(live, SIZES) == (8, 72, 88, 28, 12)
    assert trace_residency(LiveRanges(), {}) == (0,)


def test_who_lives_at_the_peak(live: LiveRanges, module_of: ReadModule) -> None:
    first, second, third = peak_buffers(live, module_of(MODULE))
    assert (first.instruction, first.opcode, first.size) == ("y", "broadcast", 64)
    assert (first.op_name, first.place) == ("jit(f)/a", SourcePlace("f.py", 3))
    assert (second.instruction, third.instruction, third.place) == ("z", "x", None)


def test_the_peak_by_line(live: LiveRanges, module_of: ReadModule) -> None:
    peak = peak_buffers(live, module_of(MODULE))
    by_line = shares(peak, lambda one: one.place.text if one.place else "")
    assert [(one.name, one.size, one.count) for one in by_line] == [("f.py:3", 80, 2), ("", 8, 1)]


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_the_curve_meets_the_peak_of_the_file(unpacked: Callable[[str], Path], dump: str) -> None:
    for path in sorted(unpacked(dump).rglob("*-live-range.txt")):
        live, _ = read_live_range(path.read_bytes(), path.name)
        beside = path.with_name(path.name.replace("live-range", "buffer-assignment"))
        assignment, _ = read_buffer_assignment(beside.read_bytes(), beside.name)
        assert live is not None
        assert live.peak_position is not None
        assert (
            trace_residency(live, buffer_sizes(assignment))[live.peak_position] == live.peak_bytes
        )
        text = path.with_name(path.name.replace("-live-range", ""))
        module = TextReader().read(text.read_bytes(), text.name)
        assert module is not None
        assert all(one.opcode for one in peak_buffers(live, module))
