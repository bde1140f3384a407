"""Collectives in report.json: one record for each of the final snapshot of a module."""

from msgspec import Struct

from xlareport.analysis.collectives.events import NO_NAME
from xlareport.analysis.collectives.rows import (
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
    figures, collective, time = row.figures, row.collective, row.figures.time
    overlap = figures.overlap
    hidden = _why_hidden(row, is_scheduled=is_scheduled)
    why_not_modeled = hidden if overlap.exposed_seconds is None else None
    groups = figures.pairs or (figures.groups.groups if figures.groups else None)
    late = NotHiddenRecord(overlap.reason.value, overlap.reason_detail) if overlap.reason else None
    merged_by, merged_by_reason = _pass_of(row, "merged")
    split_by, split_by_reason = _pass_of(row, "split")
    moved_by, moved_by_reason = _pass_of(row, "moved")
    async_by, async_by_reason = _pass_of(row, "asynchronous", "synchronous", "fused")
    return CollectiveRecord(
        instruction=collective.instruction,
        computation=collective.computation,
        body=collective.body,
        done=collective.done or None,
        done_reason=_without(collective.done or None, "one instruction begins and ends it"),
        parts=collective.parts[:_MOST_NAMES],
        kind=collective.kind,
        form=collective.form,
        is_sync=collective.is_sync,
        is_sync_reason=_without(collective.is_sync, "the backend notes nothing"),
        thread=collective.thread,
        shape=row.shape,
        bytes=figures.data_bytes,
        bytes_reason=_without(figures.data_bytes, "a shape is not known"),
        wire_bytes=figures.wire_bytes,
        wire_bytes_reason=_without(figures.wire_bytes, _NO_TRAFFIC),
        algorithm=figures.algorithm,
        senders=figures.senders,
        senders_reason=_without(figures.senders, _NO_TRAFFIC),
        executions=figures.executions,
        executions_reason=_without(figures.executions, "a trip count is not known"),
        group_size=figures.group_size,
        group_size_reason=_without(figures.group_size, "the form of the groups is not known"),
        groups=groups[:_MOST_GROUPS] if groups else None,
        groups_reason=None if groups else _why_no_groups(row),
        groups_text=row.groups_text,
        origin=row.origin,
        merged_by=merged_by,
        merged_by_reason=merged_by_reason,
        split_by=split_by,
        split_by_reason=split_by_reason,
        moved_by=moved_by,
        moved_by_reason=moved_by_reason,
        async_by=async_by,
        async_by_reason=async_by_reason,
        trail=row.trail,
        members=tuple(map(_member, row.members)),
        sharding=row.sharding,
        sharding_reason=_without(row.sharding, row.sharding_reason),
        op_name=row.op_name or None,
        op_name_reason=None if row.op_name else "the instruction has no op_name",
        source=row.source or None,
        source_reason=None if row.source else "the instruction has no source line",
        time_us=_microseconds(time.seconds),
        time_us_reason=time.reason,
        exposed_us=_microseconds(overlap.exposed_seconds),
        exposed_us_reason=why_not_modeled,
        hideable_us=_microseconds(overlap.hideable_seconds),
        hideable_us_reason=why_not_modeled,
        is_validated=False,
        overlaps=overlap.between and overlap.between[:_MOST_NAMES],
        overlaps_reason=_without(overlap.between, "it runs synchronously"),
        not_hidden=late,
        not_hidden_reason=None if late else hidden,
        remedy=row.remedy,
    )


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


def _pass_of(row: CollectiveRow, *events: str) -> tuple[str | None, str | None]:
    """Return the last pass that did any of these to a collective, or why there is none."""
    done = [event for event in row.trail if event.event in events]
    if not done:
        return None, row.trail_reason or f"no snapshot shows it {events[0]}"
    by = done[-1].by
    return by, _without(by, row.trail_reason or NO_NAME)


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
    )
