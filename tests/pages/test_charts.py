"""Curves say in words what they draw."""

import re

from xlareport.pages.charts import (
    NightPoint,
    Point,
    curve_words,
    growth_curve,
    night_curve,
    small_curve,
)
from xlareport.runtime.units import byte_size


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
    assert 'd="M80.0 75.0H267.2V24.0H392.0V24.0"' in drawn


def test_both_axes_have_titles_and_labels_with_units() -> None:
    points = [Point(5, "first", changed=False), Point(2_000, "second", changed=True)]
    for drawn in (
        small_curve([1 << 20, 3 << 20], "Bytes accessed", byte_size),
        growth_curve(points, "instructions"),
        night_curve(
            [NightPoint(1, "a", is_step=False), NightPoint(3, "b", is_step=True)],
            "Bytes accessed",
            byte_size,
        ),
    ):
        texts = re.findall("<text[^>]*>([^<]*)</text>", drawn)
        assert {"snapshot", "night"} & set(texts)
        assert {"Bytes accessed", "instructions"} & set(texts)
        assert {"3.0 MiB", "2,000", "3 B"} & set(texts), texts


def test_a_value_is_labeled_once() -> None:
    assert re.findall(">([0-9]+)</text>", small_curve([0, 1], "Fusions", str)) == [
        "0",
        "1",
        "1",
        "2",
    ]
