"""Curves say in words what they draw."""

from xlareport.pages.charts import curve_words, small_curve


def test_curves_say_in_words_what_they_draw() -> None:
    values = [None, 5, 9, None, 2]
    assert curve_words(values, "Work", str) == "Work: 5 at first, at most 9, 2 at last"
    drawn = small_curve(values, "<b>", str)
    assert "&lt;b&gt;: 5 at first" in drawn
    assert drawn.count("L") == 1, "straight where a value between is not known"
    assert small_curve([None, 3], "Work", str) == ""
    assert small_curve([0, 0], "Fusions", str) == ""
    assert small_curve([3, 3], "Fusions", str) == "", "what stays the same is said, not drawn"


def test_a_curve_has_a_corner_where_a_figure_changes() -> None:
    drawn = small_curve([2, 2, 2, 4, 4, 4], "Work", str)
    assert 'd="M64.0 69.0H476.8V12.0H752.0V12.0"' in drawn
