"""The plot of a sweep."""

from xlareport.pages.compare.sweep_plot import Series, sweep_plot


def test_figures_that_stay_the_same_are_not_drawn() -> None:
    same = Series("FLOPs", (4, 4, 4), ("4", "4", "4"))
    assert sweep_plot([same], None) == ""
    assert sweep_plot([], None) == ""


def test_each_figure_is_a_line_of_multiples_of_the_first_dump() -> None:
    grown = Series("Bytes <accessed>", (10, 20, 40), ("10 B", "20 B", "40 B"))
    same = Series("FLOPs", (4, 4, 4), ("4", "4", "4"))
    plot = sweep_plot([grown, same], 2)
    assert plot.count("<circle") == 6
    assert "Bytes &lt;accessed&gt;, dump 3: 40 B, 4.00 times dump 1" in plot
    assert plot.count('class="xr-odd"') == 1
    assert ">relative to dump 1<" in plot
    assert ">dump, in the order given<" in plot
    assert "4.00\N{MULTIPLICATION SIGN}" in plot
