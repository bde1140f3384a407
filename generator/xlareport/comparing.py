"""The pipeline of a comparison: two dumps in, one site that says what differs and why.

base, head -> modules sketched -> pairs -> compared -> what differs laid side by side -> site
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xlareport.analysis.compare.comparison import Comparison, Sketched, compare_modules
from xlareport.analysis.compare.divergence import Where
from xlareport.analysis.compare.pairing import pair_modules
from xlareport.dump.modules import group
from xlareport.dump.source import Source, open_source
from xlareport.errors import UnwritableOutputError
from xlareport.pages.compare.bare_report import (
    ONLY_FIGURES,
    BareReport,
    is_bare_report,
    read_bare_report,
)
from xlareport.pages.compare.contrast import (
    Contrast,
    ContrastTask,
    Met,
    contrast,
    meet,
    uncontrasted,
    unmet,
)
from xlareport.pages.compare.files import File, compare_files
from xlareport.pages.compare.views import CompareView, compare_view
from xlareport.pages.facts import Analysed, Dump, report_view
from xlareport.pages.views import DumpView, ProblemView
from xlareport.report import BuildOptions, Tell, check_apart, draw, name_files, silent
from xlareport.site.builder import build_site
from xlareport.site.folder import Folder
from xlareport.site.writer import write_sources
from xlareport.workers import work_in_processes

_DIED = "the process that read it died, perhaps out of memory"


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison leaves beside the site."""

    view: CompareView
    warnings: str
    """What MkDocs had to say; empty when all is well, or where no site was asked for."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One of both dumps, read once."""

    sketched: tuple[Sketched, ...]
    dump: DumpView
    main: str | None
    problems: tuple[ProblemView, ...]


def compare(
    base: str | Path,
    head: str | Path,
    options: BuildOptions,
    tell: Tell = silent,
    *,
    site: bool = True,
) -> Compared:
    """Compare two dumps or reports; writes the site below `options.out` unless told not to.

    Raises XlareportError before anything is replaced.
    """
    if not site:
        with _opened(base, options) as ours, _opened(head, options) as theirs:
            return Compared(_compared(ours, theirs, options, tell)[0], "")
    folder = Folder(options.out)
    for one in (base, head):
        check_apart(one, folder.out, folder.replaced())
    try:
        with folder.locked():
            folder.prepare()
            with _opened(base, options) as ours, _opened(head, options) as theirs:
                view, contrasts = _compared(ours, theirs, options, tell)
                _write(view, contrasts, options, tell)
            said = build_site(options.out, strict=False) if options.html else ""
    except OSError as error:
        raise UnwritableOutputError(options.out, error) from error
    return Compared(view, said)


@contextmanager
def _opened(place: str | Path, options: BuildOptions) -> Iterator[Source | BareReport]:
    """Open a dump, a report, or the report.json of one."""
    with open_source(place, options.limits) as source:
        first = source.entries[0]
        alone = len(source.entries) == 1 and is_bare_report(first.path)
        yield read_bare_report(first.location, source.name) if alone else source


def _compared(
    base: Source | BareReport, head: Source | BareReport, options: BuildOptions, tell: Tell
) -> tuple[CompareView, Sequence[Contrast]]:
    ours, theirs = _side(base, options, tell), _side(head, options, tell)
    pairs = pair_modules(
        [one.sketch for one in ours.sketched], [one.sketch for one in theirs.sketched]
    )
    found = [
        compare_modules(
            pair,
            None if pair.base is None else ours.sketched[pair.base],
            None if pair.head is None else theirs.sketched[pair.head],
        )
        for pair in pairs
    ]
    contrasts = dict(_contrasts(found, options, tell))
    view = compare_view(
        (ours.dump, theirs.dump),
        (ours.main, theirs.main),
        found,
        contrasts,
        (*ours.problems, *theirs.problems),
    )
    return view, list(contrasts.values())


def _side(source: Source | BareReport, options: BuildOptions, tell: Tell) -> _Side:
    if isinstance(source, BareReport):
        told = ProblemView(source.dump.path, None, ONLY_FIGURES)
        return _Side(source.sketched, source.dump, source.main, (told,))
    artifacts = name_files(source)
    grouped = group(artifacts)
    met: dict[str, Met] = {}
    what = f"reading {Path(source.name).name}"
    tell(what, 0, len(grouped.modules))
    ordered = sorted(grouped.modules, key=lambda one: one.bytes, reverse=True)
    work = work_in_processes(ordered, meet, options.jobs, lambda one: unmet(one, _DIED))
    for done, (one, result) in enumerate(work, 1):
        met[one.key] = result
        tell(what, done, len(grouped.modules))
    results = [met[one.key] for one in grouped.modules]
    dump = Dump(source.name, tuple(artifacts), grouped, source.problems)
    report = report_view(Analysed(dump, tuple(one.result for one in results)), options.marker)
    main = report.main.module if report.main else None
    return _Side(tuple(one.sketched for one in results), report.dump, main, report.problems)


def _contrasts(
    found: Sequence[Comparison], options: BuildOptions, tell: Tell
) -> Iterator[tuple[int, Contrast]]:
    """Yield, by the place of the comparison, what lies side by side of those that differ."""
    tasks = {task: place for place, one in enumerate(found) if (task := _task(one)) is not None}
    tell("comparing modules", 0, len(tasks))
    work = work_in_processes(
        list(tasks), contrast, options.jobs, lambda task: uncontrasted(task, _DIED)
    )
    for done, (task, result) in enumerate(work, 1):
        tell("comparing modules", done, len(tasks))
        yield tasks[task], result


def _task(one: Comparison) -> ContrastTask | None:
    parted = one.divergence.where is not Where.NOWHERE
    if one.base is None or one.head is None or not (parted or not one.same):
        return None
    base, head = one.base.summary.files, one.head.summary.files
    if not one.base.moments or not one.head.moments:
        return None
    inputs_differ = one.divergence.where is Where.INPUT
    return ContrastTask(base, head, head.slug, one.divergence, inputs_differ, not one.same)


def _write(
    view: CompareView, contrasts: Sequence[Contrast], options: BuildOptions, tell: Tell
) -> None:
    payloads: Iterator[File] = (file for one in contrasts for file in one.payloads)
    requests = (request for one in contrasts for request in one.requests)
    drawn = draw(requests, set(), options, tell)
    files = compare_files(view, payloads, drawn)
    write_sources(options.out, files, hand_written=lambda name: name.startswith("assets/"))
