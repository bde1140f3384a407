"""Cycles of TPU programs and the roofline time, in the table of the heaviest instructions."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.pages import navigation
from xlareport.pages.tables import Cell, Column, Table

_BEHIND = 3
"""Columns in front of the cycles: instruction, share, roofline time."""


def with_cycles(table: Table, slug: str, programs: Sequence[TpuProgram]) -> Table:
    """Return the table with the cycles of each instruction and a link to its program.

    The cycles are independent of the roofline time: they exclude memory, and it excludes latencies.
    """
    known = {name: program for program in programs for name in program.instructions}
    page = navigation.address(navigation.module_page(slug, "tpu"))
    columns = (
        Column("TPU cycles", "int", "dynamic, all executions, without stalls"),
        Column("TPU program", "link", "units over its schedule"),
    )
    rows = [
        [*row[:_BEHIND], *_cells(known.get(str(row[0])), page), *row[_BEHIND:]]
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
