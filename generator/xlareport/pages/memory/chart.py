"""Memory over the schedule as a chart: memory held throughout below, temporaries above."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.pages.charts import ChartPart, grid_line, svg_chart
from xlareport.runtime import units

_WIDTH, _HEIGHT = 760, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 8, 26, 34
_LOW = _HEIGHT - _BOTTOM
_KINDS = {"parameter": "arguments", "output": "outputs", "constant": "constants"}
_TEMP = "temp"


class MemoryChart(Struct, frozen=True):
    """The chart of the bytes of one memory space in use."""

    title: str
    chart: Markup
    layers: tuple[ChartPart, ...]
    """Bytes of each kind at the peak, from the bottom; empty if kinds are not separated."""
    positions: int
    peak: int
    """The position at which the most is in use."""
    most: int
    """Bytes in use then."""


def memory_chart(
    title: str, curve: Sequence[int], held: Mapping[str, int], positions: int, peak: tuple[int, str]
) -> MemoryChart | None:
    """Draw one memory space; `peak` is a position and what is scheduled there.

    None where nothing is in use or there are no positions to draw.
    """
    if len(curve) < 2 or not max(curve):
        return None
    most = max(curve)
    kinds = [(name, held[kind]) for kind, name in _KINDS.items() if held.get(kind)]
    temp = most - sum(size for _, size in kinds)
    if kinds and temp > 0:
        kinds.append((_TEMP, temp))
    layers = [ChartPart(name, units.byte_size(size), hue) for hue, (name, size) in enumerate(kinds)]
    position, at = peak
    words = (
        f"{title}: maximum {units.byte_size(most)} at schedule position {position:,} of "
        f"{max(0, positions - 1):,}, {at}"
    )
    inside = "".join(
        (_levels(most), *_areas(curve, kinds), _mark(position, positions, most), _FOOT)
    )
    drawn = Markup(svg_chart(words, inside, _HEIGHT, "xr-memory"))  # noqa: S704 - escaped there
    return MemoryChart(title, drawn, tuple(layers), positions, position, most)


def _areas(curve: Sequence[int], kinds: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Yield the area of each kind, the topmost first, so that lower ones cover it."""
    most = max(curve)
    xs = [_across(place, len(curve)) for place in range(len(curve))]
    tops = [_up(value / most) for value in curve]
    steps = "".join(f"H{x:.1f}V{y:.1f}" for x, y in zip(xs, tops, strict=True))
    hue = len(kinds) - 1 if kinds and kinds[-1][0] == _TEMP else len(kinds)
    yield f'<path class="xr-fill-{hue if kinds else 0}" d="M{_LEFT} {_LOW}{steps}V{_LOW}Z"/>'
    held = [size for name, size in kinds if name != _TEMP]
    for place in reversed(range(len(held))):
        top = _up(sum(held[: place + 1]) / most)
        box = f"M{_LEFT} {_LOW}V{top:.1f}H{_WIDTH - _RIGHT}V{_LOW}Z"
        yield f'<path class="xr-fill-{place}" d="{box}"/>'


def _across(place: int, count: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * place / (count - 1)


def _up(share: float) -> float:
    return _TOP + (_LOW - _TOP) * (1 - share)


def _levels(most: int) -> str:
    return "".join(
        grid_line(_LEFT, _WIDTH - _RIGHT, _up(share), units.byte_size_as(most * share, most))
        for share in (0.0, 0.5, 1.0)
    )


def _mark(position: int, positions: int, most: int) -> str:
    """Draw the line at the maximum, labeled with it."""
    if positions < 2:
        return ""
    x = _across(min(position, positions - 1), positions)
    anchor = "start" if x < _WIDTH / 2 else "end"
    return (
        f'<path class="xr-line" d="M{x:.1f} {_TOP}V{_LOW}"/>'
        f'<text class="xr-tick" x="{x:.1f}" y="{_TOP - 5}" text-anchor="{anchor}">'
        f"peak {units.byte_size(most)}</text>"
    )


_FOOT = (
    f'<text class="xr-tick" x="{_LEFT}" y="{_LOW + 14}">schedule start</text>'
    f'<text class="xr-tick" x="{_WIDTH - _RIGHT}" y="{_LOW + 14}" text-anchor="end">end</text>'
    f'<text class="xr-tick" x="{(_LEFT + _WIDTH) / 2:.0f}" y="{_LOW + 28}" text-anchor="middle">'
    "schedule position</text>"
    f'<text class="xr-tick" x="6" y="{_TOP - 15}">in use</text>'
)
