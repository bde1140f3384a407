"""Where the time of the main program goes, on the home page of a real dump."""

from collections.abc import Callable
from html import unescape
from pathlib import Path

from xlareport.pages.home.time import time_view
from xlareport.report import BuildOptions, build


def test_phases_and_treemap_stand_on_the_home_page(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    build(unpacked("gpu-h100x2-train"), BuildOptions(out=tmp_path, html=False))
    home = unescape((tmp_path / "site_src/index.md").read_text())
    assert "By phase" in home
    assert all(f"</i>{phase} " in home for phase in ("forward", "backward"))
    assert "xr-treemap" in home
    assert "memory_analysis()" in home


def test_nothing_counted_is_nothing_shown() -> None:
    assert time_view(None) is None
