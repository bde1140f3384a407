"""A night: run a program, report on how XLA compiled it, compare with the baseline, publish.

the program -> its dump -> the report -> compared with the baseline -> budgets -> the list of nights
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from xlareport.captures.run import capture_uncached
from xlareport.compare import compare
from xlareport.pages.compare.results import junit, markdown
from xlareport.pages.nightly.index import NightOutcome, Outcome
from xlareport.records.budgets import Budget, check, parse_budget
from xlareport.records.compare import ComparisonRecord
from xlareport.records.report import ReportRecord
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import writing
from xlareport.runtime.limits import LIMITS, Limits
from xlareport.runtime.progress import ProgressCallback, silent
from xlareport.site.night_folders import NightFolders

DEFAULT_BUDGETS = ("peak_bytes[main] > +5%", "flops[main] > +5%", "bytes_accessed[main] > +5%")
"""The default budgets, as far as a figure is known on both sides."""
_NOTHING = (
    "XLA dumped nothing: nothing was compiled, the program set XLA_FLAGS itself, or a compilation "
    "cache answered."
)
_CACHED = (
    "The main program has one snapshot: a compilation cache answered, or its dump was cut off. "
    "This night is no baseline."
)
_BROKEN = 1
_MOST_SENTENCES = 3


class NightOptions(Struct, frozen=True):
    """The caller's options, besides the program."""

    root: Path
    night: str
    """Names its folder; a night that runs again replaces itself."""
    title: str
    budgets: tuple[Budget, ...] = ()
    """Empty for the default ones."""
    accept: bool = False
    """Make this night the baseline, whatever its results are."""
    keep: int = 90
    """Number of nights that are kept besides the baseline."""
    level: str = "passes"
    jobs: int = 1
    html: bool = True
    limits: Limits = LIMITS


def run_night(
    program: Sequence[str],
    options: NightOptions,
    environ: Mapping[str, str],
    progress: ProgressCallback = silent,
) -> NightOutcome:
    """Run a program and publish how XLA compiled it.

    The outcome's code is 0 where all budgets are kept, 1 where one is exceeded or could not be
    checked, and the program's own where it failed: such a night enters neither the history nor
    the baseline. Raises XlareportError where nothing can be run or written.
    """
    folders = NightFolders(options.root, options.night)
    with writing(options.root):
        former = [outcome for outcome in folders.read_outcomes() if outcome.night != options.night]
        folders.prepare()
        with tempfile.TemporaryDirectory(prefix="xlareport-night-") as place:
            code, dump = capture_uncached(program, options.level, Path(place) / "dump", environ)
            report = dump and _report(dump, options, folders, progress, is_counted=not code)
        if code:
            outcome = _crashed(options.night, code, has_report=dump is not None)
        elif not report or not report.modules:
            outcome = _unchecked(options.night, _NOTHING, has_report=dump is not None)
        else:
            outcome = _judge(report, options, folders, progress)
        folders.strip()
        folders.publish([*former, outcome], options.title, options.keep)
    return outcome


def _report(
    dump: Path,
    options: NightOptions,
    folders: NightFolders,
    progress: ProgressCallback,
    *,
    is_counted: bool,
) -> ReportRecord:
    """Build the report of a night; one that counts enters the history."""
    build_options = BuildOptions(
        out=folders.report,
        jobs=options.jobs,
        name=options.title,
        title=options.title,
        history=folders.state if is_counted else None,
        limits=options.limits,
        html=options.html,
    )
    return build(str(dump), build_options, progress).report


def _judge(
    report: ReportRecord, options: NightOptions, folders: NightFolders, progress: ProgressCallback
) -> NightOutcome:
    """Compare with the baseline; the first night is the baseline."""
    baseline = folders.baseline
    if baseline is None or baseline == options.night:
        if _is_cached(report) and not options.accept:
            return _unchecked(options.night, _CACHED)
        folders.pin()
        return NightOutcome(options.night, Outcome.BASELINE, 0, "This night is the baseline.")
    compare_options = BuildOptions(
        out=folders.compared, jobs=options.jobs, limits=options.limits, html=options.html
    )
    base, head = folders.site / baseline, folders.report
    view = compare(base, head, compare_options, progress, site=options.html).view
    budgets = options.budgets or tuple(_default_budgets(view))
    checked = check(view, budgets)
    view = replace(view, breaches=checked.breaches, unchecked=checked.unchecked)
    folders.summary.write_text(markdown(view), "utf-8")
    folders.junit.write_bytes(junit(view, budgets))
    outcome = _verdict(options.night, view, budgets)
    if options.accept:
        folders.pin()
        outcome = replace(outcome, outcome=Outcome.BASELINE, code=0)
    return replace(outcome, baseline=baseline, is_compared=options.html)


def _is_cached(report: ReportRecord) -> bool:
    """Return whether the main program looks like one that was not compiled in this night."""
    main = report.main.module if report.main else ""
    return any(len(module.stages) == 1 for module in report.modules if module.key == main)


def _verdict(night: str, view: ComparisonRecord, budgets: Sequence[Budget]) -> NightOutcome:
    if view.breaches:
        sentence = " ".join(breach.sentence for breach in view.breaches[:_MOST_SENTENCES])
        return NightOutcome(night, Outcome.EXCEEDED, _BROKEN, sentence)
    if view.unchecked:
        gaps = (f"{gap.budget}: {gap.reason}" for gap in view.unchecked[:_MOST_SENTENCES])
        return _unchecked(night, " ".join(gaps))
    if not budgets:
        return _unchecked(night, "The baseline has no figure to compare a budget with.")
    return NightOutcome(night, Outcome.KEPT, 0, f"{len(budgets)} budgets kept.")


def _unchecked(night: str, sentence: str, *, has_report: bool = True) -> NightOutcome:
    return NightOutcome(night, Outcome.UNCHECKED, _BROKEN, sentence, has_report)


def _crashed(night: str, code: int, *, has_report: bool) -> NightOutcome:
    sentence = f"The program ended with exit code {code}."
    return NightOutcome(night, Outcome.CRASHED, code, sentence, has_report)


def _default_budgets(view: ComparisonRecord) -> list[Budget]:
    """Return the default budgets for which the baseline has the figure."""
    figures = view.main.figures if view.main else ()
    compared = {figure.name for figure in figures if figure.base is not None}
    budgets = map(parse_budget, DEFAULT_BUDGETS)
    return [budget for budget in budgets if not compared.isdisjoint(budget.figures)]
