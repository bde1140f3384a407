"""Columns that other sources add to the table of the heaviest instructions."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from xlareport.analysis.kernels.estimates import LAUNCH_MICROSECONDS, MAIN_MODEL, XlaEstimate
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.pages import navigation
from xlareport.pages.tables import Cell, Column, Table

_BEHIND = 3
"""Columns in front of them: instruction, share, roofline time."""


def with_estimates(table: Table, kernels: ModuleKernels, runs: Mapping[str, int | None]) -> Table:
    """Return the table with a column for each of XLA's cost models, and one for launches.

    `runs` are the executions of instructions by name. The estimates are XLA's, for the device that
    it compiled for; no column is part of the roofline time.
    """
    models = sorted(
        {estimate.model for estimates in kernels.estimates.values() for estimate in estimates}
    )
    launching = {name for kernel in kernels.kernels for _, name in kernel.instructions}
    beside = [model for model in models if model == MAIN_MODEL]
    behind = [model for model in models if model != MAIN_MODEL]
    launch = Column(
        "Launch µs", "float", "kernel launches of all runs at the 1 µs that XLA assumes"
    )
    rows: list[list[Cell]] = []
    for row in table.rows:
        name = str(row[0])
        count = runs.get(name)
        estimates = {estimate.model: estimate for estimate in kernels.estimates.get(name, ())}
        times = {model: _time(estimates.get(model), count) for model in models}
        launches = count * LAUNCH_MICROSECONDS if count and name in launching else None
        near: list[Cell] = [*(times[model] for model in beside), launches]
        rows.append([*row[:_BEHIND], *near, *row[_BEHIND:], *(times[model] for model in behind)])
    start, end = table.columns[:_BEHIND], table.columns[_BEHIND:]
    head = (*start, *map(_column, beside), launch, *end, *map(_column, behind))
    return replace(table, columns=head, rows=rows)


def _column(model: str) -> Column:
    return Column(f"XLA {model} µs", "float", "XLA's own estimate, all runs, without launches")


def _time(estimate: XlaEstimate | None, runs: int | None) -> float | None:
    return estimate.microseconds * runs if estimate is not None and runs else None


def with_cycles(table: Table, slug: str, programs: Sequence[TpuProgram]) -> Table:
    """Return the table with the cycles of each instruction and a link to its program.

    The cycles are independent of the roofline time: they exclude memory, and it excludes latencies.
    """
    program_of = {name: program for program in programs for name in program.instructions}
    page = navigation.address(navigation.module_page(slug, "tpu"))
    columns = (
        Column("TPU cycles", "int", "dynamic, all executions, without stalls"),
        Column("TPU program", "link", "units over its schedule"),
    )
    rows = [
        [*row[:_BEHIND], *_cells(program_of.get(str(row[0])), page), *row[_BEHIND:]]
        for row in table.rows
    ]
    head = (*table.columns[:_BEHIND], *columns, *table.columns[_BEHIND:])
    return replace(table, columns=head, rows=rows)


def _cells(program: TpuProgram | None, page: str) -> list[Cell]:
    if program is None:
        return [None, None]
    cycles = (
        None if program.dynamic_cycles is None else program.dynamic_cycles * (program.runs or 1)
    )
    return [cycles, [program.program, f"{page}#program={quote(program.program)}"]]
