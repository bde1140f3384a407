"""Charts of cost and memory say themselves in words."""

from tests.pages.cost_of_dumps import Unpack, analysis_of, worked_out

from xlareport.pages.cost.charts import memory_curve, roofline
from xlareport.pages.cost.page import cost_page


def test_charts_say_themselves_in_words_and_escape_names(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert page.roofline_words.startswith(">99.9% of roofline time is memory-bound")
    assert page.roofline.startswith('<svg class="xr-chart"')
    assert "aria-label=" in page.roofline
    curve = memory_curve((1, 5, 2), 3, 1, '<b>"%x"')
    assert "Maximum 5 B over 3 schedule positions; the peak is at position 1" in curve
    assert "<b>" not in curve
    assert memory_curve((), 0, None, "") == ""
    assert roofline((), cost.device) == ""
