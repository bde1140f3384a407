"""Where the time of the main program goes, on the home page of a real dump."""

from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.analysis.cost.phases import IN_A_LOOP
from xlareport.pages.home.time import HUES, shares_bar, time_view
from xlareport.report import BuildOptions, build


def test_phases_and_treemap_stand_on_the_home_page(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    build(unpacked("gpu-h100x2-train"), BuildOptions(out=tmp_path, html=False))
    home = unescape((tmp_path / "site_src/index.md").read_text())
    assert "By phase" in home
    assert all(f"</i>{phase} " in home for phase in ("forward", "backward"))
    assert "xr-treemap" in home
    assert ".html#t=m/module_0001.jit_train_step/instructions&q=%2F" in home
    assert "memory_analysis()" in home


def test_nothing_counted_is_nothing_shown() -> None:
    assert time_view(None, "x") is None


def test_parts_sum_to_the_whole_and_the_unnamed_come_last() -> None:
    bar = shares_bar("By phase", [("a", 3.0), ("", 1.0), ("b", 4.0), ("none", 0.0)], "not known")
    assert [(part.name, part.figure) for part in bar.parts] == [
        ("a", "38%"),
        ("b", "50%"),
        ("not known", "13%"),
    ]
    assert sum(float(part.percent) for part in bar.parts) == 100
    assert bar.parts[-1].hue == HUES - 1


def test_a_phase_has_its_color_whatever_its_rank() -> None:
    phases = ("forward", "backward")
    more_backward = shares_bar("By phase", [("backward", 3.0), ("forward", 1.0)], "", phases)
    more_forward = shares_bar("By phase", [("forward", 3.0), ("backward", 1.0)], "", phases)
    hues = {"forward": 0, "backward": 1}
    assert {part.name: part.hue for part in more_backward.parts} == hues
    assert {part.name: part.hue for part in more_forward.parts} == hues


def test_what_is_beyond_the_colors_is_put_together() -> None:
    bar = shares_bar("By layer", [(f"layer_{n}", 1.0) for n in range(10)], "not known")
    assert [part.name for part in bar.parts][-1] == "5 more"
    assert len({part.hue for part in bar.parts}) == len(bar.parts) == HUES - 1


def test_layers_of_next_to_no_time_are_no_division() -> None:
    def titles(named: float, name: str = "layer_1") -> list[str]:
        layers = (CostPart(name, seconds=named), CostPart("", seconds=1 - named))
        cost: Any = SimpleNamespace(
            loops=(),
            whole_seconds=1.0,
            time_name="roofline time",
            phases=(),
            layers=layers,
            scopes=(),
        )
        view = time_view(cost, "x")
        return [bar.title for bar in view.bars] if view else []

    assert titles(0.2) == ["By layer"]
    assert titles(0.05) == []
    assert titles(0.9, IN_A_LOOP) == []
