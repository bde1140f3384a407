"""The page of one module of a comparison: figures, options, differences, measured times."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.compare.time_changes import ComparedTimes, TimeChange
from xlareport.analysis.tpu.compared_programs import ProgramSide, TpuProgramChange
from xlareport.pages import words
from xlareport.pages.compare.addresses import end_of
from xlareport.pages.compare.compared_figures import FigureRow, figure_rows
from xlareport.pages.compare.one_sided_collectives import collectives_table
from xlareport.pages.compare.operations import tabulate_operations
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Cell, Column, PartPage, Table, tabulate
from xlareport.records.compare import ComparedRecord, DifferenceRecord
from xlareport.runtime import units

_MOST_WORDS = 5
_CERTAIN = {True: "yes", False: "no", None: "not known"}


class TimesPart(Struct, frozen=True):
    """The part of a module's page on both profiles."""

    lead: str
    doubt: str
    left_out: int


def times_part(compared: ComparedRecord) -> TimesPart | None:
    """Return the part on profiles; None unless both sides have one."""
    if compared.times is None:
        return None
    doubt = "Several modules have this name; the one that ran is not known." * (
        compared.times.grade != "exact"
    )
    return TimesPart(times_words(compared.times), doubt, compared.times.left_out)


def times_words(times: ComparedTimes) -> str:
    """Return a sentence or two on the change of time."""
    before, after = (units.seconds(time / 1e6) for time in (times.before, times.after))
    slower = units.plural(times.slower, "instruction")
    became = f"{slower} slower outside noise" if times.slower else _nothing(times)
    runs = f"{units.plural(times.base_runs, 'run')} against {times.head_runs}"
    return f"A run took {before} in the base and {after} in the head ({runs}). {became}."


def _nothing(times: ComparedTimes) -> str:
    if any(
        instruction.certain is None and instruction.after > instruction.before
        for instruction in times.instructions
    ):
        return "Of instructions in both, none slower outside noise"
    return "Nothing slower outside noise"


def describe_slowest(compared: ComparedRecord) -> Iterator[str]:
    """Yield a line for each significantly slower or new instruction; the worst first."""
    slower = (
        [instruction for instruction in compared.times.instructions if _is_slower(instruction)]
        if compared.times
        else []
    )
    for change in slower[:_MOST_WORDS]:
        names = ", ".join(f"%{name}" for name in change.head)
        took = units.seconds((change.after - change.before) / 1e6)
        verb = "takes" if len(change.head) == 1 else "take"
        yield f"{names} {verb} {took} more: {change.what} [{change.grade}]"


def _is_slower(time_change: TimeChange) -> bool:
    return (
        time_change.after > time_change.before
        and bool(time_change.head)
        and (time_change.certain is True or not time_change.base)
    )


def tabulate_module(compared: ComparedRecord) -> Mapping[str, Table]:
    """Return the tables of operations, collectives and both profiles by their names."""
    tables = {}
    if compared.operations:
        collectives = compared.one_sided_collectives, compared.resized_collectives
        tables["operations"] = tabulate_operations(compared.operations, "", *collectives)
    if compared.one_sided_collectives:
        tables["collectives"] = collectives_table(compared.one_sided_collectives, end_of(compared))
    if compared.tpu_programs:
        tables["tpu-programs"] = tpu_programs_table(compared.tpu_programs)
    if compared.times is None:
        return tables
    return tables | {
        "times": _instructions(compared.times),
        "time-scopes": _scopes(compared.times),
    }


def _instructions(times: ComparedTimes) -> Table:
    return tabulate(
        times.instructions,
        {
            Column("In the head", "code", of="instruction"): lambda row: (
                ", ".join(row.head) or None
            ),
            Column(
                "Slower by µs", "float", "self time per run; negative where faster"
            ): lambda row: row.after - row.before,
            Column("Base µs", "float", "per run, without nested instructions"): lambda row: (
                row.before if row.base else None
            ),
            Column("Head µs", "float", "per run, without nested instructions"): lambda row: (
                row.after if row.head else None
            ),
            Column(
                "Outside noise", "text", "difference larger than two standard errors"
            ): lambda row: _CERTAIN[row.certain],
            Column("Change in compilation"): lambda row: row.what,
            Column("In the base", "code", of="instruction"): lambda row: (
                ", ".join(row.base) or None
            ),
            Column("Paired by", "chip"): lambda row: [row.grade, f"xr-{row.grade}"],
        },
        (1, "desc"),
    )


def _scopes(times: ComparedTimes) -> Table:
    return tabulate(
        times.scopes,
        {
            Column("Scope"): lambda row: row.scope,
            Column(
                "Slower by µs", "float", "self time of all its instructions per run"
            ): lambda row: row.after - row.before,
            Column("Base µs", "float"): lambda row: row.before,
            Column("Head µs", "float"): lambda row: row.after,
        },
        (1, "desc"),
    )


_NONE = "none"


class ComparedPage(PartPage, frozen=True):
    """The content of the page of one module."""

    name: str
    record: ComparedRecord
    lead: Markup
    figures: tuple[FigureRow, ...]
    options: tuple[tuple[str, str, str], ...]
    ports: tuple[tuple[str, str, str], ...]
    differences: tuple[tuple[str, str, Markup], ...]
    """(label, address, headline)."""
    times: TimesPart | None


def compared_page(compared: ComparedRecord) -> ComparedPage:
    """Return the page of one module."""
    return ComparedPage(
        name=words.short_name(compared.name),
        tables=tabulate_module(compared),
        record=compared,
        lead=prose(compared.divergence.sentence),
        figures=figure_rows(compared),
        options=tuple(
            (option.name, _option(option.base), _option(option.head)) for option in compared.options
        ),
        ports=tuple((port.what, port.base or _NONE, port.head or _NONE) for port in compared.ports),
        differences=tuple(
            (difference.label, f"#step={difference.id}", prose(_headline(difference)))
            for difference in compared.contrasts
        ),
        times=times_part(compared),
    )


def _headline(difference: DifferenceRecord) -> str:
    layouts = units.plural(
        difference.layouts, "instruction has another layout", "instructions have another layout"
    )
    return f"{difference.headline} {layouts}." if difference.layouts else difference.headline


def _option(value: str | None) -> str:
    return "default" if value is None else value


_NOTHING = ProgramSide(None, None, None, None, "", None)


def tpu_programs_table(changes: Sequence[TpuProgramChange]) -> Table:
    """Return the table, with base and head of each figure side by side."""
    units = [*dict.fromkeys(unit for change in changes for unit in _units(change))]
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Base cycles", "int", "dynamic: of one run with its loops, without stalls"),
        Column("Head cycles", "int", "dynamic: of one run with its loops, without stalls"),
        Column("Base static", "int", "cycles of one pass through the schedule"),
        Column("Head static", "int", "cycles of one pass through the schedule"),
        Column("Base spills", "int", "spill stores in the code"),
        Column("Head spills", "int", "spill stores in the code"),
        Column("Base bundles", "int", "in the final code"),
        Column("Head bundles", "int", "in the final code"),
        Column("Base bottleneck", "code"),
        Column("Head bottleneck", "code"),
        Column("Base share", "percent", "of the busiest unit"),
        Column("Head share", "percent", "of the busiest unit"),
        *(
            Column(f"{side} {unit}", "percent", "of its capacity, one pass")
            for unit in units
            for side in ("Base", "Head")
        ),
    )
    return Table(columns, [_program_row(change, units) for change in changes])


def _units(change: TpuProgramChange) -> Iterator[str]:
    """Yield the units of both sides."""
    for side in (change.base, change.head):
        yield from side.units if side else ()


def _program_row(change: TpuProgramChange, units: Sequence[str]) -> list[Cell]:
    base, head = change.base or _NOTHING, change.head or _NOTHING
    return [
        change.instruction,
        *(base.dynamic_cycles, head.dynamic_cycles),
        *(base.static_cycles, head.static_cycles),
        *(base.spill_stores, head.spill_stores),
        *(base.code_bundles, head.code_bundles),
        *(base.bottleneck or None, head.bottleneck or None),
        *(base.share, head.share),
        *(side.units.get(unit) for unit in units for side in (base, head)),
    ]
