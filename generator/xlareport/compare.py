"""The pipeline of a comparison: two dumps in, one site with the differences and causes out.

base, head -> modules sketched -> pairs -> compared -> differences side by side -> site
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from xlareport.analysis.compare.causes import find_causes, shown_passes
from xlareport.analysis.compare.comparison import (
    Comparison,
    Sketched,
    compare_modules,
    known_figures,
)
from xlareport.analysis.compare.module_pairing import ModulePair, pair_modules
from xlareport.analysis.compare.sweep import Member
from xlareport.analysis.compare.time_changes import (
    Timing,
    TimingTask,
    keep_best_joined,
    time_modules,
    untimed,
)
from xlareport.analysis.compare.verdict import judge
from xlareport.analysis.modules.autotuning_pieces import find_autotuning_pieces
from xlareport.analysis.profile.instruction_times import ModuleTimes
from xlareport.compare_side import OpenedSide, open_side, read_side, read_timed_side
from xlareport.dump.source import Source
from xlareport.knowledge.grades import Grade
from xlareport.pages.compare.comparison_files import compare_files
from xlareport.pages.compare.module_diff import (
    ModuleDiff,
    Reports,
    diff_modules,
    diff_task,
    failed_diff,
)
from xlareport.pages.compare.sweep import sweep_files
from xlareport.pictures.draw import Renderer
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.records.compare import ComparisonRecord, compare_record, find_main
from xlareport.report import BuildOptions
from xlareport.runtime.errors import Problem, UnwritableOutputError
from xlareport.runtime.progress import ProgressCallback, silent
from xlareport.runtime.worker_pool import work_in_processes
from xlareport.side_files import read_profiles
from xlareport.site.builder import build_site
from xlareport.site.folder import Folder, check_apart
from xlareport.site.writer import write_sources

_DIED = "the process that read it died, perhaps out of memory"
Profiles = tuple[Sequence[str], Sequence[str]]
"""Folders, archives or files of the profiles of base and head."""


class Compared(Struct, frozen=True):
    """The result of a comparison, besides the site."""

    view: ComparisonRecord
    warnings: str
    """Warnings of MkDocs; empty if there are none, or without a site."""


def compare(
    base: str | Path,
    head: str | Path,
    options: BuildOptions,
    progress: ProgressCallback = silent,
    *,
    site: bool = True,
    profiles: Profiles = ((), ()),
    remarks: Sequence[str] = (),
) -> Compared:
    """Compare two dumps or reports; write the site below `options.out` if `site` is set.

    Profiles in a dump, or next to only one of both, are found automatically. The first page shows
    the remarks on how the dumps were made.

    Raises XlareportError before anything is replaced.
    """
    if not site:
        with _both(base, head, profiles, options) as (ours, theirs):
            return Compared(_compared((ours, theirs), profiles, options, progress)[0], "")
    with _writing(options.out, (base, head)):
        with _both(base, head, profiles, options) as (ours, theirs):
            view, diffs = _compared((ours, theirs), profiles, options, progress)
            _write(view, diffs, options, progress, remarks)
        message = build_site(options.out, strict=False) if options.html else ""
    return Compared(view, message)


@contextmanager
def _writing(out: Path, places: Iterable[str | Path]) -> Iterator[None]:
    """Keep other builds out of a folder, which none of the places read may be part of."""
    folder = Folder(out)
    for place in places:
        check_apart(place, folder.out, folder.replaced())
    try:
        with folder.locked():
            folder.prepare()
            yield
    except OSError as error:
        raise UnwritableOutputError(out, error) from error


def compare_many(
    places: Sequence[str | Path],
    options: BuildOptions,
    progress: ProgressCallback = silent,
    *,
    site: bool = True,
) -> tuple[Member, ...]:
    """Return the main programs of three or more dumps; write their page if `site` is set.

    Raises XlareportError before anything is replaced.
    """
    if not site:
        return _members(places, options, progress)
    with _writing(options.out, places):
        members = _members(places, options, progress)
        files = sweep_files(members)
        write_sources(options.out, files, hand_written=lambda name: name.startswith("assets/"))
        if options.html:
            build_site(options.out, strict=False)
    return members


def _members(
    places: Sequence[str | Path], options: BuildOptions, progress: ProgressCallback
) -> tuple[Member, ...]:
    """Return the figures of each main program, and the causes of differences from the first."""
    mains = [_main_of(place, options, progress) for place in places]
    return tuple(
        _member(str(place), main, mains[0] if number else None)
        for number, (place, main) in enumerate(zip(places, mains, strict=True))
    )


def _main_of(
    place: str | Path, options: BuildOptions, progress: ProgressCallback
) -> Sketched | None:
    with open_side(place, options) as source:
        seen = read_profiles(source, (), options.limits) if isinstance(source, Source) else None
        side = read_side(source, options, progress, seen.modules if seen else {})
    return next((sketched for sketched in side.sketched if sketched.sketch.key == side.main), None)


def _member(place: str, main: Sketched | None, first: Sketched | None) -> Member:
    if main is None or first is None:
        name = main.sketch.name if main else None
        return Member(place, name, known_figures(main) if main else {})
    pair = ModulePair(0, 0, Grade.GUESSED, "main programs")
    comparison = compare_modules(pair, first, main)
    causes = find_causes([comparison], comparison)
    verdict = judge(comparison, None)
    return Member(place, main.sketch.name, known_figures(main), verdict, causes[:1])


@contextmanager
def _both(
    base: str | Path, head: str | Path, profiles: Profiles, options: BuildOptions
) -> Iterator[tuple[OpenedSide, OpenedSide]]:
    with (
        open_side(base, options, profiles[0]) as ours,
        open_side(head, options, profiles[1]) as theirs,
    ):
        yield ours, theirs


def _compared(
    opened: tuple[OpenedSide, OpenedSide],
    profiles: Profiles,
    options: BuildOptions,
    progress: ProgressCallback,
) -> tuple[ComparisonRecord, Sequence[ModuleDiff]]:
    ours, theirs = (
        read_timed_side((item, other), named, options, progress)
        for item, other, named in zip(opened, reversed(opened), profiles, strict=True)
    )
    pairs = pair_modules(
        [sketched.sketch for sketched in ours.sketched],
        [sketched.sketch for sketched in theirs.sketched],
        (ours.main, theirs.main),
        (_extracted(ours.sketched), _extracted(theirs.sketched)),
    )
    comparisons = [
        compare_modules(
            pair,
            None if pair.base is None else ours.sketched[pair.base],
            None if pair.head is None else theirs.sketched[pair.head],
        )
        for pair in pairs
    ]
    mains = ours.main, theirs.main
    reports = ours.report, theirs.report
    diffs = dict(_diffs(comparisons, find_main(comparisons, mains), reports, options, progress))
    timings = keep_best_joined(
        dict(_timings(comparisons, (ours.watched, theirs.watched), options, progress))
    )
    words = [
        *(timing.problem for timing in timings.values()),
        *(diff.problem for diff in diffs.values()),
    ]
    failed = [Problem("", None, word) for word in words if word]
    record = compare_record(
        (ours.dump, theirs.dump),
        mains,
        comparisons,
        differences={place: diff.rows for place, diff in diffs.items()},
        timings={place: timing.times for place, timing in timings.items()},
        problems=(*ours.problems, *theirs.problems, *failed),
    )
    return record, list(diffs.values())


def _extracted(modules: Sequence[Sketched]) -> frozenset[int]:
    """Return the numbers of the modules that were extracted from another one for autotuning."""
    pieces = find_autotuning_pieces([module.summary for module in modules])
    return frozenset(
        number
        for number, module in enumerate(modules)
        if not module.bare and module.summary in pieces
    )


def _timings(
    comparisons: Sequence[Comparison],
    watched: tuple[Mapping[str, ModuleTimes], Mapping[str, ModuleTimes]],
    options: BuildOptions,
    progress: ProgressCallback,
) -> Iterator[tuple[int, tuple[TimingTask, Timing]]]:
    """Yield, by the place of the comparison, both profiles of modules that ran in both."""
    tasks = [
        task
        for comparison in comparisons
        if (task := _timing_task(comparison, *watched)) is not None
    ]
    places = {_pair_keys(comparison): place for place, comparison in enumerate(comparisons)}
    progress("comparing times", 0, len(tasks))
    work = work_in_processes(tasks, time_modules, options.jobs, lambda task: untimed(task, _DIED))
    for done, (task, result) in enumerate(work, 1):
        progress("comparing times", done, len(tasks))
        yield places[task.base.key, task.head.key], (task, result)


def _diffs(
    comparisons: Sequence[Comparison],
    main: int | None,
    reports: Reports,
    options: BuildOptions,
    progress: ProgressCallback,
) -> Iterator[tuple[int, ModuleDiff]]:
    """Yield the side-by-side data of differing modules, by the index of the comparison."""
    main_comparison = None if main is None else comparisons[main]
    passes = shown_passes(find_causes(comparisons, main_comparison))
    tasks = {
        task: place
        for place, comparison in enumerate(comparisons)
        if (task := diff_task(comparison, passes if place == main else (), reports)) is not None
    }
    progress("comparing modules", 0, len(tasks))
    work = work_in_processes(
        list(tasks), diff_modules, options.jobs, lambda task: failed_diff(task, _DIED)
    )
    for done, (task, result) in enumerate(work, 1):
        progress("comparing modules", done, len(tasks))
        yield tasks[task], result


def _pair_keys(comparison: Comparison) -> tuple[str, str]:
    base, head = (
        side.summary.files.key if side else "" for side in (comparison.base, comparison.head)
    )
    return base, head


def _timing_task(
    comparison: Comparison, base: Mapping[str, ModuleTimes], head: Mapping[str, ModuleTimes]
) -> TimingTask | None:
    """Return the task to compare times, if both sides have a profile and texts."""
    if comparison.base is None or comparison.head is None or comparison.bare:
        return None
    ours, theirs = comparison.base.summary.files, comparison.head.summary.files
    before, after = base.get(ours.name), head.get(theirs.name)
    return TimingTask(ours, theirs, before, after) if before and after else None


def _write(
    view: ComparisonRecord,
    diffs: Sequence[ModuleDiff],
    options: BuildOptions,
    progress: ProgressCallback,
    remarks: Sequence[str],
) -> None:
    payloads = {diff.slug: diff.payloads for diff in diffs if diff.slug}
    requests = (request for diff in diffs for request in diff.requests)
    with LayoutPool(options.jobs) as pool:
        drawn = Renderer(pool, Folder(options.out).cache, progress).draw(requests)
        files = compare_files(view, payloads, drawn, remarks)
        write_sources(options.out, files, hand_written=lambda name: name.startswith("assets/"))
