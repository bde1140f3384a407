"""The first page of several jobs: exceeded budgets, steps in figures, the trend of each."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.compare.module_facts import ESTIMATE
from xlareport.analysis.trends import Night, Step, find_steps
from xlareport.pages import words
from xlareport.pages.compare.compared_figures import written
from xlareport.pages.nightly.curve import figure_curve
from xlareport.pages.nightly.index import NightOutcome, Outcome
from xlareport.pages.rendering.environment import environment
from xlareport.runtime import units
from xlareport.runtime.errors import Problem
from xlareport.runtime.resources import find_resource

_FIGURES = {
    ESTIMATE: "Estimated time",
    "occupied_peak_bytes": "Peak memory",
    "flops": "FLOPs",
    "bytes_accessed": "Bytes accessed",
}
_NIGHTS_SHOWN = 90
"""Nights that a curve shows."""
_OTHER_PROGRAM = "another main program"
_MOST_JOBS_WITH_CURVES = 100
"""Limit on jobs with curves; the others have them on their own pages."""
_STEPS_SHOWN = 50
"""Steps that the page lists, the latest first."""
_GRAVEST = (
    *(Outcome.EXCEEDED, Outcome.CRASHED, Outcome.UNCHECKED),
    *(Outcome.KEPT, Outcome.BASELINE),
)


class NightlyJob(Struct, frozen=True):
    """A job with its nights, from its folder."""

    name: str
    """Its folder, below that of all jobs."""
    outcomes: tuple[NightOutcome, ...]
    nights: tuple[Night, ...]
    """The history of its figures."""


class FigureCell(Struct, frozen=True):
    """A figure of the last night, with its change since the night before."""

    text: str
    change: str
    curve: Markup


class JobRow(Struct, frozen=True):
    """A job in the table."""

    name: str
    address: str
    night: str
    outcome: str
    sentence: str
    report: str
    """The address of the last report; empty where there is none."""
    comparison: str
    main: str
    figures: tuple[FigureCell, ...]


class StepRow(Struct, frozen=True):
    """A figure of a job that came to another level."""

    when: str
    name: str
    address: str
    what: str
    words: str


def jobs_page(jobs: Sequence[NightlyJob], problems: Sequence[Problem]) -> str:
    """Return the page: jobs that exceeded a budget first, then the others by name."""
    ended = [job for job in jobs if job.outcomes]
    ended.sort(key=lambda job: (_GRAVEST.index(job.outcomes[-1].outcome), job.name))
    rows = [
        _job_row(job, has_curves=place < _MOST_JOBS_WITH_CURVES) for place, job in enumerate(ended)
    ]
    steps = sorted((step for job in ended for step in _steps(job)), key=lambda step: step.when)
    template = environment(find_resource("templates")).get_template("jobs.html.jinja")
    return template.render(
        lead=_lead(ended),
        titles=tuple(_FIGURES.values()),
        rows=rows,
        steps=steps[::-1][:_STEPS_SHOWN],
        more_steps=max(0, len(steps) - _STEPS_SHOWN),
        problems=[str(problem) for problem in problems],
    )


def _lead(jobs: Sequence[NightlyJob]) -> str:
    last = [job.outcomes[-1].outcome for job in jobs]
    counts = [f"{last.count(outcome):,} {outcome}" for outcome in _GRAVEST if outcome in last]
    if not jobs:
        return "No job yet."
    count = f"{units.plural(len(jobs), 'job')}: {', '.join(counts)}."
    return f"{count} Outcomes are against the baseline, changes of figures since the night before."


def _job_row(job: NightlyJob, *, has_curves: bool) -> JobRow:
    last = job.outcomes[-1]
    site = f"{job.name}/site"
    main = next((night.main for night in reversed(job.nights) if night.main), None)
    return JobRow(
        name=job.name,
        address=f"{site}/index.html",
        night=last.night,
        outcome=last.outcome,
        sentence=last.sentence,
        report=f"{site}/{last.night}/site/index.html" if last.has_report else "",
        comparison=f"{site}/{last.night}-compared/site/index.html" if last.is_compared else "",
        main=words.short_name(main) if main else "",
        figures=tuple(_cells(job, has_curves=has_curves)),
    )


def _cells(job: NightlyJob, *, has_curves: bool) -> Iterator[FigureCell]:
    """Yield the figures of the main program."""
    nights = job.nights[-_NIGHTS_SHOWN:]
    for figure, title in _FIGURES.items():
        values = _main_values(nights, figure)
        measured = [
            (night, value) for night, value in zip(nights, values, strict=True) if value is not None
        ]
        if not measured or values[-1] is None:
            yield FigureCell("not known", "", Markup())
            continue
        curve = figure_curve(nights, values, figure, title) if has_curves else Markup()
        change = _change_since(*measured[-2], *measured[-1]) if len(measured) > 1 else ""
        yield FigureCell(written(figure, measured[-1][1]), change, curve)


def _main_values(nights: Sequence[Night], figure: str) -> list[int | None]:
    return [night.figure(night.main, figure) for night in nights]


def _change_since(former: Night, before: float, night: Night, after: float) -> str:
    """Return the change of a figure; between two programs there is none."""
    return _change(before, after) if former.main == night.main else _OTHER_PROGRAM


def _change(before: float, after: float) -> str:
    if before == after:
        return "no change"
    return units.signed_share(after / before - 1) if before else "new"


def _steps(job: NightlyJob) -> Iterator[StepRow]:
    """Yield the nights on which a figure of the main program came to another level."""
    nights = job.nights[-_NIGHTS_SHOWN:]
    for figure, title in _FIGURES.items():
        for step in find_steps(_main_values(nights, figure)):
            former = nights[max(0, step.night - 1)]
            change = _change_since(former, step.before, nights[step.night], step.after)
            yield _step(job, nights[step.night], (title, figure), step, change)


def _step(
    job: NightlyJob, night: Night, titled: tuple[str, str], step: Step, change: str
) -> StepRow:
    title, figure = titled
    before, after = written(figure, round(step.before)), written(figure, step.after)
    return StepRow(
        when=night.when,
        name=job.name,
        address=f"{job.name}/site/index.html",
        what=title,
        words=f"{before} to {after} ({change})",
    )
