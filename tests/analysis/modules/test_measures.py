"""What modules are compared by: work with what is not counted, memory, arguments, matmuls."""

import pytest
from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.modules.features import Features
from xlareport.analysis.modules.measures import (
    Assumptions,
    LargestFigures,
    Relations,
    longest_measured,
    measure_arguments,
    measure_matrices,
    measure_memory,
    measure_work,
)
from xlareport.analysis.modules.module_origin import Origin
from xlareport.analysis.modules.summary import CustomCallWork, ModuleFigures, ModuleSummary
from xlareport.analysis.profile.instruction_times import ModuleRuns

FIGURES = ModuleFigures(flops=1000, bytes_accessed=100)
PROGRAM = replace(small_summary("jit_f"), final=FIGURES)
CAST = replace(
    small_summary("jit_cast"), final=FIGURES, features=Features(operations=(("convert", 1),))
)
ASSUMED = Assumptions(trip_count=10, hidden=0.5)


def work(summary: ModuleSummary) -> float:
    return measure_work(summary, ASSUMED, Relations.of([summary]))


def test_50_operations_count_as_a_byte() -> None:
    assert work(PROGRAM) == 100 + 1000 / 50


def test_open_loops_and_hidden_calls_count_as_assumed() -> None:
    assert work(replace(PROGRAM, open_work=7.0)) == work(PROGRAM) + 9 * 7
    calls = CustomCallWork(hidden=1, hidden_bytes=30, hidden_flops=200.0)
    assert work(replace(PROGRAM, calls=calls)) == work(PROGRAM) + 30 + 200 / 50 / 2


def test_launches_and_steps_count_where_each_waits_for_the_device() -> None:
    calls = CustomCallWork(steps=2.0)
    busy = replace(PROGRAM, launches=3, calls=calls)
    assert work(busy) == work(PROGRAM)
    on_gpu = replace(busy, origin=Origin("gpu", "jax"))
    assert work(on_gpu) == work(PROGRAM) + 3 * 4e6 + 2 * 1e7


def test_random_bits_are_no_work() -> None:
    assert work(replace(PROGRAM, bit_flops=1000)) == 0
    assert work(replace(PROGRAM, bit_flops=100)) == pytest.approx(0.87 * work(PROGRAM))


def test_of_a_helper_a_part_counts_and_its_arguments_do_not() -> None:
    modules = [PROGRAM, CAST]
    relations = Relations.of(modules)
    assert [relations.weights[module.files.key] for module in modules] == [1.0, 0.25]
    assert work(CAST) == work(PROGRAM) / 4
    memory = [measure_memory(module, relations) for module in modules]
    assert memory == [32, 8]
    assert [measure_arguments(module, relations) for module in modules] == [16, 0]


def test_allocated_memory_takes_the_place_of_arguments_and_results() -> None:
    module = replace(PROGRAM, final=replace(FIGURES, allocated_bytes=500))
    assert measure_memory(module, Relations.of([module])) == 500


def test_the_largest_figures_name_the_busiest_module() -> None:
    busy = replace(
        small_summary("busy"), final=ModuleFigures(flops=10**6), matrix_flops=400, open_work=1.0
    )
    modules = [PROGRAM, busy]
    relations = Relations.of(modules)
    most = LargestFigures.of(modules, ASSUMED, relations)
    assert (most.busiest, most.work) == ("busy", 10**6 / 50 + 9)
    assert most.matrices == measure_matrices(busy, ASSUMED, relations) == 400
    assert (most.arguments, most.memory, most.has_open, most.hidden) == (16, 32, True, 0)


def test_the_longest_time_is_not_known_where_a_trace_is_cut() -> None:
    runs = [replace(PROGRAM, runs=ModuleRuns(1, time)) for time in (3.0, 5.0, None)]
    assert longest_measured(runs[:2]) == 5.0
    assert longest_measured(runs) == 0.0
    assert longest_measured([PROGRAM]) == 0.0
