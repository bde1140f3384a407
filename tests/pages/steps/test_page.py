"""The page of a module's steps, where runs wrote under one name."""

from pathlib import Path

from xlareport.pages.steps.page import steps_page
from xlareport.report import BuildOptions, read_report


def test_snapshots_of_another_run_are_listed_with_the_evidence(tmp_path: Path) -> None:
    for name, size in (("before_optimizations", 64), ("after_optimizations", 32)):
        text = f"HloModule f\n\nENTRY %main {{\n  ROOT %p = f32[{size}] parameter(0)\n}}\n"
        (tmp_path / f"module_0000.f.{name}.txt").write_text(text)
    (view,) = read_report(tmp_path, BuildOptions(out=tmp_path)).modules
    evidence = "parameter 0 is f32[64] in it and f32[32] in the later snapshot"
    assert steps_page(view).left_out == (("before optimizations", evidence),)
    assert view.steps == 0
