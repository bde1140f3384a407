"""Small charts as SVG text: figures in, picture out, with the same figures in words."""

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from msgspec import Struct

_WIDTH = 760
_HALF_WIDTH, _HEIGHT = 400, 160
"""Size of curves over snapshots, which are shown side by side."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 8, 24, 34
_SNAPSHOT = "snapshot"


class ChartPart(Struct, frozen=True):
    """A part of a chart, as the legend names it."""

    name: str
    figure: str
    hue: int
    percent: str = ""
    """Width in percent of the whole; empty where the chart has no widths."""


class Point(Struct, frozen=True):
    """One snapshot on the growth curve."""

    value: int
    label: str
    changed: bool


def growth_curve(points: Sequence[Point], what: str) -> str:
    """Draw a figure over the snapshots as steps, with a mark where a step changed something.

    Nothing is drawn where nothing changed.
    """
    if not any(point.changed for point in points[1:]):
        return ""
    top = max(point.value for point in points) or 1
    frame = _Frame(_HALF_WIDTH, top, len(points))
    places = [frame.place(at, point.value) for at, point in enumerate(points)]
    path = _stairs([(place, *at) for place, at in enumerate(places)])
    marks = "".join(
        f'<circle class="xr-mark" cx="{x:.1f}" cy="{y:.1f}" r="3">'
        f"<title>{escape(point.label)}: {point.value:,} {escape(what)}</title></circle>"
        for (x, y), point in zip(places, points, strict=True)
        if point.changed
    )
    words = f"{what}: {points[0].value:,} at first, at most {top:,}, {points[-1].value:,} at last"
    axes = frame.axes(_SNAPSHOT, what, lambda value: f"{value:,}")
    line = f'<path class="xr-line" d="{path}"/>'
    return svg_chart(words, f"{axes}{line}{marks}", _HEIGHT, width=_HALF_WIDTH)


def small_curve(values: Sequence[int | None], what: str, write: Callable[[int], str]) -> str:
    """Draw a figure over the snapshots; straight where values between are not known (None).

    Nothing is drawn of a figure that stays the same.
    """
    points = [(place, value) for place, value in enumerate(values) if value is not None]
    if len({value for _, value in points}) < 2:
        return ""
    frame = _Frame(_HALF_WIDTH, max(value for _, value in points), len(values))
    path = _stairs([(place, *frame.place(place, value)) for place, value in points])
    inside = f'{frame.axes(_SNAPSHOT, what, write)}<path class="xr-line" d="{path}"/>'
    return svg_chart(curve_words(values, what, write), inside, _HEIGHT, width=_HALF_WIDTH)


def curve_words(values: Sequence[int | None], what: str, write: Callable[[int], str]) -> str:
    """Return a sentence on a small curve; at least one value has to be known."""
    present = [value for value in values if value is not None]
    first, top, last = write(present[0]), write(max(present)), write(present[-1])
    return f"{what}: {first} at first, at most {top}, {last} at last"


class NightPoint(Struct, frozen=True):
    """One night on a curve."""

    value: int
    words: str
    is_step: bool


def night_curve(points: Sequence[NightPoint], what: str, write: Callable[[int], str]) -> str:
    """Draw a figure over the nights, each a point with its words; steps are larger ones."""
    top = max((point.value for point in points), default=0)
    if len(points) < 2 or not top:
        return ""
    frame = _Frame(_WIDTH, top, len(points))
    places = [frame.place(at, point.value) for at, point in enumerate(points)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    marks = "".join(
        f'<circle class="{"xr-mark" if point.is_step else "xr-spot"}" cx="{x:.1f}" cy="{y:.1f}" '
        f'r="{4 if point.is_step else 2}"><title>{escape(point.words)}</title></circle>'
        for (x, y), point in zip(places, points, strict=True)
    )
    words = curve_words([point.value for point in points], what, write)
    axes = frame.axes("night", what, write)
    return svg_chart(words, f'{axes}<path class="xr-line" d="{path}"/>{marks}', _HEIGHT)


def svg_chart(words: str, inside: str, height: int, kind: str = "", *, width: int = _WIDTH) -> str:
    """Return an SVG chart with a description in words; `kind` is a class.

    One with links inside is a group of them, since an image has nothing inside for a screen reader.
    """
    label = escape(words)
    role = "group" if "<a " in inside else "img"
    return (
        f'<svg class="{f"xr-chart {kind}".strip()}" viewBox="0 0 {width} {height}" role="{role}" '
        f'aria-label="{label}"><title>{label}</title>{inside}</svg>'
    )


def _stairs(places: Sequence[tuple[int, float, float]]) -> str:
    """Return a line through (snapshot, x, y), level up to the next snapshot where that is known."""
    (_, x, y), (last, _, _) = places[0], places[-1]
    path = [f"M{x:.1f} {y:.1f}"]
    for (before, left, height), (place, x, y) in pairwise(places):
        if place > before + 1:
            path.append(f"H{left:.1f}L{x:.1f} {y:.1f}")
        elif y != height or place == last:
            path.append(f"H{x:.1f}V{y:.1f}")
    return "".join(path)


class _Frame(Struct, frozen=True):
    """Both axes of a curve: `count` places from left to right, values from 0 to `top`."""

    width: int
    top: int
    count: int

    def place(self, index: int, value: float) -> tuple[float, float]:
        """Return where a value is."""
        x = _LEFT + (self.width - _LEFT - _RIGHT) * index / (self.count - 1)
        return x, _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / self.top)

    def axes(self, across: str, up: str, write: Callable[[int], str]) -> str:
        """Return grid, labels and titles; `write` gives the labels of the values their unit."""
        ticks = [self._tick(value, write(value)) for value in self._values()]
        low, right = _HEIGHT - _BOTTOM + 14, self.width - _RIGHT
        ends = tick_text(_LEFT, low, "1") + tick_text(right, low, f"{self.count:,}", "end")
        titles = tick_text(6, 12, up) + tick_text(
            (_LEFT + right) / 2, _HEIGHT - 5, across, "middle"
        )
        return "".join((*ticks, ends, titles))

    def _values(self) -> tuple[int, ...]:
        """Return the values with a label, each once."""
        return tuple(dict.fromkeys((0, round(self.top / 2), self.top)))

    def _tick(self, value: int, label: str) -> str:
        _, y = self.place(0, value)
        return grid_line(_LEFT, self.width - _RIGHT, y, label)


def grid_line(left: int, right: int, y: float, label: str) -> str:
    """Return a level line of a chart with its label on the left, as SVG elements."""
    line = f'<path class="xr-grid" d="M{left} {y:.1f}H{right}"/>'
    return line + tick_text(left - 6, y + 4, label, "end")


def tick_text(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Return words at an axis of a chart as an SVG element."""
    return (
        f'<text class="xr-tick" x="{x:g}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
    )
