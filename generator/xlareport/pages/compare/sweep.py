"""Three dumps or more on one page: a table, how figures grow, the odd one."""

import json
import os.path
from collections.abc import Iterator, Sequence

from markupsafe import Markup
from msgspec import Struct, to_builtins

from xlareport.analysis.compare.sweep import FIGURES, Member, find_odd
from xlareport.pages import words
from xlareport.pages.compare.figures import figure_name, written
from xlareport.pages.compare.files import frame_files
from xlareport.pages.compare.sweep_plot import Series, sweep_plot
from xlareport.pages.compare.verdict import verdict_sentence
from xlareport.pages.rendering.environment import prose, visible
from xlareport.pages.rendering.templates import render
from xlareport.storage.payloads import SiteFile

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
    odd = find_odd(members)
    place_of_odd = odd.place if odd else None
    folder = _folder(members)
    shown = [name for name in FIGURES if any(member.figures.get(name) for member in members)]
    rows = tuple(
        SweepRow(
            number=place + 1,
            path=member.path[len(folder) :][-_MOST_NAME:],
            module=words.short_name(member.module) if member.module else "no main program",
            figures=tuple(written(name, member.figures.get(name)) for name in shown),
            verdict=verdict_sentence(member.verdict) if place and member.module else "",
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
    common = os.path.commonpath(folders) if all(folders) and _alike(folders) else ""
    return f"{common}/" if common.strip("/") else ""


def _alike(folders: Sequence[str]) -> bool:
    return len({folder.startswith("/") for folder in folders}) == 1


def _lead(members: Sequence[Member]) -> str:
    odd = find_odd(members)
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
        known = tuple(value for value in values if value is not None)
        if len(known) == len(members) and known[0]:
            yield Series(figure_name(name), known, tuple(written(name, value) for value in known))


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
