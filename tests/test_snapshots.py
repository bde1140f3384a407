"""Snapshots of other compilations under a module's name are left out, with what shows it."""

from pathlib import Path

from tests.test_program import BEGIN, END, WHOLE, read

from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, SnapshotFiles
from xlareport.dump.source import Entry
from xlareport.snapshots import has_repeated_numbers, snapshots_of_same_run

BETWEEN = "module_0001.m.{:04d}.p.after_{}.before_{}.txt"


def test_before_and_after_of_different_runs_are_no_step(tmp_path: Path) -> None:
    module = read(tmp_path, {BEGIN: WHOLE, END: WHOLE.replace("f32[8]", "f32[16]")})
    assert [snapshot.stage.name for snapshot in module.snapshots] == ["after_optimizations"]
    reasons = {stage.name: stage.left_out for stage in module.files.stages}
    evidence = "parameter 0 is f32[8] in it and f32[16] in the later snapshot"
    assert reasons == {"before_optimizations": evidence, "after_optimizations": ""}
    (problem,) = module.problems
    assert problem.path == BEGIN
    assert evidence in problem.message


def test_numbers_of_two_runs_that_nothing_tells_apart_leave_the_named_snapshots(
    tmp_path: Path,
) -> None:
    files = {BEGIN: WHOLE, END: WHOLE}
    files |= {BETWEEN.format(0, "a", "b"): WHOLE, BETWEEN.format(0, "a", "c"): WHOLE}
    module = read(tmp_path, files)
    assert [snapshot.stage.name for snapshot in module.snapshots] == [
        "before_optimizations",
        "after_optimizations",
    ]
    assert all("neither contents nor file times" in problem.message for problem in module.problems)


def test_an_earlier_run_of_other_shapes_is_left_out(tmp_path: Path) -> None:
    other = WHOLE.replace("f32[8]", "f32[4]")
    files = {BEGIN: WHOLE, END: WHOLE}
    files |= {BETWEEN.format(0, "a", "b"): other, BETWEEN.format(0, "a", "c"): WHOLE}
    module = read(tmp_path, files)
    labels = [snapshot.stage.label for snapshot in module.snapshots]
    assert labels == ["before optimizations", "0000 p: after a, before c", "after optimizations"]


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
    assert has_repeated_numbers(mixed)
    together = snapshots_of_same_run(mixed, mixed[-1])
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
    assert snapshots_of_same_run(mixed, mixed[-1]) is None
    lost = stages(dict.fromkeys((*OLD, *NEW)))
    assert snapshots_of_same_run(lost, lost[-1]) is None


def test_numbers_that_come_once_are_of_one_run() -> None:
    assert not has_repeated_numbers(stages(dict.fromkeys(NEW)))
