"""Three dumps or more on one page: a table, how figures grow, the odd one."""

import json
import os.path
from collections.abc import Iterator, Sequence
from html import escape

from markupsafe import Markup
from msgspec import Struct, to_builtins

from xlareport.analysis.compare.sweep import FIGURES, Member, find_outlier
from xlareport.pages import words
from xlareport.pages.charts import grid_line, svg_chart
from xlareport.pages.compare.compared_figures import figure_name, written
from xlareport.pages.compare.comparison_files import frame_files
from xlareport.pages.compare.verdict import describe_verdict
from xlareport.pages.rendering.environment import prose, visible
from xlareport.pages.rendering.templates import render
from xlareport.storage.payloads import SiteFile

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
    parts += [_series_path(number, line, top) for number, line in enumerate(series)]
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
        grid_line(_LEFT, _WIDTH - _RIGHT, _y(level, top), f"{level:.2f}\N{MULTIPLICATION SIGN}")
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


def _series_path(number: int, series: Series, top: float) -> str:
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


_MOST_NAME = 60


class SweepRow(Struct, frozen=True):
    """A dump of the sweep."""

    number: int
    path: str
    module: str
    figures: tuple[str, ...]
    verdict: str
    """Against the first dump; empty for itself."""
    cause: Markup
    """The first cause of its difference."""
    odd: bool


class SweepPage(Struct, frozen=True):
    """Everything on the page."""

    lead: str
    labels: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    main: str
    """The main program, where it has one name in all dumps."""
    has_causes: bool
    folder: str
    """The common beginning of the paths, which the rows leave out; may be empty."""
    plot: Markup
    """How the figures grow; empty where none changes."""
    legend: tuple[str, ...]
    """The figures of the plot."""


def sweep_page(members: Sequence[Member]) -> SweepPage:
    """Make the page."""
    odd = find_outlier(members)
    place_of_odd = odd.place if odd else None
    folder = _folder(members)
    shown = [name for name in FIGURES if any(member.figures.get(name) for member in members)]
    rows = tuple(
        SweepRow(
            number=place + 1,
            path=member.path[len(folder) :][-_MOST_NAME:],
            module=words.short_name(member.module) if member.module else "no main program",
            figures=tuple(written(name, member.figures.get(name)) for name in shown),
            verdict=describe_verdict(member.verdict) if place and member.module else "",
            cause=prose("".join(cause.sentence for cause in member.causes)),
            odd=place == place_of_odd,
        )
        for place, member in enumerate(members)
    )
    series = tuple(_series(members, shown))
    plot = sweep_plot(series, place_of_odd)
    return SweepPage(
        lead=_lead(members),
        labels=tuple(map(figure_name, shown)),
        rows=rows,
        main=rows[0].module if len({row.module for row in rows}) == 1 else "",
        has_causes=any(row.cause for row in rows),
        folder=folder,
        plot=Markup(plot),  # noqa: S704 - made by us, escaped there
        legend=tuple(line.name for line in series) if plot else (),
    )


def _folder(members: Sequence[Member]) -> str:
    """Return the folders with which every path begins, with the slash."""
    folders = [member.path.rpartition("/")[0] for member in members]
    is_alike = len({folder.startswith("/") for folder in folders}) == 1
    common = os.path.commonpath(folders) if all(folders) and is_alike else ""
    return f"{common}/" if common.strip("/") else ""


def _lead(members: Sequence[Member]) -> str:
    odd = find_outlier(members)
    if odd is None:
        return f"{len(members)} dumps; none stands out."
    value, middle = written(odd.figure, odd.value), written(odd.figure, round(odd.median))
    path = members[odd.place].path[len(_folder(members)) :][-_MOST_NAME:]
    return (
        f"{len(members)} dumps; dump {odd.place + 1} ({path}) stands out: "
        f"{figure_name(odd.figure)} {value}, median {middle}."
    )


def _series(members: Sequence[Member], shown: Sequence[str]) -> Iterator[Series]:
    """Yield the figures that every dump has."""
    for name in shown:
        values = [member.figures.get(name) for member in members]
        given = tuple(value for value in values if value is not None)
        if len(given) == len(members) and given[0]:
            yield Series(figure_name(name), given, tuple(written(name, value) for value in given))


def sweep_lines(members: Sequence[Member]) -> Iterator[str]:
    """Yield the comparison for a terminal."""
    page = sweep_page(members)
    yield page.lead
    for row in page.rows:
        yield f"{row.number}. {row.path}: {row.module}{' (odd)' if row.odd else ''}"
        yield from (
            f"  {label}: {value}" for label, value in zip(page.labels, row.figures, strict=True)
        )
        if row.verdict:
            yield f"  against dump 1: {row.verdict}"
            yield from (f"    {cause.sentence}" for cause in members[row.number - 1].causes)


def sweep_markdown(members: Sequence[Member]) -> str:
    """Return the table for a comment: a row for each dump."""
    page = sweep_page(members)
    head = ("Dump", "Path", *page.labels, "Against dump 1")
    rows = [(str(row.number), row.path, *row.figures, row.verdict) for row in page.rows]
    table = [head, ("---",) * len(head), *rows]
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in table]
    return "\n".join([page.lead, "", *lines, ""])


def _cell(text: str) -> str:
    return visible(text).replace("|", "\N{BROKEN BAR}").replace("`", "'")


def sweep_files(members: Sequence[Member]) -> Iterator[SiteFile]:
    """Yield every generated file of the site."""
    home = render("sweep", sweep_page(members), "Comparison", wide=True)
    yield from frame_files(home, frozenset())
    value = {"dumps": [to_builtins(member) for member in members]}
    yield "compare.json", json.dumps(value, indent=1) + "\n"
