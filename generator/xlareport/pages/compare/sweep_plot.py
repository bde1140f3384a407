"""The plot of a sweep: how figures grow from dump to dump, as multiples of the first dump's."""

from collections.abc import Sequence
from html import escape

from msgspec import Struct

from xlareport.pages.charts import svg_chart

_WIDTH, _HEIGHT = 760, 264
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 24, 42
_TICKS = 4


class Series(Struct, frozen=True):
    """A figure of every dump."""

    name: str
    values: tuple[int, ...]
    """The values; none is 0 in the first dump."""
    words: tuple[str, ...]
    """The values with their units."""

    @property
    def shares(self) -> tuple[float, ...]:
        """The values as multiples of the first."""
        return tuple(value / self.values[0] for value in self.values)


def sweep_plot(series: Sequence[Series], odd: int | None) -> str:
    """Draw the figures of two dumps or more in one plot; `odd` is the dump to be marked.

    Nothing is drawn where no figure changes.
    """
    if not any(len(set(line.values)) > 1 for line in series):
        return ""
    top = max(share for line in series for share in line.shares)
    count = len(series[0].values)
    parts = [_axes(top, count)]
    if odd is not None:
        parts.append(_band(odd, count))
    parts += [_line(number, line, top) for number, line in enumerate(series)]
    changes = [f"{line.name} {line.shares[-1]:.2f} times in the last" for line in series]
    return svg_chart(
        f"Figures as multiples of dump 1: {', '.join(changes)}", "".join(parts), _HEIGHT
    )


def _x(place: int, count: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place + 0.5) / count


def _y(share: float, top: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - share / top)


def _axes(top: float, count: int) -> str:
    levels = dict.fromkeys((1.0, *(top * tick / _TICKS for tick in range(_TICKS + 1))))
    shown: list[float] = []
    for level in levels:
        if all(abs(_y(level, top) - _y(other, top)) > 14 for other in shown):
            shown.append(level)
    ticks = "".join(
        f'<path class="xr-grid" d="M{_LEFT} {_y(level, top):.1f}H{_WIDTH - _RIGHT}"/>'
        f'<text class="xr-tick" x="{_LEFT - 6}" y="{_y(level, top) + 4:.1f}" text-anchor="end">'
        f"{level:.2f}\N{MULTIPLICATION SIGN}</text>"
        for level in shown
    )
    numbers = "".join(
        f'<text class="xr-tick" x="{_x(place, count):.1f}" y="{_HEIGHT - 24}" '
        f'text-anchor="middle">dump {place + 1}</text>'
        for place in range(0, count, max(1, count // 10))
    )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    titles = (
        '<text class="xr-tick" x="6" y="12">relative to dump 1</text>'
        f'<text class="xr-tick" x="{middle:.1f}" y="{_HEIGHT - 5}" text-anchor="middle">'
        "dump, in the order given</text>"
    )
    return ticks + numbers + titles


def _band(place: int, count: int) -> str:
    width = (_WIDTH - _LEFT - _RIGHT) / count
    return (
        f'<rect class="xr-odd" x="{_x(place, count) - width / 2:.1f}" y="{_TOP}" '
        f'width="{width:.1f}" height="{_HEIGHT - _TOP - _BOTTOM}"/>'
    )


def _line(number: int, series: Series, top: float) -> str:
    count = len(series.values)
    places = [(_x(at, count), _y(share, top)) for at, share in enumerate(series.shares)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    marks = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{escape(series.name)}, dump {at}: '
        f"{escape(words)}, {share:.2f} times dump 1</title></circle>"
        for at, ((x, y), words, share) in enumerate(
            zip(places, series.words, series.shares, strict=True), 1
        )
    )
    return f'<g class="xr-series xr-series-{number % 7}"><path d="{path}"/>{marks}</g>'
