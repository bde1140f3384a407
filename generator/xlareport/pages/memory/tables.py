"""The tables of the page on memory: values with what ends their life, donation, repeats."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.cost_report.memory_report import MemoryReport, ValueRow
from xlareport.knowledge.memory_spaces import space_words
from xlareport.pages import navigation
from xlareport.pages.cost.tables import shortened
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.report import ModuleRecord
from xlareport.records.sentences import value_name, why


def memory_tables(module: ModuleRecord, memory: MemoryReport) -> Mapping[str, Table]:
    """Return the tables of the page as payloads by their key, without those that are empty."""
    tables = {
        "peak": _values(memory.at_peak, module.backend),
        "saving": _values(memory.saving_values, module.backend),
        "values": _values(memory.values, module.backend),
        "donation": _donations(memory),
        "remat": _remats(memory),
    }
    return {
        navigation.table_key(module.slug, name): table
        for name, table in tables.items()
        if table.rows
    }


def _values(rows: Sequence[ValueRow], backend: str | None) -> Table:
    columns = (
        Column("Value", "code", of="instruction"),
        Column("Size", "bytes"),
        Column("Why so long"),
        Column("From", "int", "the position of the schedule from which it lives"),
        Column("To", "int", "the position up to which it lives"),
        Column("Shape", "code", of="shape"),
        Column("Opcode", "code", of="opcode"),
        Column("Memory", "text", "the memory space that it lies in"),
        Column("Kind", "text", "what the allocation that holds it is for"),
        Column("Allocation", "int"),
        Column("At the peak", "text", "whether it lives when the most does"),
        Column("Scope"),
        Column("Source"),
    )
    return Table(columns, [_value(row, backend) for row in rows])


def _value(value_row: ValueRow, backend: str | None) -> list[Cell]:
    return [
        value_name(value_row),
        value_row.size,
        why(value_row.life),
        value_row.life.start if value_row.life else None,
        value_row.life.end if value_row.life else None,
        shortened(value_row.shape),
        value_row.opcode,
        space_words(backend, value_row.color) if value_row.color is not None else None,
        value_row.kind,
        value_row.allocation,
        None if value_row.at_peak is None else "yes" if value_row.at_peak else "no",
        value_row.scope,
        value_row.source,
    ]


def _donations(memory: MemoryReport) -> Table:
    columns = (
        Column("Argument", "int"),
        Column("Name", "code"),
        Column("Size", "bytes"),
        Column("Result", "text", "the place in the output that is written over it, or could be"),
        Column("Donated"),
    )
    rows = [
        (
            donation.parameter,
            donation.name,
            donation.size,
            _output(donation.output),
            "yes" if donation.donated else "no, could be",
        )
        for donation in memory.donations
    ]
    return Table(columns, rows)


def _output(output: tuple[int, ...] | None) -> str:
    if output is None:
        return "none in particular"
    return f"{{{','.join(map(str, output))}}}"


def _remats(memory: MemoryReport) -> Table:
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Again by"),
        Column("Repeats", "code", "what it does again, where that is still there"),
        Column("Work", "flops", "of all its runs"),
        Column("Traffic", "bytes", "of all its runs"),
    )
    rows: list[list[Cell]] = [
        [
            rematerialised.instruction,
            rematerialised.by,
            rematerialised.original,
            rematerialised.cost.of_all_runs(rematerialised.cost.flops),
            rematerialised.cost.of_all_runs(rematerialised.cost.bytes_accessed),
        ]
        for rematerialised in memory.rematerialised
    ]
    return Table(columns, rows)
