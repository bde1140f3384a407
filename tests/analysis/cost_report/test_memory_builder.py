"""What the page on memory tells, on small real dumps and on a schedule alone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import count_final_cost, parse_module

from xlareport.analysis.cost.lifetimes import End
from xlareport.analysis.cost.occupancy import HELD
from xlareport.analysis.cost.residency import ARGUMENTS
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.memory_builder import report_memory
from xlareport.analysis.cost_report.memory_curves import thin_curve
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact
from xlareport.dump.source import open_source
from xlareport.program import MemoryFiles, read_module
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

Unpack = Callable[[str], Path]
SCHEDULED = b"""HloModule m, is_scheduled=true

ENTRY e {
  x = f32[4]{0} parameter(0)
  y = f32[16]{0:S(1)} broadcast(x), dimensions={0}
  z = f32[16]{0} negate(y)
  ROOT r = f32[4]{0} slice(z), slice={[0:4]}
}
"""


def memory_in(dump: Path, name: str) -> MemoryReport:
    with open_source(dump) as source:
        names = classify([entry.path for entry in source.entries])
        groups = group([Artifact(*pair) for pair in zip(source.entries, names, strict=True)])
        (files,) = (one for one in groups.modules if one.name == name)
        module = read_module(files)
    cost = count_final_cost(module)
    assert module.final is not None
    return report_memory(module.memory, module.final.hlo, cost)


def test_what_lives_at_the_peak_adds_up_to_it_in_every_view(unpacked: Unpack) -> None:
    memory = memory_in(unpacked("jax-cpu-train"), "jit_train_step")
    peak = memory.occupied_peak_bytes
    assert sum(one.size for one in memory.at_peak) == peak
    assert sum(peak_line.size for peak_line in memory.peak_lines) == peak
    assert sum(peak_scope.size for peak_scope in memory.peak_scopes) == peak
    assert memory.breakdown[0].total == memory.figures.live_peak_bytes
    assert max(memory.curve) == peak
    assert any("jax_train.py:" in peak_line.name for peak_line in memory.peak_lines)
    assert any(peak_scope.name == ARGUMENTS for peak_scope in memory.peak_scopes)
    for one in memory.at_peak:
        assert one.lifetime is not None
        assert memory.peak_position is not None
        assert one.at_peak == (one.lifetime.start <= memory.peak_position <= one.lifetime.end)
        assert one.at_peak or one.kind in HELD
    assert {one.at_peak for one in memory.at_peak} == {True, False}


def test_what_no_named_scope_holds_is_told_by_its_operation() -> None:
    text = SCHEDULED.replace(
        b"dimensions={0}", b'dimensions={0}, metadata={op_name="jit(f)/spread"}'
    )
    module = parse_module(text)
    assignment, _ = read_buffer_assignment(
        b"BufferAssignment:\nallocation 0: size 64, preallocated-temp:\n"
        b" value: <1 y @0> (size=64,offset=0): f32[16]{0}\n",
        "b.txt",
    )
    live = LiveRanges(schedule=("x", "y", "z", "r"), ranges=(LiveRange("y", (), 1, 2),))
    memory = report_memory(MemoryFiles(assignment, live, ()), module, count_cost(module))
    assert [(peak_scope.name, peak_scope.size) for peak_scope in memory.peak_scopes] == [
        ("jit(f)/spread", 64)
    ]


def test_why_values_live_is_known_of_all_that_live_at_the_peak(unpacked: Unpack) -> None:
    memory = memory_in(unpacked("gpu-h100x2-train"), "jit_train_step")
    lives = {one.instruction: one.lifetime for one in memory.at_peak}
    assert all(lives.values())
    assert {life.ends for life in lives.values() if life} >= {End.ARGUMENT, End.USE}
    used = [life for life in lives.values() if life and life.ends is End.USE]
    assert all(one.last_use and one.uses for one in used)


def test_the_memory_usage_report_says_the_same(unpacked: Unpack) -> None:
    memory = memory_in(unpacked("tpu-v5e-scan"), "jit_train_step")
    assert len(memory.figures.spaces) > 1
    assert {color: size for color, (_, size) in memory.reported.items()} == {
        space.color: space.total_bytes for space in memory.figures.spaces
    }
    assert memory.reported[1][0] == "vmem"
    assert {layout_space.number for layout_space in memory.layout_spaces} <= {
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
    }


def test_what_would_have_to_shrink_lives_at_some_peak_and_is_no_argument(unpacked: Unpack) -> None:
    memory = memory_in(unpacked("jax-cpu-train"), "jit_train_step")
    assert memory.saving is not None
    assert len(memory.saving_values) == len(memory.saving.buffers)
    for saving_value in memory.saving_values:
        assert saving_value.lifetime is None or saving_value.lifetime.ends is not End.ARGUMENT


def test_a_stacked_buffer_has_the_op_of_what_the_loop_writes(unpacked: Unpack) -> None:
    memory = memory_in(unpacked("tagged-gpu-scan"), "jit_train")
    stored = {
        (stack.loop, (stack.index,)): stack.stored for stack in memory.stacked if stack.stored
    }
    scopes = {
        row.scope: stored[row.instruction, row.index]
        for row in (*memory.at_peak, *memory.values)
        if (row.instruction, row.index) in stored
    }
    assert scopes
    assert all(scope == op_name for scope, op_name in scopes.items())
    assert not any(scope.endswith("/dynamic_update_slice") for scope in scopes)


def test_a_schedule_alone_gives_an_estimate_and_no_figure() -> None:
    module = parse_module(SCHEDULED)
    memory = report_memory(MemoryFiles(None, None, ()), module, count_cost(module))
    assert memory.estimate is not None
    assert (memory.estimate.bytes, memory.estimate.grade) == (96, "guessed")
    assert memory.figures.live_peak_bytes is None
    assert memory.curve == memory.estimate.curve
    (vmem,) = memory.layout_spaces
    assert (vmem.number, vmem.values, vmem.size) == (1, 1, 64)
    (could,) = memory.donations
    assert (could.parameter, could.donated, could.output) == (0, False, ())


def test_without_any_word_on_memory_nothing_is_known() -> None:
    module = parse_module(SCHEDULED.replace(b", is_scheduled=true", b""))
    memory = report_memory(MemoryFiles(None, None, ()), module, count_cost(module))
    assert (memory.figures.spaces, memory.figures.live_peak_bytes, memory.estimate) == (
        (),
        None,
        None,
    )


def test_a_thinned_curve_keeps_its_peak() -> None:
    curve = tuple(range(1000))
    assert max(thin_curve(curve)) == 999
    assert len(thin_curve(curve)) <= 400
    assert thin_curve((1, 5, 2)) == (1, 5, 2)


def test_what_lives_at_an_estimated_peak_says_until_when() -> None:
    module = parse_module(SCHEDULED)
    memory = report_memory(MemoryFiles(None, None, ()), module, count_cost(module))
    lives = {one.instruction: one.lifetime for one in memory.at_peak}
    assert [(one.instruction, one.size) for one in memory.at_peak] == [
        ("z", 64),
        ("r", 16),
        ("x", 16),
    ]
    assert {name: life.ends for name, life in lives.items() if life} == {
        "r": End.RESULT,
        "x": End.ARGUMENT,
        "z": End.USE,
    }


def test_layers_that_xla_computes_again(unpacked: Unpack) -> None:
    for name, least in (("tpu-v5e-remat", 2), ("tpu-v5e-oom", 20)):
        again = memory_in(unpacked(name), "jit_loss_of").rematerialized
        assert len(again) >= least
        assert {one.by for one in again} == {"XLA"}
        assert any(one.original for one in again)


def test_the_marker_stands_at_the_maximum_of_the_curve(unpacked: Unpack) -> None:
    for name in ("tpu-v5e-oom", "tpu-v5e-remat"):
        memory = memory_in(unpacked(name), "jit_loss_of")
        assert memory.saving is not None
        assert max(memory.curve) == memory.occupied_peak_bytes == memory.saving.peak
        assert memory.occupied_peak_bytes <= (memory.figures.allocated_bytes or 0)
        assert memory.peak_position != memory.marked_position
        assert sum(one.size for one in memory.at_peak) >= memory.occupied_peak_bytes


@pytest.mark.parametrize("name", ["tpu-v5e-scan", "gpu-h100x2-train", "jax-cpu-train"])
def test_an_input_that_could_be_donated_has_the_size_of_its_buffer(
    unpacked: Unpack, name: str
) -> None:
    memory = memory_in(unpacked(name), "jit_train_step")
    sizes = {value.argument or value.instruction: value.size for value in memory.at_peak}
    rows = {row.name: row.size for row in memory.donations if row.name in sizes}
    assert rows
    assert rows == {name: sizes[name] for name in rows}


def test_a_tiled_input_that_could_be_donated_is_as_large_as_its_tiles() -> None:
    text = b"""HloModule m

ENTRY e {
  x = f32[3,8,48]{2,1,0:T(8,128)} parameter(0)
  ROOT r = f32[3,8,48]{2,1,0:T(8,128)} negate(x)
}
"""
    module = parse_module(text)
    (row,) = report_memory(MemoryFiles(None, None, ()), module, count_cost(module)).donations
    assert row.size == 3 * 8 * 128 * 4
