"""Small charts as SVG text: figures in, picture out, with the same figures in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

_WIDTH, _HEIGHT = 760, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 8, 12, 24


@dataclass(frozen=True, slots=True)
class Point:
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
    places = [_place(i, point.value, len(points), top) for i, point in enumerate(points)]
    path = _stairs([(place, *at) for place, at in enumerate(places)])
    marks = "".join(
        f'<circle class="xr-mark" cx="{x:.1f}" cy="{y:.1f}" r="3">'
        f"<title>{escape(point.label)}: {point.value:,} {escape(what)}</title></circle>"
        for (x, y), point in zip(places, points, strict=True)
        if point.changed
    )
    words = f"{what}: {points[0].value:,} at first, at most {top:,}, {points[-1].value:,} at last"
    axis = "".join(_tick(share, top, f"{round(top * share):,}") for share in (0.0, 0.5, 1.0))
    line = f'<path class="xr-line" d="{path}"/>'
    return svg_chart(words, f"{axis}{_ends(len(points))}{line}{marks}", _HEIGHT)


def small_curve(values: Sequence[int | None], what: str, write: Callable[[int], str]) -> str:
    """Draw a figure over the snapshots; straight where values between are not known (None).

    Nothing is drawn of a figure that stays the same.
    """
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if len({value for _, value in known}) < 2:
        return ""
    top = max(value for _, value in known)
    places = [(place, *_place(place, value, len(values), top)) for place, value in known]
    path = _stairs(places)
    marks = "".join(_tick(share, top, "") for share in (0.0, 0.5, 1.0))
    inside = f'{marks}{_ends(len(values))}<path class="xr-line" d="{path}"/>'
    return svg_chart(curve_words(values, what, write), inside, _HEIGHT)


def curve_words(values: Sequence[int | None], what: str, write: Callable[[int], str]) -> str:
    """Return in words what a small curve shows; some value has to be known."""
    known = [value for value in values if value is not None]
    first, top, last = write(known[0]), write(max(known)), write(known[-1])
    return f"{what}: {first} at first, at most {top}, {last} at last"


@dataclass(frozen=True, slots=True)
class Spot:
    """One night on a curve."""

    value: int
    words: str
    is_step: bool


def spot_curve(spots: Sequence[Spot], what: str, write: Callable[[int], str]) -> str:
    """Draw a figure over the nights, each a spot with its words; steps are larger ones."""
    top = max((spot.value for spot in spots), default=0)
    if len(spots) < 2 or not top:
        return ""
    places = [_place(at, spot.value, len(spots), top) for at, spot in enumerate(spots)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    marks = "".join(
        f'<circle class="{"xr-mark" if spot.is_step else "xr-spot"}" cx="{x:.1f}" cy="{y:.1f}" '
        f'r="{4 if spot.is_step else 2}"><title>{escape(spot.words)}</title></circle>'
        for (x, y), spot in zip(places, spots, strict=True)
    )
    words = curve_words([spot.value for spot in spots], what, write)
    ticks = "".join(_tick(share, top, escape(write(round(top * share)))) for share in (0.5, 1.0))
    return svg_chart(words, f'{ticks}<path class="xr-line" d="{path}"/>{marks}', _HEIGHT)


def svg_chart(words: str, inside: str, height: int, kind: str = "") -> str:
    """Return a chart with its frame, which says in words what it shows; `kind` is a class."""
    label = escape(words)
    return (
        f'<svg class="{f"xr-chart {kind}".strip()}" viewBox="0 0 {_WIDTH} {height}" role="img" '
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


def _place(index: int, value: int, count: int, top: int) -> tuple[float, float]:
    x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * index / (count - 1)
    y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / top)
    return x, y


def _tick(share: float, top: int, label: str) -> str:
    _, y = _place(0, round(top * share), 2, top)
    return (
        f'<path class="xr-grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        f'<text class="xr-tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
        f"{label}</text>"
    )


def _ends(count: int) -> str:
    y = _HEIGHT - 6
    return (
        f'<text class="xr-tick" x="{_LEFT}" y="{y}">first snapshot</text>'
        f'<text class="xr-tick" x="{_WIDTH - _RIGHT}" y="{y}" text-anchor="end">'
        f"snapshot {count}</text>"
    )
