"""The page on the source: for each line of the user's program what it became and what it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.cost_report.source_lines import Became, SourceLine, SourceReport
from xlareport.pages import navigation, words
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.report import ModuleView
from xlareport.runtime import units

_SHOWN = 40
_OPERATIONS = 12
_LONGEST = 240
_OPCODES = 6


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of a text with its number."""

    number: int
    text: str
    is_meant: bool


@dataclass(frozen=True, slots=True)
class LineView:
    """One line of the user's program, opened up."""

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
    """(instruction, what of it belongs to the line)."""
    more_became: int


@dataclass(frozen=True, slots=True)
class SourcePage:
    """Everything on the page beside its table."""

    name: str
    lead: str
    unplaced: str
    table_key: str
    has_stablehlo: bool
    has_source: bool
    lines: tuple[LineView, ...]
    more: int


def source_page(
    view: ModuleView,
    found: SourceReport,
    seconds: float | None,
) -> SourcePage:
    """Make the page of one module; `seconds` is the least time of the whole module."""
    return SourcePage(
        name=words.short_name(view.name),
        lead=_lead(found),
        unplaced=_unplaced(found, seconds),
        table_key=navigation.table_key(view.slug, "lines"),
        has_stablehlo=found.has_stablehlo,
        has_source=any(one.excerpt for one in found.lines),
        lines=tuple(_line(one, seconds) for one in found.lines[:_SHOWN]),
        more=max(0, found.count - _SHOWN),
    )


def source_tables(
    view: ModuleView, found: SourceReport, seconds: float | None
) -> Mapping[str, Table]:
    """Return the table of all lines by its key."""
    return {navigation.table_key(view.slug, "lines"): _table(found, seconds)}


def _lead(found: SourceReport) -> str:
    files = len({one.place.file for one in found.lines})
    return (
        f"{units.plural(found.count, 'line')} of {units.plural(files, 'file')} became this module. "
        "Which line made an instruction is what the framework wrote into the dump; of a stack of "
        "calls the innermost line outside of installed packages counts."
    )


def _unplaced(found: SourceReport, seconds: float | None) -> str:
    nothing = found.unplaced
    if not nothing.instructions:
        return ""
    part = f" ({units.share(nothing.seconds / seconds)} of the least time)" if seconds else ""
    return (
        f"{units.plural(nothing.instructions, 'instruction')}{part} belong to no line: the "
        "compiler made them, or the dump does not say."
    )


def _line(one: SourceLine, seconds: float | None) -> LineView:
    return LineView(
        place=one.place.short,
        path=one.place.file,
        function=one.place.function,
        summary=_summary(one, seconds),
        excerpt=tuple(
            CodeLine(number, text[:_LONGEST], number == one.place.line)
            for number, text in one.excerpt
        ),
        stablehlo=tuple(text[:_LONGEST] for text in one.stablehlo[:_OPERATIONS]),
        more_stablehlo=one.stablehlo_count - len(one.stablehlo[:_OPERATIONS]),
        before=tuple(text[:_LONGEST] for text in one.before[:_OPERATIONS]),
        more_before=one.before_count - len(one.before[:_OPERATIONS]),
        became=tuple(_became(each) for each in one.became[:_OPERATIONS]),
        more_became=one.became_count - len(one.became[:_OPERATIONS]),
    )


def _summary(one: SourceLine, seconds: float | None) -> str:
    said = []
    if seconds and one.cost.seconds:
        said.append(f"{units.share(one.cost.seconds / seconds)} of the least time")
    if one.cost.flops:
        said.append(units.quantity(one.cost.flops, "flop"))
    if one.cost.bytes_accessed:
        said.append(f"{units.byte_size(one.cost.bytes_accessed)} moved")
    if one.peak_bytes:
        said.append(f"{units.byte_size(one.peak_bytes)} at the peak")
    return ", ".join(said) or "nothing that costs"


def _became(one: Became) -> tuple[str, str]:
    alone = len(one.operations) == 1 and one.operations[0][1] == 1
    return f"%{one.instruction}", one.operations[0][0] if alone else _opcodes(one.operations)


def _opcodes(found: Sequence[tuple[str, int]]) -> str:
    shown = [name if count == 1 else f"{count:,} {name}" for name, count in found[:_OPCODES]]
    more = (
        f" and {units.plural(len(found) - _OPCODES, 'more kind')}" if len(found) > _OPCODES else ""
    )
    return ", ".join(shown) + more


def _table(found: SourceReport, seconds: float | None) -> Table:
    columns = (
        Column("Line"),
        Column("Function"),
        Column("Became", "text", "instructions of the final module that work for it"),
        Column("Least µs", "float", "an estimate; a fusion counts for the line of its root"),
        Column("Share", "percent", "of the least time of the module"),
        Column("Work", "flops"),
        Column("Traffic", "bytes"),
        Column("At the peak", "bytes", "of what it made, bytes that live when the most does"),
        Column("Given", "int", "StableHLO operations that the framework made for it"),
        Column("Before", "int", "instructions in the first snapshot"),
        Column("After", "int", "instructions in the final module"),
        Column("File"),
    )
    rows: list[list[Cell]] = [
        [
            one.place.short,
            one.place.function,
            _names(one.became, one.became_count),
            one.cost.seconds * 1e6,
            one.cost.seconds / seconds if seconds else None,
            one.cost.flops,
            one.cost.bytes_accessed,
            one.peak_bytes,
            one.stablehlo_count if found.has_stablehlo else None,
            one.before_count or None,
            one.cost.instructions,
            one.place.file,
        ]
        for one in found.lines
    ]
    return Table(columns, rows)


def _names(became: Sequence[Became], count: int) -> str:
    shown = ", ".join(f"%{one.instruction}" for one in became[:3])
    return f"{shown} and {count - 3:,} more" if count > 3 else shown
