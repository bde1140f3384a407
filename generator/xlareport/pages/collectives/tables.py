"""The tables of the page on collectives."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_rows import (
    CollectiveMember,
    CollectiveRow,
    CollectivesReport,
)
from xlareport.analysis.collectives.schedule import WaitReason
from xlareport.pages.collectives.collective_reasons import cause_words, describe_reason
from xlareport.pages.collectives.replica_groups import find_axes, label_groups
from xlareport.pages.tables import Cell, Column, Table, tabulate
from xlareport.records.shardings import MeshRecord
from xlareport.runtime.english import first_few, plain

_NAMES = 4


def tabulate_collectives(
    report: CollectivesReport, numbers: Mapping[str, str], mesh: MeshRecord | None = None
) -> Mapping[str, Table]:
    """Return the tables of the page by their names.

    `numbers` has number and pipeline of each snapshot by its label.
    """
    tables = {
        "collectives": _overview(report.rows, mesh),
        "origins": _origins(report.rows, numbers, mesh),
    }
    events = _events_table(report.rows)
    if events.rows:
        tables["trails"] = events
    members = _members_table(report.rows, mesh)
    if members.rows:
        tables["members"] = members
    tables["overlap"] = _overlap(report.rows, report.time_name)
    return tables


def _overview(rows: Sequence[CollectiveRow], mesh: MeshRecord | None) -> Table:
    labels = label_groups(rows, mesh)
    return tabulate(
        rows,
        {
            Column("Collective", "code", of="instruction"): lambda row: row.collective.instruction,
            Column(
                "Sent", "bytes", f"per device that sends and module execution; {_COUNTED}"
            ): _sent,
            Column(
                "Modeled µs", "float", "of all executions, by link bandwidth; not measured"
            ): lambda row: _of_all(row, row.figures.time.seconds),
            Column(
                "Exposed µs", "float", "of all executions, less the time of what runs meanwhile"
            ): lambda row: _of_all(row, row.figures.overlap.exposed_seconds),
            Column("Cause"): lambda row: row.origin.cause_name,
            Column("Groups", "text", "drawn below"): lambda row: labels[row.collective.key],
            Column(
                "Executions",
                "int",
                "per module execution, else per iteration of the innermost loop of unknown count",
            ): _executions,
            Column("Kind", "code", of="opcode"): lambda row: row.collective.kind,
            Column(
                "Bytes", "bytes", "the full logical array: the larger of operands and result"
            ): lambda row: row.figures.data_bytes,
            Column(
                "Sent per execution", "bytes", "per device that sends; see Algorithm"
            ): lambda row: row.figures.wire_bytes,
            Column(
                "Algorithm", "text", "ring, unless kernel_strategy in its config names another"
            ): lambda row: row.figures.algorithm,
            Column("Senders", "int", "devices that send"): lambda row: row.figures.senders,
            Column("Modeled by", "text", "the bandwidth that the model has"): lambda row: (
                row.figures.time.reason
            ),
            Column(
                "Made by", "code", "the pass after which it first appears", of="pass"
            ): lambda row: row.origin.after,
            Column("Not hidden because"): lambda row: _wait_words(row.figures.overlap.reason),
            Column("op_name"): lambda row: row.op_name,
            Column("Source"): lambda row: row.source,
        },
    )


def _executions(row: CollectiveRow) -> Cell:
    """Return how often a collective runs per module execution, else per iteration of a loop."""
    figures = row.figures
    if figures.executions is not None or figures.per_iteration is None:
        return figures.executions
    return f"{figures.per_iteration:,} per iteration"


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
    return tabulate(
        rows,
        {
            Column("Collective", "code", of="instruction"): lambda row: row.collective.instruction,
            Column(
                "Why", "sentence", "scope and phase of the framework's op, axes, and the cause"
            ): lambda row: describe_reason(row, find_axes(row, mesh), mesh),
            Column("Cause"): lambda row: row.origin.cause_name,
            Column("Grade", "text", "exact if the snapshots show it"): lambda row: row.origin.grade,
            Column("Value", "code", "before partitioning"): lambda row: (
                row.sharding.value if row.sharding else None
            ),
            Column(
                "Sharding before", "code", "of partial results those of the operands"
            ): _sharding_before,
            Column("Sharding after", "code"): lambda row: (
                (row.sharding.to or f"({row.sharding.to_reason})") if row.sharding else None
            ),
            Column("First in", "text", "the first snapshot that has it"): lambda row: (
                numbers.get(row.origin.stage, row.origin.stage)
                if row.origin.stage
                else f"({row.origin.stage_reason})"
            ),
        },
    )


def _sharding_before(row: CollectiveRow) -> str | None:
    """Return the sharding before, or why none is known; the cause says it of the program's own."""
    if row.sharding:
        return row.sharding.from_
    is_own = row.origin.cause is CauseKind.USER
    return None if is_own else f"({row.sharding_reason})"


def _events_table(rows: Sequence[CollectiveRow]) -> Table:
    events = ((row.collective.instruction, event) for row in rows for event in row.trail)
    return tabulate(
        events,
        {
            Column("Collective", "code", of="instruction"): lambda pair: pair[0],
            Column("Event"): lambda pair: pair[1].event,
            Column("Pass", "code", of="pass"): lambda pair: pair[1].by,
            Column("What happened"): lambda pair: plain(pair[1].detail),
            Column("Snapshot"): lambda pair: pair[1].stage,
            Column("Grade"): lambda pair: pair[1].grade,
        },
    )


def _members_table(rows: Sequence[CollectiveRow], mesh: MeshRecord | None) -> Table:
    members = ((row.collective.instruction, member) for row in rows for member in row.members)
    return tabulate(
        members,
        {
            Column("Collective", "code", of="instruction"): lambda pair: pair[0],
            Column("Member", "code", "in the snapshot that first has it"): lambda pair: (
                pair[1].instruction
            ),
            Column("Shape", "code", of="shape"): lambda pair: _short_shape(pair[1].shape),
            Column("Bytes", "bytes"): lambda pair: pair[1].data_bytes,
            Column("Cause"): lambda pair: pair[1].origin.cause_name,
            Column("Why", "sentence"): lambda pair: _member_words(pair[1], mesh),
            Column("op_name"): lambda pair: pair[1].op_name,
            Column("Source"): lambda pair: pair[1].source,
        },
    )


def _member_words(member: CollectiveMember, mesh: MeshRecord | None) -> str:
    """Return why there is a member, and what a pass folded into it."""
    why = cause_words(member.origin, member.sharding, mesh)
    if not member.folded:
        return why
    were = "was" if len(member.folded) == 1 else "were"
    return f"{why} {first_few([*member.folded], _NAMES)}, which it read, {were} folded into it."


def _short_shape(shape: str) -> str:
    return shape if len(shape) < 100 else f"{shape[:100]}..."


_LESSER = "exposed time, or the time of independent work not run meanwhile, the lesser"


def _overlap(rows: Sequence[CollectiveRow], time_name: str) -> Table:
    return tabulate(
        rows,
        {
            Column("Collective", "code", of="instruction"): lambda row: row.collective.instruction,
            Column(
                "Hidden µs", "float", "of all executions: modeled time less the exposed time"
            ): lambda row: _of_all(row, _hidden(row)),
            Column(
                "Exposed µs", "float", "of all executions: modeled time that nothing hides"
            ): lambda row: _of_all(row, row.figures.overlap.exposed_seconds),
            Column(
                "Hideable µs", "float", f"upper bound of all executions: {_LESSER}"
            ): lambda row: _of_all(row, row.figures.overlap.hideable_seconds),
            Column(
                "Work meanwhile µs", "float", f"of all executions: {time_name}, hiding or not"
            ): lambda row: _of_all(row, row.figures.overlap.work_seconds),
            Column("Form"): _form_words,
            Column("Ends with", "code", of="instruction"): lambda row: row.collective.done,
            Column("Runs meanwhile", "code"): _meanwhile,
            Column("Why not hidden"): lambda row: plain(row.figures.overlap.reason_detail),
            Column("What to try"): lambda row: row.remedy,
        },
    )


def _form_words(row: CollectiveRow) -> str:
    collective = row.collective
    thread = f", thread {collective.thread}" if collective.thread else ""
    return f"{collective.form}{thread}{', is_sync' if collective.is_sync else ''}"


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


def _wait_words(reason: WaitReason | None) -> str | None:
    """Return a reason as the page has it: that `is_sync` is written holds for GPUs alone."""
    if reason is None:
        return None
    return "synchronous" if reason is WaitReason.IS_SYNC else reason.value
