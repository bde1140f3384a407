"""The page of a module's steps, where runs wrote under one name."""

from pathlib import Path
from typing import Any

from tests.analyzed import analyze_named

from xlareport.pages.steps.page import steps_page, steps_payload
from xlareport.report import BuildOptions, read_report


def test_snapshots_of_another_run_are_listed_with_the_evidence(tmp_path: Path) -> None:
    for name, size in (("before_optimizations", 64), ("after_optimizations", 32)):
        text = f"HloModule f\n\nENTRY %main {{\n  ROOT %p = f32[{size}] parameter(0)\n}}\n"
        (tmp_path / f"module_0000.f.{name}.txt").write_text(text)
    (view,) = read_report(tmp_path, BuildOptions(out=tmp_path)).modules
    evidence = "parameter 0 is f32[64] in it and f32[32] in the later snapshot"
    assert steps_page(view).left_out == (("before optimizations", evidence),)
    assert view.steps == 0


def _list_steps(tmp_path: Path, after: str) -> list[dict[str, Any]]:
    """Return the steps of a module that was partitioned before a snapshot of this name."""
    for name, size, entry in (("before_optimizations", 64, "main"), (after, 32, "main_spmd")):
        text = (
            f"HloModule f, num_partitions=2\n\nENTRY %{entry} {{\n"
            f"  %p = f32[{size}] parameter(0)\n  ROOT %t = f32[{size}] tanh(%p)\n}}\n"
        )
        (tmp_path / f"module_0000.f.{name}.txt").write_text(text)
    made = analyze_named(tmp_path)
    assert made.analysis.overview is not None
    payload = steps_payload(made.analysis.summary, made.analysis.overview, made.pipelines)
    return [step for step in payload["steps"] if step["changed"]]


def test_the_partitioner_is_named_where_it_left_no_snapshot(tmp_path: Path) -> None:
    """The next pipeline writes its first snapshot: that it began is not what made the change."""
    (step,) = _list_steps(tmp_path, "0006.spmd-cleanup.after_pipeline-start.before_dce")
    assert step["partitioner"] == "spmd-partitioning"


def test_a_step_of_the_whole_pipeline_is_not_the_partitioners(tmp_path: Path) -> None:
    (step,) = _list_steps(tmp_path, "sm_9.0_gpu_after_optimizations")
    assert "partitioner" not in step
    assert "after optimizations" in step["name"]


def test_the_partitioner_is_not_named_twice(tmp_path: Path) -> None:
    name = "0006.spmd-partitioner.after_spmd-partitioning.before_dce"
    (step,) = _list_steps(tmp_path, name)
    assert "partitioner" not in step
