"""The profile of a module in report.json: microseconds, the slowest instructions."""

from types import SimpleNamespace

from msgspec.structs import replace

from xlareport.analysis.profile.instruction_times import OpTime, RunTime
from xlareport.analysis.profile.measured import Measured, MeasuredRow
from xlareport.records.profile import profile_record


def row(name: str, picoseconds: int, least: float | None = None) -> MeasuredRow:
    time = OpTime(name, 2, picoseconds, picoseconds // 2)
    return MeasuredRow("main", SimpleNamespace(name=name), time, "", "", least)  # type: ignore[arg-type]


MEASURED = Measured(
    runs=(RunTime("1", 0, 4_000_000, None), RunTime("2", 0, 4_000_000, None)),
    length=8_000_000,
    busy=6_000_000,
    events=9,
    joined=7,
    rows=tuple(row(f"dot.{at}", 2_000_000, 3e-6 if at == 0 else None) for at in range(30)),
    left_out=0,
    unknown=(),
    scopes=(),
    lines=(),
    twins=("other",),
)


def test_times_are_microseconds() -> None:
    record = profile_record(MEASURED)
    assert record is not None
    assert (record.runs, record.length, record.busy) == (2, 8.0, 6.0)
    first, second = record.slowest[:2]
    assert (first.total, first.own, first.mean, first.least) == (2.0, 1.0, 1.0, 3.0)
    assert first.share == 1 / 8
    assert second.least is None


def test_only_the_slowest_are_listed() -> None:
    record = profile_record(MEASURED)
    assert record is not None
    assert [each.instruction for each in record.slowest] == [f"dot.{at}" for at in range(20)]
    assert (record.events, record.joined, record.twins) == (9, 7, ("other",))


def test_what_is_not_known_is_null() -> None:
    unnamed = replace(MEASURED, runs=(RunTime("", 0, 1, None),), busy=None, length=0)
    record = profile_record(unnamed)
    assert record is not None
    assert (record.runs, record.busy) == (None, None)
    assert record.slowest[0].share == 0.0
    assert profile_record(None) is None
