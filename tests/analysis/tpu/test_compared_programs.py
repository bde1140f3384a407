"""Our own dump beside itself with a program that became worse."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

import xlareport.api
from xlareport.analysis.tpu.compared_programs import align_programs, tpu_figures
from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.pages.compare.module_page import tpu_programs_table


@pytest.fixture(scope="module")
def programs(unpacked: Callable[[str], Path]) -> tuple[TpuProgram, ...]:
    with xlareport.api.read(unpacked("tpu-v5e-machine")) as report:
        return next(module.tpu_programs for module in report.modules if "train" in module.name)


def test_figures_count_runs(programs: tuple[TpuProgram, ...]) -> None:
    own = [program for program in programs if program.instruction]
    figures = dict(tpu_figures(programs))
    assert {program.runs for program in own} == {5}
    assert figures["tpu_cycles"] == 5 * sum(program.dynamic_cycles or 0 for program in own)
    assert figures["spills"] == 0
    assert dict(tpu_figures(())) == {}


def test_one_unknown_program_leaves_the_sum_unknown(programs: tuple[TpuProgram, ...]) -> None:
    unknown = tuple(replace(program, dynamic_cycles=None) for program in programs)
    assert set(dict(tpu_figures(unknown))) == {"tpu_static_cycles", "spills"}


def test_programs_are_aligned_by_instruction(programs: tuple[TpuProgram, ...]) -> None:
    assert align_programs(programs, programs) == ()
    worse = tuple(replace(program, spill_stores=9) for program in programs)
    changes = align_programs(programs, worse)
    assert {change.instruction for change in changes} == {
        program.instruction for program in programs if program.instruction
    }
    assert [change.head.spill_stores for change in changes if change.head] == [9, 9]
    assert [change.head for change in align_programs(programs, ())] == [None, None]


def test_occupancy_is_beside_the_counts(programs: tuple[TpuProgram, ...]) -> None:
    worse = tuple(replace(program, spill_stores=9) for program in programs)
    changes = align_programs(programs, worse)
    table = tpu_programs_table(changes)
    titles = [column.title for column in table.columns]
    assert {len(row) for row in table.rows} == {len(titles)}
    for change, row in zip(changes, table.rows, strict=True):
        assert change.head
        assert change.head.units
        assert row[titles.index("Head MXU")] == change.head.units["MXU"]
        assert row[titles.index("Base bottleneck")] == change.head.bottleneck
        assert row[titles.index("Base share")] == max(
            share or 0 for share in change.head.units.values()
        )
