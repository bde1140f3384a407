"""A strip over the snapshots: the distance of the outputs of each from those of the first."""

from collections.abc import Sequence
from html import escape
from math import log10

from msgspec import Struct

from xlareport.pages.charts import svg_chart, tick_text

_WIDTH, _HEIGHT = 760, 130
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 8, 24, 34
_LOW, _HIGH = -9, 1
"""Exponents of ten at the bottom and the top of the strip; values are clamped to these."""


class ReplayBar(Struct, frozen=True):
    """A snapshot on the strip."""

    error: float | None
    """Relative; None where it is not finite."""
    ran: bool
    is_beyond: bool
    """Whether it is beyond the tolerance."""
    is_marked: bool
    """Whether the step before it may change numbers, by its instructions."""
    words: str
    address: str
    """As an attribute takes it."""


def replay_strip(bars: Sequence[ReplayBar], tolerance: float, words: str) -> str:
    """Return the strip: the relative error of each snapshot as a bar, in powers of 10.

    A snapshot that did not run is pale over the full height; a non-finite result is a full bar.
    """
    width = (_WIDTH - _LEFT - _RIGHT) / max(1, len(bars))
    drawn = "".join(_bar(bar, _LEFT + place * width, width) for place, bar in enumerate(bars))
    return svg_chart(words, f"{_axes(tolerance, len(bars))}{drawn}", _HEIGHT, "xr-replay")


def _height(error: float | None) -> float:
    """Return how far up the strip an error reaches, from 0 to 1."""
    if error is None:
        return 1.0
    power = log10(error) if error > 0 else _LOW
    return min(1.0, max(0.0, (power - _LOW) / (_HIGH - _LOW)))


def _bar(bar: ReplayBar, left: float, width: float) -> str:
    whole = _HEIGHT - _TOP - _BOTTOM
    tall = max(2.0, whole * _height(bar.error)) if bar.ran else whole
    kind = "xr-replay-none" if not bar.ran else "xr-replay-bad" if bar.is_beyond else "xr-replay-ok"
    inner = max(0.4, width - (1 if width > 3 else 0))
    mark = _mark(left + width / 2) if bar.is_marked else ""
    return (
        f'<a href="{bar.address}"><title>{escape(bar.words)}</title>'
        f'<rect class="{kind}" x="{left:.2f}" y="{_HEIGHT - _BOTTOM - tall:.1f}" '
        f'width="{inner:.2f}" height="{tall:.1f}"/>{mark}</a>'
    )


def _mark(middle: float) -> str:
    low = _HEIGHT - _BOTTOM + 3
    return f'<path class="xr-replay-mark" d="M{middle:.1f} {low}l3.5 6h-7z"/>'


def _axes(tolerance: float, count: int) -> str:
    right = _WIDTH - _RIGHT
    parts = [_grid(_line(power), f"1e{power}") for power in (-9, -6, -3, 0)]
    if tolerance > 0:
        y = _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * _height(tolerance)
        parts.append(f'<path class="xr-replay-limit" d="M{_LEFT} {y:.1f}H{right}"/>')
        parts.append(tick_text(right, 12, f"dashed: tolerance {tolerance:.2g}", "end"))
    parts.append(tick_text(6, 12, "relative error"))
    parts.append(tick_text(_LEFT, _HEIGHT - 5, "snapshot 1"))
    parts.append(tick_text(right, _HEIGHT - 5, f"{count:,}", "end"))
    return "".join(parts)


def _line(power: int) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (power - _LOW) / (_HIGH - _LOW)


def _grid(y: float, label: str) -> str:
    line = f'<path class="xr-grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
    return line + tick_text(_LEFT - 6, y + 4, label, "end")
