"""Collectives in report.json: one record for each of the final snapshot of a module."""

from msgspec import Struct

from xlareport.analysis.collectives.collective_events import NO_NAME
from xlareport.analysis.collectives.collective_rows import (
    CollectiveMember,
    CollectiveOrigin,
    CollectiveRow,
    CollectivesReport,
    TrailEvent,
)
from xlareport.analysis.collectives.sharding_pair import ShardingPair

_MOST_COLLECTIVES = 2_000
"""Collectives of a module; the first of the schedule."""
_MOST_NAMES = 200
_MOST_GROUPS = 1_024
_NO_TRAFFIC = "the group or a shape is not known"


class CollectiveMemberRecord(Struct, frozen=True):
    """One of the collectives that a combiner pass merged into this one."""

    instruction: str
    """Where it first is."""
    stage: str | None
    kind: str
    shape: str
    bytes: int | None
    op_name: str
    source: str
    cause: str | None
    detail: str
    sharding: ShardingPair | None
    sharding_reason: str | None
    folded: tuple[str, ...] = ()
    """The collectives whose results it read, which a pass folded into it."""


class NotHiddenRecord(Struct, frozen=True):
    """Why more of a collective is not hidden."""

    reason: str
    """`dependence`, `is_sync`, `scheduler limit` or `no independent work`."""
    detail: str


class CollectiveRecord(Struct, frozen=True):
    """One collective of the final snapshot. Figures are for one execution on one device.

    A value that is null has a reason in the key of its name with `_reason`.
    """

    instruction: str
    """The first scheduled instruction: the collective, its start, or its fusion."""
    computation: str
    body: tuple[str, str]
    """(computation, instruction) of the collective's own opcode."""
    done: str | None
    done_reason: str | None
    parts: tuple[str, ...]
    """Every instruction that carries it out."""
    kind: str
    form: str
    """`synchronous`, `start and done`, `async computation`, `fusion` or `async fusions`."""
    is_sync: bool | None
    """Whether the backend config of the start says `is_sync`; null if it says nothing."""
    is_sync_reason: str | None
    thread: str
    shape: str
    bytes: int | None
    """The full logical array: the larger of operands and result."""
    bytes_reason: str | None
    wire_bytes: int | None
    """Bytes that one of the devices that send sends in a group of n, by `algorithm`.

    By a ring 2(n-1)/n of the bytes of an all-reduce, (n-1)/n of an all-gather, reduce-scatter or
    all-to-all, and all of a permute; of a one-shot all-reduce n-1 times the bytes.
    """
    wire_bytes_reason: str | None
    algorithm: str
    """`ring`, unless `kernel_strategy` in its config names a `one-shot` or `two-shot` kernel."""
    senders: int | None
    """How many devices send: all, but of a collective-permute those in its pairs."""
    senders_reason: str | None
    executions: int | None
    """Per execution of the module, loops multiplied by trip count."""
    executions_reason: str | None
    group_size: int | None
    group_size_reason: str | None
    groups: tuple[tuple[int, ...], ...] | None
    """Device ids; pairs of sender and receiver of a collective-permute."""
    groups_reason: str | None
    groups_text: str
    """As written."""
    origin: CollectiveOrigin
    merged_by: str | None
    merged_by_reason: str | None
    split_by: str | None
    split_by_reason: str | None
    moved_by: str | None
    moved_by_reason: str | None
    async_by: str | None
    """The last pass that made it asynchronous, or synchronous again."""
    async_by_reason: str | None
    trail: tuple[TrailEvent, ...]
    """Everything that passes did to it, in order."""
    members: tuple[CollectiveMemberRecord, ...]
    """The collectives that a combined one was made of."""
    sharding: ShardingPair | None
    sharding_reason: str | None
    op_name: str | None
    op_name_reason: str | None
    source: str | None
    source_reason: str | None
    time_us: float | None
    """By the model of the interconnect."""
    time_us_reason: str
    """The basis of the time, or why there is none."""
    exposed_us: float | None
    """time_us minus the roofline time of the overlapping work, at least 0."""
    exposed_us_reason: str | None
    hideable_us: float | None
    """Upper bound of what more overlap hides: exposed_us, or the roofline time of independent work
    that does not run meanwhile if that is less."""
    hideable_us_reason: str | None
    is_validated: bool
    """Whether the times were compared with a trace; always false in this version."""
    overlaps: tuple[str, ...] | None
    """The instructions between start and done; null if it is synchronous."""
    overlaps_reason: str | None
    not_hidden: NotHiddenRecord | None
    not_hidden_reason: str | None
    remedy: str


def collective_records(
    collectives: CollectivesReport | None,
) -> tuple[CollectiveRecord, ...]:
    """Return the records of the collectives of a module, in the order of the schedule."""
    rows = collectives.rows[:_MOST_COLLECTIVES] if collectives is not None else ()
    is_scheduled = collectives is not None and collectives.is_scheduled
    return tuple(_record(row, is_scheduled=is_scheduled) for row in rows)


def _record(row: CollectiveRow, *, is_scheduled: bool) -> CollectiveRecord:
    figures, collective, overlap = row.figures, row.collective, row.figures.overlap
    groups = figures.pairs or (figures.groups.groups if figures.groups else None)
    late = NotHiddenRecord(overlap.reason.value, overlap.reason_detail) if overlap.reason else None
    return CollectiveRecord(
        instruction=collective.instruction,
        computation=collective.computation,
        body=collective.body,
        done=collective.done or None,
        parts=collective.parts[:_MOST_NAMES],
        kind=collective.kind,
        form=collective.form,
        is_sync=collective.is_sync,
        thread=collective.thread,
        shape=row.shape,
        bytes=figures.data_bytes,
        wire_bytes=figures.wire_bytes,
        algorithm=figures.algorithm,
        senders=figures.senders,
        executions=figures.executions,
        group_size=figures.group_size,
        groups=groups[:_MOST_GROUPS] if groups else None,
        groups_text=row.groups_text,
        origin=row.origin,
        trail=row.trail,
        members=tuple(map(_member, row.members)),
        sharding=row.sharding,
        op_name=row.op_name or None,
        source=row.source or None,
        time_us=_microseconds(figures.time.seconds),
        time_us_reason=figures.time.reason,
        exposed_us=_microseconds(overlap.exposed_seconds),
        hideable_us=_microseconds(overlap.hideable_seconds),
        is_validated=False,
        overlaps=overlap.between and overlap.between[:_MOST_NAMES],
        not_hidden=late,
        remedy=row.remedy,
        **_passes(row),
        **_reasons(row, _why_hidden(row, is_scheduled=is_scheduled)),
    )


def _reasons(row: CollectiveRow, hidden: str) -> dict[str, str | None]:
    """Return why values are not known, by the fields of the record; None where they are."""
    figures, collective, overlap = row.figures, row.collective, row.figures.overlap
    has_groups = figures.pairs or (figures.groups and figures.groups.groups)
    reasons = {
        "done": _without(collective.done or None, "one instruction begins and ends it"),
        "is_sync": _without(collective.is_sync, "the backend notes nothing"),
        "bytes": _without(figures.data_bytes, "a shape is not known"),
        "wire_bytes": _without(figures.wire_bytes, _NO_TRAFFIC),
        "senders": _without(figures.senders, _NO_TRAFFIC),
        "executions": _without(figures.executions, "a trip count is not known"),
        "group_size": _without(figures.group_size, "the form of the groups is not known"),
        "groups": None if has_groups else _why_no_groups(row),
        "sharding": _without(row.sharding, row.sharding_reason),
        "op_name": None if row.op_name else "the instruction has no op_name",
        "source": None if row.source else "the instruction has no source line",
        "exposed_us": _without(overlap.exposed_seconds, hidden),
        "hideable_us": _without(overlap.exposed_seconds, hidden),
        "overlaps": _without(overlap.between, "it runs synchronously"),
        "not_hidden": None if overlap.reason else hidden,
    }
    return {f"{name}_reason": reason for name, reason in reasons.items()}


def _without(value: object, reason: str | None) -> str | None:
    """Return why a value is None; None where it is known."""
    return reason if value is None else None


def _microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6


def _why_no_groups(row: CollectiveRow) -> str:
    if row.collective.kind == "collective-permute" and row.groups_text == "{}":
        return "no device sends"
    if row.groups_text in ("", "{}"):
        return "all devices take part"
    return "too many devices to list" if row.figures.groups else "the form is not known"


def _why_hidden(row: CollectiveRow, *, is_scheduled: bool) -> str:
    if not is_scheduled:
        return "the module is not scheduled"
    if row.figures.time.seconds is None:
        return row.figures.time.reason
    return "what runs meanwhile takes as long by estimate"


_EVENTS = {
    "merged_by": ("merged",),
    "split_by": ("split",),
    "moved_by": ("moved",),
    "async_by": ("asynchronous", "synchronous", "fused"),
}


def _passes(row: CollectiveRow) -> dict[str, str | None]:
    """Return the last pass that did each kind of event, or why there is none, by fields."""
    fields: dict[str, str | None] = {}
    for name, events in _EVENTS.items():
        passes = [event.by for event in row.trail if event.event in events]
        missing = NO_NAME if passes else f"no snapshot shows it {events[0]}"
        by = passes[-1] if passes else None
        fields |= {name: by, f"{name}_reason": _without(by, row.trail_reason or missing)}
    return fields


def _member(member: CollectiveMember) -> CollectiveMemberRecord:
    return CollectiveMemberRecord(
        instruction=member.instruction,
        stage=member.stage,
        kind=member.kind,
        shape=member.shape,
        bytes=member.data_bytes,
        op_name=member.op_name,
        source=member.source,
        cause=member.origin.cause_name,
        detail=member.origin.detail,
        sharding=member.sharding,
        sharding_reason=_without(member.sharding, member.sharding_reason),
        folded=member.folded[:_MOST_NAMES],
    )
