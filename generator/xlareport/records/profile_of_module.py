"""A module's profile as a record of report.json; times in microseconds."""

from dataclasses import replace

from xlareport.analysis.profile.measured import Measured, MeasuredRow
from xlareport.records.profile import MeasuredOpView, MeasuredView
from xlareport.records.report import ModuleView

_MICROSECOND = 1e6
"""Picoseconds."""
_MOST = 20


def with_measured(view: ModuleView, found: Measured | None) -> ModuleView:
    """Return the record with what was measured; as it is where nothing was."""
    if found is None:
        return view
    made = MeasuredView(
        runs=found.told_apart,
        length=found.length / _MICROSECOND,
        busy=None if found.busy is None else found.busy / _MICROSECOND,
        events=found.events,
        joined=found.joined,
        twins=found.twins,
        others=found.others,
        slowest=tuple(_op(row, found) for row in found.rows[:_MOST]),
    )
    return replace(view, measured=made)


def _op(row: MeasuredRow, found: Measured) -> MeasuredOpView:
    time = row.time
    return MeasuredOpView(
        computation=row.computation,
        instruction=time.name,
        count=time.count,
        total=time.total / _MICROSECOND,
        own=time.own / _MICROSECOND,
        mean=time.mean / _MICROSECOND,
        spread=time.spread / _MICROSECOND,
        share=_share(time.own, found),
        least=None if row.least is None else row.least * 1e6,
    )


def _share(own: int, found: Measured) -> float:
    return own / found.length if found.length else 0.0
