"""Snapshots of other compilations under a module's name are left out, with what shows it."""

from pathlib import Path

from tests.test_program import BEGIN, END, WHOLE, read

BETWEEN = "module_0001.m.{:04d}.p.after_{}.before_{}.txt"


def test_before_and_after_of_different_runs_are_no_step(tmp_path: Path) -> None:
    module = read(tmp_path, {BEGIN: WHOLE, END: WHOLE.replace("f32[8]", "f32[16]")})
    assert [one.stage.name for one in module.snapshots] == ["after_optimizations"]
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
    assert [one.stage.name for one in module.snapshots] == [
        "before_optimizations",
        "after_optimizations",
    ]
    assert all("neither contents nor times" in one.message for one in module.problems)


def test_an_earlier_run_of_other_shapes_is_left_out(tmp_path: Path) -> None:
    other = WHOLE.replace("f32[8]", "f32[4]")
    files = {BEGIN: WHOLE, END: WHOLE}
    files |= {BETWEEN.format(0, "a", "b"): other, BETWEEN.format(0, "a", "c"): WHOLE}
    module = read(tmp_path, files)
    labels = [one.stage.label for one in module.snapshots]
    assert labels == ["before optimizations", "0000 p: after a, before c", "after optimizations"]
