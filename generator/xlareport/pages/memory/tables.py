"""The tables of the page on memory: those of the page script, then those of the template."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from xlareport.analysis.cost.memory import SpaceFigures
from xlareport.analysis.cost.occupancy import HELD
from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.value_row import ValueRow, element_name
from xlareport.analysis.source.scopes import plain_path
from xlareport.knowledge.devices import devices
from xlareport.knowledge.memory_spaces import space_name, space_words
from xlareport.pages.cost.tables import shortened
from xlareport.pages.rendering.environment import code
from xlareport.pages.tables import Column, Table, tabulate
from xlareport.readers.live_range import ScopeShare
from xlareport.records.sentences import why
from xlareport.runtime import units


def tabulate_memory(backend: str | None, memory: MemoryReport) -> Mapping[str, Table]:
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
    return tabulate(
        memory.living,
        {
            Column("HLO value", "code", of="instruction"): lambda row: row.name,
            Column("Size", "bytes"): lambda row: row.size,
            Column("Kind"): lambda row: row.kind,
            Column("First position", "int"): lambda row: row.start,
            Column("Last position", "int"): lambda row: row.end,
            Column("Argument", "code", "name of an entry parameter"): lambda row: row.argument,
        },
    )


def _values(rows: Sequence[ValueRow], backend: str | None, chip: str) -> Table:
    named = any(row.argument for row in rows)
    argument = Column("Argument", "code", "name of an entry parameter")
    return tabulate(
        rows,
        {
            Column("HLO value", "code", of="instruction"): lambda row: row.name,
            Column("Size", "bytes"): lambda row: row.size,
            **({argument: lambda row: row.argument or None} if named else {}),
            Column("Shape", "code", of="shape"): lambda row: shortened(row.shape),
            Column(
                "Live until", help="its last use; XLA counts bitcasts and dones as uses"
            ): _live_until,
            Column("Defined at", "int", "schedule position"): (
                lambda row: row.lifetime.start if row.lifetime else None
            ),
            Column("Last used at", "int", "schedule position"): (
                lambda row: row.lifetime.end if row.lifetime else None
            ),
            Column("Memory", "text", "memory space"): (
                lambda row: None if row.color is None else space_name(backend, row.color, chip)
            ),
            Column("Opcode", "code", of="opcode"): lambda row: row.opcode,
            Column("Kind", "text", "kind of its allocation"): lambda row: row.kind,
            Column("Allocation", "int"): lambda row: row.allocation,
            Column(
                "Live at peak", "text", "memory of arguments, outputs and constants is always held"
            ): _live_at_peak,
            Column("Scope"): lambda row: "" if row.argument else row.scope,
            Column("Source"): lambda row: row.source,
        },
    )


def _live_until(value_row: ValueRow) -> str | None:
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
    return tabulate(
        memory.donations,
        {
            Column("Argument", "int"): lambda row: row.parameter,
            Column("Name", "code"): lambda row: row.name,
            Column("Size", "bytes"): lambda row: row.size,
            Column("Output", "text", "tuple index of the aliased or matching output"): lambda row: (
                _output(row.output)
            ),
            Column("Aliased or donated"): lambda row: "yes" if row.donated else "donatable",
        },
    )


def _output(output: tuple[int, ...] | None) -> str:
    if output is None:
        return "none"
    return f"{{{','.join(map(str, output))}}}"


def _remats(memory: MemoryReport) -> Table:
    return tabulate(
        memory.rematerialized,
        {
            Column("Instruction", "code", of="instruction"): lambda row: row.instruction,
            Column("Requested by"): lambda row: row.by,
            Column(
                "Original", "code", "the rematerialized instruction, if it still exists"
            ): lambda row: row.original,
            Column("FLOPs", "flops", "of all executions"): lambda row: row.cost.of_all_runs(
                row.cost.flops
            ),
            Column("Bytes accessed", "bytes", "of all executions"): lambda row: (
                row.cost.of_all_runs(row.cost.bytes_accessed)
            ),
        },
    )


def _stacked(memory: MemoryReport) -> Table:
    return tabulate(
        memory.stacked,
        {
            Column("Buffer", "code", of="instruction"): lambda row: row.instruction,
            Column("Loop", "code", of="instruction"): lambda row: row.loop,
            Column("Size", "bytes"): lambda row: row.bytes,
            Column("Trip count", "int"): lambda row: row.trip_count,
            Column("In each iteration", "bytes"): lambda row: row.iteration_bytes,
            Column("Shape", "code", of="shape"): lambda row: shortened(row.shape),
            Column(
                "Stored value",
                "code",
                "of what the loop writes, from its op_name; empty if not known",
            ): lambda row: plain_path(row.stored),
        },
    )


def _host_transfers(memory: MemoryReport) -> Table:
    device = devices().get(memory.chip)
    link = device.host_link if device else None
    words = _link_words(device.name if device else "", link)
    return tabulate(
        memory.host_transfers,
        {
            Column("Instruction", "code", of="instruction"): lambda row: row.instruction,
            Column("Direction"): lambda row: row.direction,
            Column("Size", "bytes", "of one execution"): lambda row: row.bytes,
            Column("Executions", "int"): lambda row: row.executions,
            Column("Total", "bytes"): lambda row: row.total_bytes,
            Column("Roofline time (µs)", "float", words): (
                lambda row: None if (seconds := row.seconds(link)) is None else seconds * 1e6
            ),
            Column("Opcode", "code", of="opcode"): lambda row: row.opcode,
            Column("Computation", "code", of="instruction"): lambda row: row.computation,
        },
    )


def _link_words(device: str, link: float | None) -> str:
    if link is None:
        return "not known: no speed of the link to the host is published for this device"
    return f"over the host link of {device}, {units.quantity(link, 'B/s')} in each direction"


_TREE_LINES = 60
_TREE_LEAST = 0.005
"""A line of the breakdown below this part of the peak is left out."""
_FILLS = 12
_SHARES = 12


def tabulate_spaces(backend: str | None, memory: MemoryReport) -> Table:
    """Return the table of memory spaces, with the figures of the memory usage report."""
    return tabulate(
        memory.figures.spaces,
        {
            Column("Memory space"): lambda row: space_words(backend, row.color, memory.chip),
            Column("Number", "int"): lambda row: row.color,
            Column("Allocated", "bytes"): lambda row: row.allocated_bytes,
            Column("In use at peak", "bytes"): lambda row: memory.space_peaks.get(row.color),
            Column("Temp", "bytes", "preallocated-temp"): lambda row: row.temp_bytes,
            Column("memory-usage-report"): lambda row: _reported(memory, row),
        },
    )


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


def tabulate_kinds(backend: str | None, memory: MemoryReport) -> Table:
    """Return the allocations by memory space and kind."""
    return tabulate(
        memory.kinds,
        {
            Column("Memory space"): lambda row: space_words(backend, row.color, memory.chip),
            Column("Kind"): lambda row: row.kind,
            Column("Allocations", "int"): lambda row: row.count,
            Column("Size", "bytes"): lambda row: row.size,
        },
    )


def tabulate_layouts(backend: str | None, memory: MemoryReport) -> Table:
    """Return the table of values that layouts place in each memory space."""
    return tabulate(
        memory.layout_spaces,
        {
            Column("Layout", "code"): lambda row: f"S({row.number})",
            Column("Memory space"): lambda row: space_words(backend, row.number, memory.chip),
            Column("HLO values", "int"): lambda row: row.values,
            Column("Total size", "bytes"): lambda row: row.size,
        },
    )


def _levers(memory: MemoryReport) -> Sequence[ValueRow]:
    """Return the values to shrink; none if all of them together do not suffice."""
    saving = memory.saving
    return () if saving is None or not saving.is_enough else memory.saving_values


def tabulate_shares(title: str, shares: Sequence[Share], nothing: str) -> Table:
    """Return the largest shares of the peak; `nothing` is shown for a missing name."""
    columns = (Column(title), Column("HLO values", "int"), Column("Size", "bytes"))
    rows = [(share.name or nothing, share.count, share.size) for share in shares[:_SHARES]]
    return Table(columns, rows)


def tabulate_arguments(memory: MemoryReport) -> Table:
    """Return the arguments by the beginnings of their names."""
    return tabulate(
        memory.argument_groups[:_SHARES],
        {
            Column("Name", "code"): lambda row: row.name,
            Column("Arguments", "int"): lambda row: row.count,
            Column("Size", "bytes"): lambda row: row.size,
            Column("Largest", "code"): lambda row: row.largest,
            Column("Its size", "bytes"): lambda row: row.largest_size,
        },
    )


def tabulate_breakdown(breakdown: Sequence[ScopeShare]) -> Table:
    """Return the lines of the breakdown of the peak that matter, in the order of the file."""
    whole = breakdown[0].total if breakdown else 0
    wanted = [line for line in breakdown if whole and line.total / whole >= _TREE_LEAST]
    indent = "\N{NO-BREAK SPACE}" * 4
    return tabulate(
        wanted[:_TREE_LINES],
        {
            Column("Name"): lambda row: Markup("{}{}").format(indent * row.depth, code(row.name)),
            Column("Total size", "bytes"): lambda row: row.total,
            Column("Share", "percent"): lambda row: row.total / whole,
        },
    )


def tabulate_fills(backend: str | None, memory: MemoryReport) -> Table:
    """Return the allocations that lose most, with how full each gets."""
    return tabulate(
        (fill for fill in memory.fills[:_FILLS] if fill.lost),
        {
            Column("Allocation", "int"): lambda row: row.allocation.index,
            Column("Memory", "text", "memory space"): lambda row: space_name(
                backend, row.allocation.color, memory.chip
            ),
            Column("Kind"): lambda row: row.allocation.kind,
            Column("Size", "bytes"): lambda row: row.allocation.size,
            Column("Peak memory", "bytes"): lambda row: row.used,
            Column("Wasted (upper bound)", "bytes"): lambda row: row.lost,
            Column("Share", "percent"): lambda row: (
                row.lost / row.allocation.size if row.allocation.size else 0.0
            ),
        },
    )
