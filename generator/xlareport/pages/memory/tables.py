"""The tables of the page on memory: those of the page script, then those of the template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost_report.memory_report import MemoryReport, ValueRow
from xlareport.knowledge.memory_spaces import space_words
from xlareport.pages.cost.tables import shortened
from xlareport.pages.tables import Cell, Column, Table
from xlareport.readers.live_range import ScopeShare
from xlareport.records.sentences import value_name, why
from xlareport.runtime import units


def memory_tables(backend: str | None, memory: MemoryReport) -> Mapping[str, Table]:
    """Return the tables of the page by their names, without those that are empty."""
    tables = {
        "peak": _values(memory.at_peak, backend, memory.chip),
        "saving": _values(memory.saving_values, backend, memory.chip),
        "values": _values(memory.values, backend, memory.chip),
        "donation": _donations(memory),
        "remat": _remats(memory),
    }
    return {name: table for name, table in tables.items() if table.rows}


def _values(rows: Sequence[ValueRow], backend: str | None, chip: str) -> Table:
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
    return Table(columns, [_value(row, backend, chip) for row in rows])


def _value(value_row: ValueRow, backend: str | None, chip: str) -> list[Cell]:
    return [
        value_name(value_row),
        value_row.size,
        why(value_row.life),
        value_row.life.start if value_row.life else None,
        value_row.life.end if value_row.life else None,
        shortened(value_row.shape),
        value_row.opcode,
        space_words(backend, value_row.color, chip) if value_row.color is not None else None,
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


_TREE_LINES = 60
_TREE_LEAST = 0.005
"""A line of the breakdown below this part of the peak is left out."""
_FILLS = 12
_SHARES = 12


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """One memory space."""

    name: str
    number: int
    allocated: int
    peak: int | None
    """The most in use at once; None where not known."""
    temp: int | None
    reported: str
    """What the memory usage report says of it."""


@dataclass(frozen=True, slots=True)
class AllocationKindRow:
    """The allocations of one kind in one memory space."""

    space: str
    kind: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """What layouts place into one memory space."""

    mark: str
    name: str
    values: int
    bytes: int


@dataclass(frozen=True, slots=True)
class FillRow:
    """How full one allocation gets."""

    allocation: int
    kind: str
    size: int
    used: int
    lost: int
    lost_share: str


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A line of the peak's breakdown."""

    indent: str
    name: str
    total: int
    share: str


def space_rows(backend: str | None, memory: MemoryReport) -> list[SpaceRow]:
    """Return the memory spaces, each with what the memory usage report says of it."""
    return [
        SpaceRow(
            name=space_words(backend, space.color, memory.chip),
            number=space.color,
            allocated=space.allocated_bytes,
            peak=memory.space_peaks.get(space.color),
            temp=space.temp_bytes,
            reported=_reported(memory, space.color, space.allocated_bytes),
        )
        for space in memory.figures.spaces
    ]


def _reported(memory: MemoryReport, color: int, allocated: int) -> str:
    """Return what the report says of a space, and its label, which is the same for all chips."""
    label, number = memory.reported.get(color, ("", None))
    if number is None:
        return "says nothing"
    named = f", labelled {label}" if label else ""
    if memory.figures.sources.get("allocated_bytes") == "memory-usage-report":
        return f"this is its figure{named}"
    return f"says the same{named}" if number == allocated else f"says {units.count(number)}{named}"


def kind_rows(backend: str | None, memory: MemoryReport) -> tuple[AllocationKindRow, ...]:
    """Return the allocations by memory space and kind."""
    return tuple(
        AllocationKindRow(
            space_words(backend, kind.color, memory.chip), kind.kind, kind.count, kind.size
        )
        for kind in memory.kinds
    )


def layout_rows(backend: str | None, memory: MemoryReport) -> tuple[LayoutRow, ...]:
    """Return what the layouts place where."""
    return tuple(
        LayoutRow(
            f"S({layout_space.number})",
            space_words(backend, layout_space.number, memory.chip),
            layout_space.values,
            layout_space.size,
        )
        for layout_space in memory.layout_spaces
    )


def named(shares: Sequence[Share], nothing: str) -> tuple[Share, ...]:
    """Return the largest shares, each with a name."""
    return tuple(
        Share(share.name or nothing, share.size, share.count) for share in shares[:_SHARES]
    )


def tree_rows(breakdown: Sequence[ScopeShare]) -> list[TreeRow]:
    """Return the lines of the breakdown that matter, in the order of the file."""
    whole = breakdown[0].total if breakdown else 0
    wanted = [
        scope_share
        for scope_share in breakdown
        if whole and scope_share.total / whole >= _TREE_LEAST
    ]
    return [
        TreeRow(
            "\N{NO-BREAK SPACE}" * 4 * scope_share.depth,
            scope_share.name,
            scope_share.total,
            units.share(scope_share.total / whole),
        )
        for scope_share in wanted[:_TREE_LINES]
    ]


def fill_rows(memory: MemoryReport) -> list[FillRow]:
    """Return the allocations that lose most."""
    return [
        FillRow(
            allocation=fill.allocation.index,
            kind=fill.allocation.kind,
            size=fill.allocation.size,
            used=fill.used,
            lost=fill.lost,
            lost_share=units.share(fill.lost / fill.allocation.size)
            if fill.allocation.size
            else "0%",
        )
        for fill in memory.fills[:_FILLS]
        if fill.lost
    ]
