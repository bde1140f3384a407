"""The profile of a module in report.json; times in microseconds."""

from msgspec import Struct

from xlareport.analysis.profile.measured import Measured, MeasuredRow, PartialTrace

_MICROSECOND = 1e6
"""Picoseconds."""
_MOST_INSTRUCTIONS = 20


class MeasuredInstructionRecord(Struct, frozen=True):
    """One of the slowest instructions."""

    computation: str
    instruction: str
    count: int
    total: float
    """Includes instructions that ran inside it."""
    own: float
    mean: float
    spread: float
    """The standard deviation."""
    share: float
    """Of the time of all runs, 0 to 1; those of all can come to more than 1, as threads overlap."""
    least: float | None
    """Estimated minimum in one run of the module."""


class ProfileRecord(Struct, frozen=True):
    """The profile of a module."""

    runs: int | None
    """None if the profiler does not separate runs."""
    length: float
    """From the first event to the last of each run, summed."""
    busy: float | None
    """Time in which at least one instruction ran; None if unknown."""
    events: int
    joined: int
    """Events of instructions that the module has."""
    cut: PartialTrace | None
    """Events that were recorded too seldom, so that no time is that of a whole run; else None."""
    twins: tuple[str, ...]
    """Keys of other modules with the name that fit the profile equally well."""
    others: tuple[str, ...]
    """Keys of other modules with the name that have some of the instructions."""
    slowest: tuple[MeasuredInstructionRecord, ...]


def profile_record(measured: Measured | None) -> ProfileRecord | None:
    """Return the record of what a profiler saw, with the slowest instructions."""
    if measured is None:
        return None
    return ProfileRecord(
        runs=measured.distinct_runs,
        length=measured.length / _MICROSECOND,
        busy=None if measured.busy is None else measured.busy / _MICROSECOND,
        events=measured.events,
        joined=measured.joined,
        cut=measured.cut,
        twins=measured.twins,
        others=measured.others,
        slowest=tuple(_op(row, measured) for row in measured.rows[:_MOST_INSTRUCTIONS]),
    )


def _op(row: MeasuredRow, measured: Measured) -> MeasuredInstructionRecord:
    time = row.time
    return MeasuredInstructionRecord(
        computation=row.computation,
        instruction=time.name,
        count=time.count,
        total=time.total / _MICROSECOND,
        own=time.own / _MICROSECOND,
        mean=time.mean / _MICROSECOND,
        spread=time.spread / _MICROSECOND,
        share=measured.share(time.own),
        least=None if row.least is None else row.least * 1e6,
    )
