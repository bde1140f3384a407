"""The page on the source: instructions and cost of each line of the user's program."""

from collections.abc import Sequence

from msgspec import Struct

from xlareport.analysis.cost.time_basis import ROOFLINE
from xlareport.analysis.cost_report.source_lines import LineInstruction, SourceLine, SourceReport
from xlareport.analysis.source.locations import short_function
from xlareport.pages.cost.page import cost_parts
from xlareport.pages.cost.tables import time_title
from xlareport.pages.tables import Column, PartPage, Table, tabulate
from xlareport.pages.tabs import ModuleTab, ShownModule
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_LINES_SHOWN = 40
_OPERATIONS = 12
_LONGEST_LINE = 240
_OPCODES = 6
_CALL_SITES = 6


class CodeLine(Struct, frozen=True):
    """A line of a text with its number."""

    number: int
    text: str
    is_meant: bool


class LineView(Struct, frozen=True):
    """A line of the user's program with details."""

    place: str
    path: str
    function: str
    summary: str
    excerpt: tuple[CodeLine, ...]
    stablehlo: tuple[str, ...]
    more_stablehlo: int
    before: tuple[str, ...]
    more_before: int
    became: tuple[tuple[str, str], ...]
    """(instruction, the part of it that belongs to the line)."""
    more_became: int


class SourcePage(PartPage, frozen=True):
    """Everything on the page."""

    lead: str
    unplaced: str
    has_stablehlo: bool
    has_source: bool
    lines: tuple[LineView, ...]
    more: int


def source_page(
    source: SourceReport, seconds: float | None, time_name: str = ROOFLINE
) -> SourcePage:
    """Return the page of one module; `seconds` is the time of the whole module, by that basis."""
    return SourcePage(
        tables={"lines": _table(source, seconds, time_name)},
        lead=_lead(source),
        unplaced=_unplaced(source, seconds, time_name),
        has_stablehlo=source.has_stablehlo,
        has_source=any(line.excerpt for line in source.lines),
        lines=tuple(_line_view(line, seconds, time_name) for line in source.lines[:_LINES_SHOWN]),
        more=max(0, source.count - _LINES_SHOWN),
    )


def _source(shown: ShownModule) -> tuple[SourceReport, float | None, str] | None:
    cost = shown.analysis.cost
    if cost is None or "source" not in cost_parts(shown.record):
        return None
    return cost.source, cost.whole_seconds, cost.time_name


TAB = ModuleTab("source", _source, lambda _, value: source_page(*value), place=110)


def _lead(source: SourceReport) -> str:
    files = len({line.place.file for line in source.lines})
    return (
        f"Instructions of this module have {units.plural(source.count, 'source line')} in "
        f"{units.plural(files, 'file')}. The framework writes the source line of an instruction "
        "into the HLO; of a call stack, the innermost frame outside installed packages is used."
    )


def _unplaced(source: SourceReport, seconds: float | None, time_name: str) -> str:
    nothing = source.unplaced
    if not nothing.instructions:
        return ""
    part = f" ({units.share(nothing.seconds / seconds)} of {time_name})" if seconds else ""
    return (
        f"{units.plural(nothing.instructions, 'instruction')}{part} have no source line: the "
        "compiler created them, or the dump does not record it."
    )


def _line_view(source_line: SourceLine, seconds: float | None, time_name: str) -> LineView:
    return LineView(
        place=source_line.place.short,
        path=source_line.place.file,
        function=source_line.place.function,
        summary=_summary(source_line, seconds, time_name),
        excerpt=tuple(
            CodeLine(number, text[:_LONGEST_LINE], number == source_line.place.line)
            for number, text in source_line.excerpt
        ),
        stablehlo=tuple(text[:_LONGEST_LINE] for text in source_line.stablehlo[:_OPERATIONS]),
        more_stablehlo=source_line.stablehlo_count - len(source_line.stablehlo[:_OPERATIONS]),
        before=tuple(text[:_LONGEST_LINE] for text in source_line.before[:_OPERATIONS]),
        more_before=source_line.before_count - len(source_line.before[:_OPERATIONS]),
        became=tuple(_became(operation) for operation in source_line.became[:_OPERATIONS]),
        more_became=source_line.became_count - len(source_line.became[:_OPERATIONS]),
    )


def _summary(source_line: SourceLine, seconds: float | None, time_name: str) -> str:
    figures = []
    if seconds and source_line.cost.seconds:
        share = units.share(source_line.cost.seconds / seconds)
        figures.append(f"{share} of {time_name}")
    if source_line.cost.flops:
        figures.append(units.quantity(source_line.cost.flops, "FLOP"))
    if source_line.cost.bytes_accessed:
        figures.append(f"{units.byte_size(source_line.cost.bytes_accessed)} accessed")
    if source_line.peak_bytes:
        figures.append(f"{units.byte_size(source_line.peak_bytes)} at the peak")
    if len(source_line.call_sites) > 1:
        figures.append(f"called at {first_few(source_line.call_sites, _CALL_SITES)}")
    return ", ".join(figures) or "no cost"


def _became(became: LineInstruction) -> tuple[str, str]:
    alone = len(became.operations) == 1 and became.operations[0][1] == 1
    return f"%{became.instruction}", became.operations[0][0] if alone else _opcodes(
        became.operations
    )


def _opcodes(value: Sequence[tuple[str, int]]) -> str:
    shown = [name if count == 1 else f"{count:,} {name}" for name, count in value[:_OPCODES]]
    more = (
        f" and {units.plural(len(value) - _OPCODES, 'more kind')}" if len(value) > _OPCODES else ""
    )
    return ", ".join(shown) + more


def _table(source: SourceReport, seconds: float | None, time_name: str) -> Table:
    return tabulate(
        source.lines,
        {
            Column("Line"): lambda row: row.place.short,
            Column(
                time_title(time_name), "float", "estimate; a fusion counts for the line of its root"
            ): lambda row: row.cost.seconds * 1e6,
            Column("Share", "percent", f"of the {time_name} of the module"): lambda row: (
                row.cost.seconds / seconds if seconds else None
            ),
            Column("Function"): lambda row: row.place.function,
            Column(
                "Final instructions",
                "text",
                "instructions of the final module attributed to the line",
            ): lambda row: _names(row.became, row.became_count),
            Column("FLOPs", "flops"): lambda row: row.cost.flops,
            Column("Bytes accessed", "bytes"): lambda row: row.cost.bytes_accessed,
            Column("Live at peak", "bytes", "bytes of its values live at the peak"): lambda row: (
                row.peak_bytes
            ),
            Column(
                "Called from",
                help="other functions in the stacks of its instructions, the innermost first",
            ): lambda row: ", ".join(map(short_function, row.callers)),
            Column(
                "Call sites", help="lines that call its function, in these stacks"
            ): lambda row: first_few(row.call_sites, _CALL_SITES),
            Column("StableHLO ops", "int", "StableHLO operations of the line"): lambda row: (
                row.stablehlo_count if source.has_stablehlo else None
            ),
            Column("Before", "int", "instructions in the first snapshot"): lambda row: (
                row.before_count or None
            ),
            Column("After", "int", "instructions in the final module"): lambda row: (
                row.cost.instructions
            ),
            Column("File"): lambda row: row.place.file,
        },
    )


def _names(became: Sequence[LineInstruction], count: int) -> str:
    return first_few([f"%{place.instruction}" for place in became[:3]], 3, count)
