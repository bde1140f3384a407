"""The part on `replay --bisect` of the passes tab: a strip and a table of the snapshots."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.steps.numbers_changed import NumbersChanged
from xlareport.pages.charts import grid_line, svg_chart, tick_text
from xlareport.pages.navigation import Link
from xlareport.pages.rendering.environment import href, prose
from xlareport.pages.tables import Column, Table
from xlareport.readers.replay_result import ReplayedStage, ReplayResult
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

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
    drawn = "".join(_strip_bar(bar, _LEFT + place * width, width) for place, bar in enumerate(bars))
    return svg_chart(words, f"{_axes(tolerance, len(bars))}{drawn}", _HEIGHT, "xr-replay")


def _height(error: float | None) -> float:
    """Return how far up the strip an error reaches, from 0 to 1."""
    if error is None:
        return 1.0
    power = log10(error) if error > 0 else _LOW
    return min(1.0, max(0.0, (power - _LOW) / (_HIGH - _LOW)))


def _strip_bar(bar: ReplayBar, left: float, width: float) -> str:
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
    parts = [
        grid_line(_LEFT, right, _height_of_power(power), f"1e{power}") for power in (-9, -6, -3, 0)
    ]
    if tolerance > 0:
        y = _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * _height(tolerance)
        parts.append(f'<path class="xr-replay-limit" d="M{_LEFT} {y:.1f}H{right}"/>')
        parts.append(tick_text(right, 12, f"dashed: tolerance {tolerance:.2g}", "end"))
    parts.append(tick_text(6, 12, "relative error"))
    parts.append(tick_text(_LEFT, _HEIGHT - 5, "snapshot 1"))
    parts.append(tick_text(right, _HEIGHT - 5, f"{count:,}", "end"))
    return "".join(parts)


def _height_of_power(power: int) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (power - _LOW) / (_HIGH - _LOW)


class ReplayPart(Struct, frozen=True):
    """The template's data on the runs."""

    strip: Markup
    verdict: Markup
    ran: str
    """How many snapshots ran, and how many of the dump are not in the result."""
    first: Link | None
    table: Table


def replay_part(
    result: ReplayResult,
    steps: Mapping[str, Link],
    numbers: Sequence[tuple[str, NumbersChanged]],
) -> ReplayPart:
    """Join the runs with the snapshots; `steps` are those of the dump by key, in order.

    `numbers` are the changes that may change numbers, by the key of the snapshot after them.
    """
    runs = {run.stage: run for run in result.stages}
    changes = group_by_key(
        (key, f"{change.what}, {units.plural(change.count, 'instruction')}")
        for key, change in numbers
    )
    bars = [
        _bar(runs.get(key), link, result.tolerance, is_marked=key in changes)
        for key, link in steps.items()
    ]
    ran = _ran(result, steps)
    drawn = replay_strip(bars, result.tolerance, f"Relative error of each snapshot: {ran}")
    return ReplayPart(
        strip=Markup(drawn),  # noqa: S704 - escaped where it is drawn
        verdict=prose(result.verdict),
        ran=ran,
        first=steps.get(result.first) if result.first and result.is_confirmed else None,
        table=_table(runs, steps, result.tolerance, changes),
    )


def _bar(run: ReplayedStage | None, link: Link, tolerance: float, *, is_marked: bool) -> ReplayBar:
    ran = run is not None and run.ran
    error = run.error if run is not None else None
    return ReplayBar(
        error,
        ran=ran,
        is_beyond=ran and _is_beyond(error, tolerance),
        is_marked=is_marked,
        words=f"{link.name}: {_words(run)}",
        address=str(href(link.address)),
    )


def _is_beyond(error: float | None, tolerance: float) -> bool:
    return error is None or error > tolerance


def _words(run: ReplayedStage | None) -> str:
    if run is None:
        return "not in the result"
    if not run.ran:
        return f"not run: {run.reason}"
    return "not finite" if run.error is None else f"relative error {run.error:.2g}"


def _ran(result: ReplayResult, steps: Mapping[str, Link]) -> str:
    of_steps = [run for run in result.stages if run.stage in steps]
    ran = sum(run.ran for run in of_steps)
    words = f"{ran:,} of {units.plural(len(steps), 'snapshot')} ran with jaxlib {result.release}"
    others = len(result.stages) - len(of_steps)
    return (
        f"{words}; {units.plural(others, 'snapshot')} of the result not in this dump"
        if others
        else words
    )


def _table(
    runs: Mapping[str, ReplayedStage],
    steps: Mapping[str, Link],
    tolerance: float,
    changes: Mapping[str, Sequence[str]],
) -> Table:
    columns = (
        Column("Snapshot", "link"),
        Column("Relative error", "text", "Largest of all outputs, against the first snapshot"),
        Column("ULP", "int", "Largest distance of all outputs, in units in the last place"),
        Column("Result", "text", "Against the tolerance, or why it did not run"),
        Column("Numerics-affecting changes", "text", "What the step before it changed"),
    )
    rows = []
    for key, link in steps.items():
        run = runs.get(key)
        ran = run is not None and run.ran
        error = "" if run is None or not ran else _error_text(run)
        ulp = run.ulp if run is not None else None
        rows.append(
            (
                [link.name, link.address],
                error,
                ulp,
                _outcome(run, tolerance),
                "; ".join(changes.get(key, ())),
            )
        )
    return Table(columns, rows)


def _error_text(run: ReplayedStage) -> str:
    return "not finite" if run.error is None else f"{run.error:.2g}"


def _outcome(run: ReplayedStage | None, tolerance: float) -> str:
    if run is None or not run.ran:
        return _words(run)
    return "beyond the tolerance" if _is_beyond(run.error, tolerance) else "within the tolerance"
