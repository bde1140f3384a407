"""XLA's own estimates and the roofline time, in the table of the heaviest instructions."""

from collections.abc import Mapping
from dataclasses import replace

from xlareport.analysis.kernels.estimates import LAUNCH_MICROSECONDS, MAIN_MODEL, XlaEstimate
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.pages.tables import Cell, Column, Table

_BEHIND = 3
"""Columns in front of the estimates: instruction, share, roofline time."""


def with_estimates(table: Table, kernels: ModuleKernels, runs: Mapping[str, int | None]) -> Table:
    """Return the table with a column for each of XLA's cost models, and one for launches.

    `runs` are the executions of instructions by name. The estimates are XLA's, for the device that
    it compiled for; no column is part of the roofline time.
    """
    models = sorted({estimate.model for own in kernels.estimates.values() for estimate in own})
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
        own = {estimate.model: estimate for estimate in kernels.estimates.get(name, ())}
        times = {model: _time(own.get(model), count) for model in models}
        launches = count * LAUNCH_MICROSECONDS if count and name in launching else None
        near: list[Cell] = [*(times[model] for model in beside), launches]
        rows.append([*row[:_BEHIND], *near, *row[_BEHIND:], *(times[model] for model in behind)])
    start, rest = table.columns[:_BEHIND], table.columns[_BEHIND:]
    head = (*start, *map(_column, beside), launch, *rest, *map(_column, behind))
    return replace(table, columns=head, rows=rows)


def _column(model: str) -> Column:
    return Column(f"XLA {model} µs", "float", "XLA's own estimate, all runs, without launches")


def _time(estimate: XlaEstimate | None, runs: int | None) -> float | None:
    return estimate.microseconds * runs if estimate is not None and runs else None
