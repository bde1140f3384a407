"""Charts of cost and memory say themselves in words."""

from types import SimpleNamespace
from typing import Any

from tests.pages.cost_of_dumps import Unpack, analysis_of, worked_out

from xlareport.pages.cost.page import cost_page
from xlareport.pages.cost.roofline_chart import _LOW, _Scale, roofline


def test_charts_say_themselves_in_words_and_escape_names(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert page.roofline_words.startswith(">99.9% of roofline time is memory-bound")
    assert page.roofline.startswith('<svg class="xr-chart"')
    assert "aria-label=" in page.roofline
    assert roofline((), cost.device, cost.seconds) == ""


def test_what_is_far_below_the_roof_is_within_the_chart() -> None:
    """An all-reduce adds little, for as long as its bytes take on the links."""
    row: Any = SimpleNamespace(
        instruction="all-reduce.1",
        roofline_seconds=1e-3,
        limit="interconnect",
        cost=SimpleNamespace(flops=1e6),
        least=SimpleNamespace(seconds=1e-3),
    )
    device: Any = SimpleNamespace(bandwidth=1e12)
    drawn = _Scale(device, 1e-2, 1e14, [(100.0, 1e14), (0.2, 1e9), (0.2, 1e11)]).dot(0.2, row)
    assert f'cy="{_LOW:.1f}"' in drawn
    drawn = _Scale(device, 1e-2, 1e14, [(100.0, 1e14), (0.2, 1e8)]).dot(0.2, row)
    assert f'cy="{_LOW:.1f}"' not in drawn
