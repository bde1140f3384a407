"""The page on what a profiler measured: slowest instructions, scopes, lines, runs, what is left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from xlareport.analysis.profile.measured import Measured, MeasuredRow, Sum
from xlareport.analysis.profile.times import OpTime
from xlareport.pages import navigation, words
from xlareport.pages.figures import Figure
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.report import ModuleView
from xlareport.runtime import units

_MICROSECOND = 1e6
"""Picoseconds."""
_SECOND = 1e12
_MOST_RUNS = 10_000
_MOST_UNKNOWN = 1_000


@dataclass(frozen=True, slots=True)
class MeasuredPage:
    """Everything on the page beside its tables."""

    name: str
    module: str
    """As profilers call it."""
    lead: str
    doubt: str
    figures: tuple[Figure, ...]
    timeline_key: str
    ops_key: str
    left_out: int
    scopes_key: str
    lines_key: str
    runs_key: str
    unknown: str
    unknown_key: str | None


def measured_page(view: ModuleView, found: Measured) -> MeasuredPage:
    """Make the page of one module."""
    key = {name: navigation.table_key(view.slug, name) for name in _TABLES}
    return MeasuredPage(
        name=words.short_name(view.name),
        module=view.name,
        lead=_lead(found),
        doubt=_doubt(found),
        figures=tuple(_figures(found)),
        timeline_key=navigation.timeline_key(view.slug),
        ops_key=key["times"],
        left_out=found.left_out,
        scopes_key=key["time-scopes"],
        lines_key=key["time-lines"],
        runs_key=key["time-runs"],
        unknown=_unknown(found),
        unknown_key=key["time-unknown"] if found.unknown else None,
    )


_TABLES = ("times", "time-scopes", "time-lines", "time-runs", "time-unknown")


def measured_tables(view: ModuleView, found: Measured) -> Mapping[str, Table]:
    """Return the tables of the page as payloads by their key."""
    tables = {
        "times": _ops(view, found),
        "time-scopes": _sums("Scope", found.scopes, found),
        "time-lines": _sums("Line", found.lines, found),
        "time-runs": _runs(found),
    }
    if found.unknown:
        tables["time-unknown"] = _unknown_ops(found.unknown)
    return {navigation.table_key(view.slug, name): table for name, table in tables.items()}


def _lead(found: Measured) -> str:
    slowest = [f"%{row.time.name}" for row in found.rows[:3]]
    share = units.share(sum(_share(row.time.own, found) for row in found.rows[:3]))
    most = f" Most time went to {', '.join(slowest)}: {share} of it." if slowest else ""
    runs = found.told_apart
    if not runs:
        times = f" run {units.plural(found.entered, 'time')}, to go by" if found.entered else ""
        known = f"{times} the instructions of its entry" if times else ""
        return f"A profiler saw this module{known}, but does not tell one run from another.{most}"
    mean = _time(found.length // runs)
    return (
        f"A profiler saw {units.plural(runs, 'run')} of this module, {mean} each on average.{most}"
    )


def _doubt(found: Measured) -> str:
    if found.twins:
        has = "has" if len(found.twins) == 1 else "have"
        return (
            f"{units.plural(len(found.twins), 'other module')} of this name {has} these "
            "instructions as well: which of them ran, the profile does not tell."
        )
    if found.others:
        return (
            f"{units.plural(len(found.others), 'other module')} of this name may have run as well: "
            "runs are counted together, and so are times of instructions with the same name."
        )
    return ""


def _figures(found: Measured) -> list[Figure]:
    runs = found.told_apart
    shown = [
        Figure("Runs", "-" if runs is None else units.count(runs), "that the profiler saw"),
        Figure("All runs", _time(found.length), "from the first event of each to its last"),
    ]
    if found.busy is not None:
        idle = found.length - found.busy
        part = units.share(idle / found.length) if found.length else "0%"
        shown.append(Figure("Instructions ran", _time(found.busy), "at least one of them"))
        shown.append(Figure("Unexplained", _time(idle), f"{part}: no instruction ran then"))
    joined = f"{units.count(found.joined)} of {units.count(found.events)}"
    shown.append(Figure("Events joined", joined, "to instructions of the final snapshot, by name"))
    return shown


def _unknown(found: Measured) -> str:
    count = sum(one.count for one in found.unknown)
    beyond = found.events - found.joined - count
    late = (
        f" {units.plural(beyond, 'event')} came after too many runs: not counted." if beyond else ""
    )
    if not count:
        return f"Every event is that of an instruction of the final snapshot.{late}"
    events, names = units.plural(count, "event"), units.plural(len(found.unknown), "name")
    return f"{events} of {names} that the final snapshot does not have.{late}"


def _ops(view: ModuleView, found: Measured) -> Table:
    traced = "Its history" if view.changed_steps else "What is around it"
    columns = (
        Column("Instruction", "link", f"{traced}, on the module's page", of="instruction"),
        Column("Picture", "link", "What is around it, at the end"),
        Column("Own ms", "float", "all runs, without what ran inside of it"),
        Column("Share", "percent", "of the time of all runs; threads overlap"),
        Column("Least µs", "float", "in one run of the module, by estimate"),
        Column("Times least", "float", "own time in one run, in parts of the least"),
        Column("Made by", "link", "the step that made it; of the slowest"),
        Column("Mean µs", "float", "of one time that it ran"),
        Column("Spread µs", "float", "standard deviation"),
        Column("Count", "int", "how often it ran"),
        Column("Total ms", "float", "what ran inside of it included"),
        Column("Work", "flops", "in one run of the module, by our count"),
        Column("Traffic", "bytes", "read and written in one run of the module, by our count"),
        Column("Opcode", "code", of="opcode"),
        Column("Scope"),
        Column("Source"),
        Column("First seen µs", "float", "the time stamp in the profile"),
    )
    module = navigation.address(navigation.module_page(view.slug))
    rows = [[*_ways(row, view, module), *_op_row(row, view, found)] for row in found.rows]
    return Table(columns, rows, (2, "desc"))


def _ways(row: MeasuredRow, view: ModuleView, module: str) -> list[Cell]:
    """Lead to the history of an instruction, where the module has any, and to its picture."""
    name = quote(row.time.name)
    asked = "i" if view.changed_steps else "node"
    return [[row.time.name, f"{module}#{asked}={name}"], ["picture", f"{module}#node={name}"]]


def _maker(row: MeasuredRow, view: ModuleView, found: Measured) -> Cell:
    """Lead to the step that made an instruction; None where it was not looked for."""
    step, words = found.made.get(row.time.name, (None, None))
    return [words, navigation.step_address(view.slug, step)] if step and words else words


def _op_row(row: MeasuredRow, view: ModuleView, found: Measured) -> list[Cell]:
    time = row.time
    least = row.least if row.least and found.told_apart else None
    return [
        time.own / 1e9,
        _share(time.own, found),
        row.least * 1e6 if row.least else None,
        time.own / (found.told_apart or 1) / _SECOND / least if least else None,
        _maker(row, view, found),
        time.mean / _MICROSECOND,
        time.spread / _MICROSECOND,
        time.count,
        time.total / 1e9,
        *found.work.get(time.name, (None, None)),
        row.instruction.opcode,
        row.op_name,
        row.line,
        time.first / _MICROSECOND,
    ]


def _sums(title: str, sums: Sequence[Sum], found: Measured) -> Table:
    columns = (
        Column(title),
        Column("Own ms", "float", "of all its instructions in all runs"),
        Column("Share", "percent", "of the time of all runs"),
        Column("Instructions", "int"),
    )
    rows: list[list[Cell]] = [
        [one.name, one.own / 1e9, _share(one.own, found), one.instructions] for one in sums
    ]
    return Table(columns, rows, (1, "desc"))


def _runs(found: Measured) -> Table:
    columns = (
        Column("Run", "int", "in the order of time"),
        Column("Its name", "code", "as the profiler has it"),
        Column("Began µs", "float", "the time stamp in the profile"),
        Column("Took ms", "float", "from its first event to its last"),
        Column("Instructions ran ms", "float", "at least one of them"),
        Column("Unexplained ms", "float"),
    )
    rows: list[list[Cell]] = [
        [
            number,
            one.name or None,
            one.start / _MICROSECOND,
            one.length / 1e9,
            None if one.busy is None else one.busy / 1e9,
            None if one.busy is None else (one.length - one.busy) / 1e9,
        ]
        for number, one in enumerate(found.runs[:_MOST_RUNS], 1)
    ]
    return Table(columns, rows)


def _unknown_ops(found: Sequence[OpTime]) -> Table:
    columns = (
        Column("Name", "code"),
        Column("Own ms", "float"),
        Column("Count", "int"),
        Column("First seen µs", "float"),
    )
    rows: list[list[Cell]] = [
        [one.name, one.own / 1e9, one.count, one.first / _MICROSECOND]
        for one in found[:_MOST_UNKNOWN]
    ]
    return Table(columns, rows, (1, "desc"))


def _share(own: int, found: Measured) -> float:
    return own / found.length if found.length else 0.0


def _time(picoseconds: int) -> str:
    return units.seconds(picoseconds / _SECOND)
