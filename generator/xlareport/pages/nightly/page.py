"""The page of the nights: figures over time, and the nights on which they stepped."""

from collections.abc import Iterator, Sequence
from os.path import relpath
from pathlib import Path

from markupsafe import Markup
from msgspec import Struct, to_builtins

from xlareport.analysis.compare.module_facts import ESTIMATE
from xlareport.analysis.compare.verdict import judge_figures
from xlareport.analysis.trends import Night, Step, find_steps, labels
from xlareport.pages import words
from xlareport.pages.compare.compared_figures import written
from xlareport.pages.compare.verdict import describe_verdict
from xlareport.pages.nightly.curve import figure_curve, night_minute
from xlareport.pages.tables import Column, Table
from xlareport.records.report import ModuleRecord, ReportRecord
from xlareport.runtime import units
from xlareport.runtime.errors import Problem

NIGHTS_TABLE = "nights"
"""The payload key of the table."""
_NIGHTS_SHOWN = 90
"""Nights that a chart shows."""
_CHARTS = {
    ESTIMATE: "Estimated time per run",
    "occupied_peak_bytes": "Peak memory",
    "allocated_bytes": "Memory allocated",
    "flops": "FLOPs",
    "bytes_accessed": "Bytes accessed",
    "instructions": "Instructions",
}
_ROWS_SHOWN = 20
_OTHER_MODULES_SHOWN = 40
"""Limit on modules with charts of their own, besides the main one."""


class Nightly(Struct, frozen=True):
    """The nights up to this one, and from where to where addresses lead."""

    nights: tuple[Night, ...]
    history: Path
    """The folder to which the addresses of the nights are relative."""
    site: Path
    problems: tuple[Problem, ...] = ()


class ChangeRow(Struct, frozen=True):
    """A figure that came to another level."""

    module: str
    what: str
    when: str
    words: str
    report: str


class Chart(Struct, frozen=True):
    """A figure of the main program over the nights."""

    title: str
    curve: Markup


class ModuleCharts(Struct, frozen=True):
    """The figures of another module, folded away at first."""

    name: str
    charts: tuple[Chart, ...]


class TrendsPage(Struct, frozen=True):
    """Everything on the page."""

    lead: str
    main: str
    charts: tuple[Chart, ...]
    others: tuple[ModuleCharts, ...]
    more_others: int
    steps: tuple[ChangeRow, ...]
    more_steps: int
    key: str
    problems: tuple[str, ...]
    """Lines of the history that could not be read."""


def tonight(report: ReportRecord, when: str, address: str) -> Night:
    """Return the figures of a report; modules with equal names are numbered by order."""
    named = dict(
        zip(labels(module.name for module in report.outlines), report.outlines, strict=True)
    )
    wanted = report.main_key
    figures = {
        name: _night_figures(module) for name, module in zip(named, report.modules, strict=True)
    }
    main = next((name for name, module in named.items() if module.key == wanted), None)
    slugs = {name: module.slug for name, module in named.items()}
    return Night(when, report.dump.path, address, main, figures, slugs)


def _night_figures(module: ModuleRecord) -> dict[str, int | None]:
    final = {key: value for key, value in to_builtins(module.final).items() if _is_count(value)}
    seconds = module.cost.seconds if module.cost else None
    return final | {ESTIMATE: None if seconds is None else round(seconds * 1e9)}


def _is_count(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def trends_page(nightly: Nightly) -> TrendsPage:
    """Make the page."""
    shown = nightly.nights[-_NIGHTS_SHOWN:]
    main = next((night.main for night in reversed(shown) if night.main), None)
    steps = sorted(_steps(shown), key=lambda step: (-step[2].night, step[0] != main))
    rows = [_change_row(nightly, shown, *item) for item in steps]
    others = [module_charts for module_charts in _others(shown, main) if module_charts.charts]
    return TrendsPage(
        lead=_lead(nightly.nights, len(steps)),
        main=words.short_name(main) if main else "",
        charts=tuple(_charts(shown, main)) if main else (),
        others=tuple(others[:_OTHER_MODULES_SHOWN]),
        more_others=max(0, len(others) - _OTHER_MODULES_SHOWN),
        steps=tuple(rows[:_ROWS_SHOWN]),
        more_steps=max(0, len(rows) - _ROWS_SHOWN),
        key=NIGHTS_TABLE,
        problems=tuple(str(problem) for problem in nightly.problems[:_ROWS_SHOWN]),
    )


def _others(nights: Sequence[Night], main: str | None) -> Iterator[ModuleCharts]:
    """Yield the charts of the modules of the last night, except the main one."""
    for name in nights[-1].figures if nights else ():
        if name != main:
            yield ModuleCharts(words.short_name(name), tuple(_charts(nights, name)))


def _lead(nights: Sequence[Night], steps: int) -> str:
    if len(nights) < 2:
        return "First night; later nights are compared with it."
    message = units.plural(steps, "figure changed", "figures changed")
    how_many = units.plural(len(nights), "night")
    first, last = night_minute(nights[0]), night_minute(nights[-1])
    span = f"{how_many} from {first} to {last} UTC; {message}."
    return f"{span}{_last(nights)}"


def _last(nights: Sequence[Night]) -> str:
    """Return the verdict on the last night against the one before, of the main program."""
    before, after = nights[-2], nights[-1]
    main = after.main
    if main is None or main not in before.figures:
        return ""
    verdict = judge_figures(before.figures[main], after.figures[main])
    return f" The last night against the one before: {describe_verdict(verdict)}"


def _steps(nights: Sequence[Night]) -> list[tuple[str, str, Step]]:
    modules = dict.fromkeys(name for night in nights for name in night.figures)
    return [
        (module, figure, step)
        for module in modules
        for figure in _CHARTS
        for step in find_steps([night.figure(module, figure) for night in nights])
    ]


def _change_row(
    nightly: Nightly, nights: Sequence[Night], module: str, figure: str, step: Step
) -> ChangeRow:
    before, after = written(figure, round(step.before)), written(figure, step.after)
    change = f" ({units.signed_share(step.after / step.before - 1)})" if step.before else ""
    return ChangeRow(
        module=words.short_name(module),
        what=_CHARTS[figure],
        when=night_minute(nights[step.night]),
        words=f"{before} to {after}{change}",
        report=_address(nightly, nights[step.night]),
    )


def _charts(nights: Sequence[Night], main: str) -> list[Chart]:
    curves = {
        title: figure_curve(nights, [night.figure(main, figure) for night in nights], figure, title)
        for figure, title in _CHARTS.items()
    }
    return [Chart(title, curve) for title, curve in curves.items() if curve]


def _address(nightly: Nightly, night: Night) -> str:
    """Return the address of a report, written so that it can only be a path."""
    path = relpath(nightly.history / night.report, nightly.site).replace("\\", "/")
    return path if path.startswith("../") else f"./{path}"


def tabulate_nights(nights: Sequence[Night]) -> Table:
    """Return the table of all nights and modules."""
    columns = (
        Column("Night", help="UTC"),
        Column("Module", "code"),
        *(Column(title, _kind(figure)) for figure, title in _CHARTS.items()),
    )
    rows = [
        [night_minute(night), words.short_name(name), *(item.get(figure) for figure in _CHARTS)]
        for night in reversed(nights)
        for name, item in night.figures.items()
    ]
    return Table(columns, rows, empty="No night yet.")


def _kind(figure: str) -> str:
    if "bytes" in figure:
        return "bytes"
    return "flops" if figure == "flops" else "int"
