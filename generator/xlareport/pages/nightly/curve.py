"""The curve of one figure over the nights."""

from collections.abc import Sequence
from functools import partial

from markupsafe import Markup

from xlareport.analysis.trends import Night, find_steps
from xlareport.pages.charts import NightPoint, night_curve
from xlareport.pages.compare.compared_figures import written


def night_minute(night: Night) -> str:
    """Return day and minute of a night, UTC: `2026-11-21 02:00`."""
    return night.when[:16].replace("T", " ")


def figure_curve(
    nights: Sequence[Night], values: Sequence[int | None], figure: str, title: str
) -> Markup:
    """Return a figure over the nights as SVG; empty for fewer than two known values."""
    steps = {step.night for step in find_steps(values)}
    points = [
        NightPoint(value, f"{night_minute(night)}: {written(figure, value)}", place in steps)
        for place, (night, value) in enumerate(zip(nights, values, strict=True))
        if value is not None
    ]
    curve = night_curve(points, title, partial(written, figure))
    return Markup(curve)  # noqa: S704 - made by us, escaped there
