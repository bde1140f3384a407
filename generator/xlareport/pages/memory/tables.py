"""The tables of the page on memory: values with what ends their life, donation, repeats."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.cost_report.memory_report import MemoryReport, ValueRow
from xlareport.knowledge.memory_spaces import space_words
from xlareport.pages import navigation
from xlareport.pages.cost.tables import shortened
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.report import ModuleView
from xlareport.records.sentences import value_name, why


def memory_tables(view: ModuleView, found: MemoryReport) -> Mapping[str, Table]:
    """Return the tables of the page as payloads by their key, without those that are empty."""
    tables = {
        "peak": _values(found.at_peak, view.backend),
        "saving": _values(found.saving_values, view.backend),
        "values": _values(found.values, view.backend),
        "donation": _donations(found),
        "remat": _remats(found),
    }
    return {
        navigation.table_key(view.slug, name): table for name, table in tables.items() if table.rows
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
    return Table(columns, [_value(one, backend) for one in rows])


def _value(one: ValueRow, backend: str | None) -> list[Cell]:
    return [
        value_name(one),
        one.size,
        why(one.life),
        one.life.start if one.life else None,
        one.life.end if one.life else None,
        shortened(one.shape),
        one.opcode,
        space_words(backend, one.color) if one.color is not None else None,
        one.kind,
        one.allocation,
        None if one.at_peak is None else "yes" if one.at_peak else "no",
        one.scope,
        one.source,
    ]


def _donations(found: MemoryReport) -> Table:
    columns = (
        Column("Argument", "int"),
        Column("Name", "code"),
        Column("Size", "bytes"),
        Column("Result", "text", "the place in the output that is written over it, or could be"),
        Column("Donated"),
    )
    rows = [
        (
            one.parameter,
            one.name,
            one.size,
            _output(one.output),
            "yes" if one.donated else "no, could be",
        )
        for one in found.donations
    ]
    return Table(columns, rows)


def _output(output: tuple[int, ...] | None) -> str:
    if output is None:
        return "none in particular"
    return f"{{{','.join(map(str, output))}}}"


def _remats(found: MemoryReport) -> Table:
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Again by"),
        Column("Repeats", "code", "what it does again, where that is still there"),
        Column("Work", "flops", "of all its runs"),
        Column("Traffic", "bytes", "of all its runs"),
    )
    rows: list[list[Cell]] = [
        [
            one.instruction,
            one.by,
            one.original,
            one.cost.of_all_runs(one.cost.flops),
            one.cost.of_all_runs(one.cost.bytes_accessed),
        ]
        for one in found.rematerialised
    ]
    return Table(columns, rows)
