"""Runs under the names of one module: told apart by a moment between them, else not."""

from pathlib import Path

from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, SnapshotFiles, group
from xlareport.dump.runs import is_mixed, written_with
from xlareport.dump.source import Entry

OLD = ("0001.p.after_a.before_b", "0002.p.after_b.before_c")
NEW = (
    "before_optimizations",
    "0001.p.after_a.before_x",
    "0002.p.after_x.before_c",
    "after_optimizations",
)


def stages(times: dict[str, float | None]) -> tuple[SnapshotFiles, ...]:
    paths = [f"module_0001.f.{name}.txt" for name in times]
    artifacts = [
        Artifact(Entry(path, 10, time, Path(path)), name)
        for path, time, name in zip(paths, times.values(), classify(paths), strict=True)
    ]
    (module,) = group(artifacts).modules
    return module.stages


def test_a_moment_between_two_runs_parts_their_snapshots() -> None:
    earlier = dict(zip(OLD, (10.0, 11.0), strict=True))
    mixed = stages(earlier | dict(zip(NEW, (20.0, 20.5, 21.0, 22.0), strict=True)))
    assert is_mixed(mixed)
    together = written_with(mixed, mixed[-1])
    assert together is not None
    assert [stage.key for stage in together] == [
        "before_optimizations",
        "0001",
        "0002",
        "after_optimizations",
    ]
    assert {stage.artifacts[0].entry.modified for stage in together} == {20.0, 20.5, 21.0, 22.0}


def test_runs_at_the_same_time_and_lost_times_tell_nothing() -> None:
    beside = dict(zip(OLD, (10.0, 21.0), strict=True))
    mixed = stages(beside | dict(zip(NEW, (9.0, 10.5, 11.0, 22.0), strict=True)))
    assert written_with(mixed, mixed[-1]) is None
    lost = stages(dict.fromkeys((*OLD, *NEW)))
    assert written_with(lost, lost[-1]) is None


def test_numbers_that_come_once_are_of_one_run() -> None:
    assert not is_mixed(stages(dict.fromkeys(NEW)))
