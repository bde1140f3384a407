"""The tables of the page on collectives."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.collectives.rows import CollectiveRow, CollectivesReport
from xlareport.pages.collectives.groups import find_axes, label_groups
from xlareport.pages.collectives.reasons import cause_words, reason_words
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.shardings import MeshRecord
from xlareport.runtime.english import first_few, plain

_NAMES = 4


def collectives_tables(
    report: CollectivesReport, numbers: Mapping[str, str], mesh: MeshRecord | None = None
) -> Mapping[str, Table]:
    """Return the tables of the page by their names.

    `numbers` has number and pipeline of each snapshot by its label.
    """
    tables = {
        "collectives": _overview(report.rows, mesh),
        "origins": _origins(report.rows, numbers, mesh),
    }
    events = _events(report.rows)
    if events.rows:
        tables["trails"] = events
    members = _members(report.rows, mesh)
    if members.rows:
        tables["members"] = members
    tables["overlap"] = _overlap(report.rows, report.time_name)
    return tables


def _overview(rows: Sequence[CollectiveRow], mesh: MeshRecord | None) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Sent", "bytes", f"per device that sends and module execution; {_COUNTED}"),
        Column("Modeled µs", "float", "of all executions, by link bandwidth; not measured"),
        Column("Exposed µs", "float", "of all executions, less the time of what runs meanwhile"),
        Column("Cause"),
        Column("Groups", "text", "drawn below"),
        Column("Executions", "int", "per module execution; empty where it is not known"),
        Column("Kind", "code", of="opcode"),
        Column("Bytes", "bytes", "the full logical array: the larger of operands and result"),
        Column("Sent per execution", "bytes", "per device that sends; see Algorithm"),
        Column("Algorithm", "text", "ring, unless kernel_strategy in its config names another"),
        Column("Senders", "int", "devices that send"),
        Column("Modeled by", "text", "the bandwidth that the model has"),
        Column("Made by", "code", "the pass after which it first appears", of="pass"),
        Column("Not hidden because"),
        Column("op_name"),
        Column("Source"),
    )
    labels = label_groups(rows, mesh)
    return Table(columns, [_overview_cells(row, labels) for row in rows])


def _overview_cells(row: CollectiveRow, labels: Mapping[tuple[str, str], str]) -> list[Cell]:
    figures, origin = row.figures, row.origin
    overlap = figures.overlap
    return [
        row.collective.instruction,
        _sent(row),
        _of_all(row, figures.time.seconds),
        _of_all(row, overlap.exposed_seconds),
        origin.cause.value if origin.cause else None,
        labels[row.collective.key],
        figures.executions,
        row.collective.kind,
        figures.data_bytes,
        figures.wire_bytes,
        figures.algorithm,
        figures.senders,
        figures.time.reason,
        origin.after,
        overlap.reason.value if overlap.reason else None,
        row.op_name,
        row.source,
    ]


_CHEAPER = "not counted: cheaper branch"


def _sent(row: CollectiveRow) -> Cell:
    """Return the bytes that a device sends in all executions that the totals count."""
    figures = row.figures
    if figures.is_left_out:
        return _CHEAPER
    return None if figures.wire_bytes is None else figures.wire_bytes * figures.counted


def _of_all(row: CollectiveRow, seconds: float | None) -> float | None:
    """Return the microseconds of all executions that the totals count."""
    return (
        None
        if seconds is None or row.figures.is_left_out
        else round(seconds * row.figures.counted * 1e6, 3)
    )


_COUNTED = "unknown trip counts count once, conditionals as their costliest branch; see Algorithm"


def _origins(
    rows: Sequence[CollectiveRow], numbers: Mapping[str, str], mesh: MeshRecord | None
) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Why", "sentence", "scope and phase of the framework's op, axes, and the cause"),
        Column("Cause"),
        Column("Grade", "text", "exact if the snapshots show it"),
        Column("Value", "code", "before partitioning"),
        Column("Sharding before", "code", "of partial results those of the operands"),
        Column("Sharding after", "code"),
        Column("First in", "text", "the first snapshot that has it"),
    )
    return Table(columns, [_origin_cells(row, numbers, mesh) for row in rows])


def _origin_cells(
    row: CollectiveRow, numbers: Mapping[str, str], mesh: MeshRecord | None
) -> list[Cell]:
    origin, pair = row.origin, row.sharding
    return [
        row.collective.instruction,
        reason_words(row, find_axes(row, mesh), mesh),
        origin.cause.value if origin.cause else None,
        origin.grade,
        pair.value if pair else None,
        pair.from_ if pair else f"({row.sharding_reason})",
        (pair.to or f"({pair.to_reason})") if pair else None,
        numbers.get(origin.stage, origin.stage) if origin.stage else f"({origin.stage_reason})",
    ]


def _events(rows: Sequence[CollectiveRow]) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Event"),
        Column("Pass", "code", of="pass"),
        Column("What happened"),
        Column("Snapshot"),
        Column("Grade"),
    )
    cells: list[list[Cell]] = [
        [
            row.collective.instruction,
            event.event,
            event.by,
            plain(event.detail),
            event.stage,
            event.grade,
        ]
        for row in rows
        for event in row.trail
    ]
    return Table(columns, cells)


def _members(rows: Sequence[CollectiveRow], mesh: MeshRecord | None) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Member", "code", "in the snapshot that first has it"),
        Column("Shape", "code", of="shape"),
        Column("Bytes", "bytes"),
        Column("Cause"),
        Column("Why"),
        Column("op_name"),
        Column("Source"),
    )
    cells: list[list[Cell]] = [
        [
            row.collective.instruction,
            member.instruction,
            member.shape if len(member.shape) < 100 else f"{member.shape[:100]}...",
            member.data_bytes,
            member.origin.cause.value if member.origin.cause else None,
            cause_words(member.origin, member.sharding, mesh),
            member.op_name,
            member.source,
        ]
        for row in rows
        for member in row.members
    ]
    return Table(columns, cells)


_LESSER = "exposed time, or the time of independent work not run meanwhile, the lesser"


def _overlap(rows: Sequence[CollectiveRow], time_name: str) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Hidden µs", "float", "of all executions: modeled time less the exposed time"),
        Column("Exposed µs", "float", "of all executions: modeled time that nothing hides"),
        Column("Hideable µs", "float", f"upper bound of all executions: {_LESSER}"),
        Column("Work meanwhile µs", "float", f"of all executions: {time_name}, hiding or not"),
        Column("Form"),
        Column("Ends with", "code", of="instruction"),
        Column("Runs meanwhile", "code"),
        Column("Why not hidden"),
        Column("What to try"),
    )
    return Table(columns, [_overlap_cells(row) for row in rows])


def _overlap_cells(row: CollectiveRow) -> list[Cell]:
    collective, overlap = row.collective, row.figures.overlap
    thread = f", thread {collective.thread}" if collective.thread else ""
    sync = ", is_sync" if collective.is_sync else ""
    return [
        collective.instruction,
        _of_all(row, _hidden(row)),
        _of_all(row, overlap.exposed_seconds),
        _of_all(row, overlap.hideable_seconds),
        _of_all(row, overlap.work_seconds),
        f"{collective.form}{thread}{sync}",
        collective.done,
        _meanwhile(row),
        plain(overlap.reason_detail),
        row.remedy,
    ]


def _hidden(row: CollectiveRow) -> float | None:
    """Return the part of the modeled seconds of an execution that other work hides."""
    modeled, exposed = row.figures.time.seconds, row.figures.overlap.exposed_seconds
    return None if modeled is None or exposed is None else modeled - exposed


def _meanwhile(row: CollectiveRow) -> str:
    names = row.figures.overlap.between
    if names is None:
        return "none (synchronous)"
    if not names:
        return "none"
    return first_few([f"%{name}" for name in names[:_NAMES]], _NAMES, len(names))
