"""Charts of cost and memory say themselves in words."""

from tests.pages.cost_of_dumps import Unpack, analysis_of, worked_out

from xlareport.pages.cost.charts import roofline
from xlareport.pages.cost.page import cost_page


def test_charts_say_themselves_in_words_and_escape_names(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    page = cost_page(view, analysis_of(view, cost), cost)
    assert page.roofline_words.startswith(">99.9% of roofline time is memory-bound")
    assert page.roofline.startswith('<svg class="xr-chart"')
    assert "aria-label=" in page.roofline
    assert roofline((), cost.device) == ""
