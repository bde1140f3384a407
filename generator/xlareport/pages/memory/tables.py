"""The tables of the page on memory: those of the page script, then those of the template."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from xlareport.analysis.cost.host_memory import HostTransfer
from xlareport.analysis.cost.memory import SpaceFigures
from xlareport.analysis.cost.occupancy import HELD
from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.knowledge.devices import devices
from xlareport.knowledge.memory_spaces import space_name, space_words
from xlareport.pages.cost.tables import shortened
from xlareport.pages.rendering.environment import code
from xlareport.pages.tables import Cell, Column, Table
from xlareport.readers.live_range import ScopeShare
from xlareport.records.sentences import element_name, value_name, why
from xlareport.runtime import units


def memory_tables(backend: str | None, memory: MemoryReport) -> Mapping[str, Table]:
    """Return the tables of the page by their names, without those that are empty."""
    tables = {
        "living": _living(memory),
        "peak": _values(memory.at_peak, backend, memory.chip),
        "saving": _values(_levers(memory), backend, memory.chip),
        "values": _values(memory.values, backend, memory.chip),
        "donation": _donations(memory),
        "remat": _remats(memory),
        "stacked": _stacked(memory),
        "host": _host_transfers(memory),
    }
    return {name: table for name, table in tables.items() if table.rows}


def _living(memory: MemoryReport) -> Table:
    """Return the table of values in use; the page script lists those at a position."""
    columns = (
        Column("HLO value", "code", of="instruction"),
        Column("Size", "bytes"),
        Column("Kind"),
        Column("First position", "int"),
        Column("Last position", "int"),
        Column("Argument", "code", "name of an entry parameter"),
    )
    rows = [
        (row.name, row.size, row.kind, row.start, row.end, row.argument) for row in memory.living
    ]
    return Table(columns, rows)


def _values(rows: Sequence[ValueRow], backend: str | None, chip: str) -> Table:
    columns = [
        Column("HLO value", "code", of="instruction"),
        Column("Size", "bytes"),
        Column("Shape", "code", of="shape"),
        Column("Held until"),
        Column("Defined at", "int", "schedule position"),
        Column("Last used at", "int", "schedule position"),
        Column("Memory", "text", "memory space"),
        Column("Opcode", "code", of="opcode"),
        Column("Kind", "text", "kind of its allocation"),
        Column("Allocation", "int"),
        Column("Live at peak", "text", "memory of arguments, outputs and constants is always held"),
        Column("Scope"),
        Column("Source"),
    ]
    cells = [_value(row, backend, chip) for row in rows]
    if any(row.argument for row in rows):
        columns.insert(2, Column("Argument", "code", "name of an entry parameter"))
        for row, line in zip(rows, cells, strict=True):
            line.insert(2, row.argument or None)
    return Table(tuple(columns), cells)


def _value(value_row: ValueRow, backend: str | None, chip: str) -> list[Cell]:
    return [
        value_name(value_row),
        value_row.size,
        shortened(value_row.shape),
        _held_until(value_row),
        value_row.lifetime.start if value_row.lifetime else None,
        value_row.lifetime.end if value_row.lifetime else None,
        space_name(backend, value_row.color, chip) if value_row.color is not None else None,
        value_row.opcode,
        value_row.kind,
        value_row.allocation,
        _live_at_peak(value_row),
        "" if value_row.argument else value_row.scope,
        value_row.source,
    ]


def _held_until(value_row: ValueRow) -> str | None:
    """Return why a value lives, and for held memory which other value is in it at the peak."""
    value = value_row.occupant
    if value is None:
        return why(value_row.lifetime) or None
    name = element_name(value.instruction, value.index)
    return f"{why(value_row.lifetime)}; its memory holds %{name} at the peak"


def _live_at_peak(value_row: ValueRow) -> str | None:
    if value_row.at_peak is None:
        return None
    if value_row.at_peak or value_row.kind not in HELD:
        return "yes" if value_row.at_peak else "no"
    return f"no, memory held{_occupied(value_row)}"


def _occupied(value_row: ValueRow) -> str:
    """Return which value uses the memory of an argument or output at the peak."""
    value = value_row.occupant
    if value is None:
        return ""
    return f", in use by {value.instruction} ({units.byte_size(value.size)})"


def _donations(memory: MemoryReport) -> Table:
    columns = (
        Column("Argument", "int"),
        Column("Name", "code"),
        Column("Size", "bytes"),
        Column("Output", "text", "tuple index of the aliased or matching output"),
        Column("Aliased or donated"),
    )
    rows = [
        (
            donation.parameter,
            donation.name,
            donation.size,
            _output(donation.output),
            "yes" if donation.donated else "donatable",
        )
        for donation in memory.donations
    ]
    return Table(columns, rows)


def _output(output: tuple[int, ...] | None) -> str:
    if output is None:
        return "none"
    return f"{{{','.join(map(str, output))}}}"


def _remats(memory: MemoryReport) -> Table:
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Requested by"),
        Column("Original", "code", "the rematerialized instruction, if it still exists"),
        Column("FLOPs", "flops", "of all executions"),
        Column("Bytes accessed", "bytes", "of all executions"),
    )
    rows: list[list[Cell]] = [
        [
            rematerialized.instruction,
            rematerialized.by,
            rematerialized.original,
            rematerialized.cost.of_all_runs(rematerialized.cost.flops),
            rematerialized.cost.of_all_runs(rematerialized.cost.bytes_accessed),
        ]
        for rematerialized in memory.rematerialized
    ]
    return Table(columns, rows)


def _stacked(memory: MemoryReport) -> Table:
    columns = (
        Column("Buffer", "code", of="instruction"),
        Column("Loop", "code", of="instruction"),
        Column("Size", "bytes"),
        Column("Trip count", "int"),
        Column("In each iteration", "bytes"),
        Column("Shape", "code", of="shape"),
        Column("Scope"),
    )
    rows: list[list[Cell]] = [
        [
            *(buffer.instruction, buffer.loop, buffer.bytes, buffer.trip_count),
            *(buffer.iteration_bytes, shortened(buffer.shape), buffer.scope),
        ]
        for buffer in memory.stacked
    ]
    return Table(columns, rows)


def _host_transfers(memory: MemoryReport) -> Table:
    device = devices().get(memory.chip)
    link = device.host_link if device else None
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Direction"),
        Column("Size", "bytes", "of one execution"),
        Column("Executions", "int"),
        Column("Total", "bytes"),
        Column("Roofline time (µs)", "float", _link_words(device.name if device else "", link)),
        Column("Opcode", "code", of="opcode"),
        Column("Computation", "code", of="instruction"),
    )
    return Table(
        columns, [_host_transfer(host_transfer, link) for host_transfer in memory.host_transfers]
    )


def _link_words(device: str, link: float | None) -> str:
    if link is None:
        return "not known: no speed of the link to the host is published for this device"
    return f"over the host link of {device}, {units.quantity(link, 'B/s')} in each direction"


def _host_transfer(transfer: HostTransfer, link: float | None) -> list[Cell]:
    seconds = transfer.seconds(link)
    return [
        *(transfer.instruction, transfer.direction, transfer.bytes, transfer.executions),
        *(transfer.total_bytes, None if seconds is None else seconds * 1e6),
        *(transfer.opcode, transfer.computation),
    ]


_TREE_LINES = 60
_TREE_LEAST = 0.005
"""A line of the breakdown below this part of the peak is left out."""
_FILLS = 12
_SHARES = 12


def spaces_table(backend: str | None, memory: MemoryReport) -> Table:
    """Return the table of memory spaces, with the figures of the memory usage report."""
    columns = (
        Column("Memory space"),
        Column("Number", "int"),
        Column("Allocated", "bytes"),
        Column("In use at peak", "bytes"),
        Column("Temp", "bytes", "preallocated-temp"),
        Column("memory-usage-report"),
    )
    rows = [
        (
            space_words(backend, space.color, memory.chip),
            space.color,
            space.allocated_bytes,
            memory.space_peaks.get(space.color),
            space.temp_bytes,
            _reported(memory, space),
        )
        for space in memory.figures.spaces
    ]
    return Table(columns, rows)


def _reported(memory: MemoryReport, space: SpaceFigures) -> str:
    """Return the report's figure for a space, and its label, which is the same for all chips."""
    label, number = memory.reported.get(space.color, ("", None))
    if number is None:
        return "not listed"
    named = f", labeled {label}" if label else ""
    if memory.figures.sources.get("allocated_bytes") == "memory-usage-report":
        return f"source of the figure{named}"
    if number != space.total_bytes:
        return f"{units.count(number)}{named}"
    beside = space.thread_local_bytes
    included = f" ({units.byte_size(beside)} of thread-local included)" if beside else ""
    return f"agrees{included}{named}"


def kinds_table(backend: str | None, memory: MemoryReport) -> Table:
    """Return the allocations by memory space and kind."""
    columns = (
        Column("Memory space"),
        Column("Kind"),
        Column("Allocations", "int"),
        Column("Size", "bytes"),
    )
    rows = [
        (space_words(backend, kind.color, memory.chip), kind.kind, kind.count, kind.size)
        for kind in memory.kinds
    ]
    return Table(columns, rows)


def layouts_table(backend: str | None, memory: MemoryReport) -> Table:
    """Return the table of values that layouts place in each memory space."""
    columns = (
        Column("Layout", "code"),
        Column("Memory space"),
        Column("HLO values", "int"),
        Column("Total size", "bytes"),
    )
    rows = [
        (
            f"S({space.number})",
            space_words(backend, space.number, memory.chip),
            space.values,
            space.size,
        )
        for space in memory.layout_spaces
    ]
    return Table(columns, rows)


def _levers(memory: MemoryReport) -> Sequence[ValueRow]:
    """Return the values to shrink; none if all of them together do not suffice."""
    saving = memory.saving
    return () if saving is None or not saving.is_enough else memory.saving_values


def shares_table(title: str, shares: Sequence[Share], nothing: str) -> Table:
    """Return the largest shares of the peak; `nothing` is shown for a missing name."""
    columns = (Column(title), Column("HLO values", "int"), Column("Size", "bytes"))
    rows = [(share.name or nothing, share.count, share.size) for share in shares[:_SHARES]]
    return Table(columns, rows)


def arguments_table(memory: MemoryReport) -> Table:
    """Return the arguments by the beginnings of their names."""
    columns = (
        Column("Name", "code"),
        Column("Arguments", "int"),
        Column("Size", "bytes"),
        Column("Largest", "code"),
        Column("Its size", "bytes"),
    )
    rows = [
        (group.name, group.count, group.size, group.largest, group.largest_size)
        for group in memory.argument_groups[:_SHARES]
    ]
    return Table(columns, rows)


def breakdown_table(breakdown: Sequence[ScopeShare]) -> Table:
    """Return the lines of the breakdown of the peak that matter, in the order of the file."""
    columns = (Column("Name"), Column("Total size", "bytes"), Column("Share", "percent"))
    whole = breakdown[0].total if breakdown else 0
    wanted = [line for line in breakdown if whole and line.total / whole >= _TREE_LEAST]
    indent = "\N{NO-BREAK SPACE}" * 4
    rows = [
        (
            Markup("{}{}").format(indent * line.depth, code(line.name)),
            line.total,
            line.total / whole,
        )
        for line in wanted[:_TREE_LINES]
    ]
    return Table(columns, rows)


def fills_table(backend: str | None, memory: MemoryReport) -> Table:
    """Return the allocations that lose most, with how full each gets."""
    columns = (
        Column("Allocation", "int"),
        Column("Memory", "text", "memory space"),
        Column("Kind"),
        Column("Size", "bytes"),
        Column("Peak memory", "bytes"),
        Column("Wasted (upper bound)", "bytes"),
        Column("Share", "percent"),
    )
    rows = [
        (
            fill.allocation.index,
            space_name(backend, fill.allocation.color, memory.chip),
            fill.allocation.kind,
            fill.allocation.size,
            fill.used,
            fill.lost,
            fill.lost / fill.allocation.size if fill.allocation.size else 0.0,
        )
        for fill in memory.fills[:_FILLS]
        if fill.lost
    ]
    return Table(columns, rows)
