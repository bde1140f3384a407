"""Three dumps or more on one page: a table, how figures grow, the odd one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from markupsafe import Markup

from xlareport.analysis.compare.sweep import FIGURES, Member, find_odd
from xlareport.analysis.compare.verdict import judge_figures
from xlareport.pages import words
from xlareport.pages.charts import Spot, spot_curve
from xlareport.pages.compare.figures import figure_name, written
from xlareport.pages.compare.files import File, frame_files
from xlareport.pages.compare.verdict import verdict_sentence
from xlareport.pages.rendering.environment import visible
from xlareport.pages.rendering.templates import render

_MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One dump."""

    number: int
    path: str
    module: str
    figures: tuple[str, ...]
    verdict: str
    """Against the first dump; empty for itself."""
    odd: bool


@dataclass(frozen=True, slots=True)
class SweepPage:
    """Everything on the page."""

    lead: str
    labels: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    charts: tuple[tuple[str, Markup], ...]
    """(title, curve) of each figure that is known of every dump."""


def sweep_page(members: Sequence[Member]) -> SweepPage:
    """Make the page."""
    odd = find_odd(members)
    shown = [name for name in FIGURES if any(member.figures.get(name) for member in members)]
    rows = tuple(
        SweepRow(
            number=place + 1,
            path=member.path[-_MOST_NAME:],
            module=words.short_name(member.module) if member.module else "no main program",
            figures=tuple(written(name, member.figures.get(name)) for name in shown),
            verdict=_against(members[0], member) if place else "",
            odd=odd is not None and odd.place == place,
        )
        for place, member in enumerate(members)
    )
    return SweepPage(
        lead=_lead(members),
        labels=tuple(map(figure_name, shown)),
        rows=rows,
        charts=tuple(_charts(members, shown)),
    )


def _lead(members: Sequence[Member]) -> str:
    odd = find_odd(members)
    if odd is None:
        return f"{len(members)} dumps; none stands out."
    value, middle = written(odd.figure, odd.value), written(odd.figure, round(odd.median))
    return (
        f"{len(members)} dumps; dump {odd.place + 1} stands out: "
        f"{figure_name(odd.figure)} {value}, median {middle}."
    )


def _against(first: Member, other: Member) -> str:
    return verdict_sentence(judge_figures(first.figures, other.figures))


def _charts(members: Sequence[Member], shown: Sequence[str]) -> Iterator[tuple[str, Markup]]:
    for name in shown:
        values = [member.figures.get(name) for member in members]
        if None in values:
            continue
        spots = [
            Spot(value, f"dump {place}: {written(name, value)}", is_step=False)
            for place, value in enumerate(values, 1)
            if value is not None
        ]
        curve = spot_curve(spots, figure_name(name), partial(written, name), "dump")
        if curve:
            yield figure_name(name), Markup(curve)  # noqa: S704 - made by us, escaped there


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


def sweep_files(members: Sequence[Member]) -> Iterator[File]:
    """Yield every generated file of the site."""
    home = render("sweep", sweep_page(members), "Comparison", wide=True)
    yield from frame_files(home, frozenset())
    value = {"dumps": [asdict(member) for member in members]}
    yield "compare.json", json.dumps(value, indent=1) + "\n"
