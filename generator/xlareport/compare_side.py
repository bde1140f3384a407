"""One side of a comparison: a dump or a report, read as far as comparing needs it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.compare.comparison import Sketched
from xlareport.analysis.compare.sketch import SketchedModule, sketch_module, unreadable_sketch
from xlareport.analysis.dump import AnalyzedDump, StoredAnalyses, relate_modules
from xlareport.analysis.fitted_profiles import count_runs
from xlareport.analysis.profile.instruction_times import ModuleTimes
from xlareport.analysis.ranks.members import rank_table
from xlareport.dump.beside import profiles_beside
from xlareport.dump.equivalent_modules import find_repeated_modules
from xlareport.dump.grouping import group_source
from xlareport.dump.source import Source, open_files
from xlareport.records.bare_report import (
    ONLY_FIGURES,
    BareReport,
    is_bare_report,
    read_bare_report,
)
from xlareport.records.build import build_report
from xlareport.records.report import DumpRecord
from xlareport.records.stored_sketches import SketchedReport, read_sketched_report
from xlareport.report import BuildOptions
from xlareport.runtime.errors import Problem
from xlareport.runtime.progress import ProgressCallback
from xlareport.runtime.worker_pool import work_in_processes
from xlareport.side_files import read_profiles

_DIED = "the process that read it died, perhaps out of memory"
_OF_BOTH = "Not read: it is next to both dumps. --profile-base or --profile-head assigns it."
_NO_TIMES: Mapping[str, ModuleTimes] = {}
OpenedSide: TypeAlias = Source | BareReport | SketchedReport


class ComparedSide(Struct, frozen=True):
    """One side, read once."""

    sketched: tuple[Sketched, ...]
    dump: DumpRecord
    main: str | None
    problems: tuple[Problem, ...]
    watched: Mapping[str, ModuleTimes] = field(default_factory=dict)
    """Profiles by the name of the module."""
    report: SketchedReport | None = None
    """The report with texts that are restored on demand; None if all texts are there."""


@contextmanager
def open_side(
    place: str | Path, options: BuildOptions, profiles: Sequence[str] = ()
) -> Iterator[OpenedSide]:
    """Open a dump, a report, or the report.json of one.

    A report with profiles is read in full: their times are joined with its texts.
    """
    with open_files(place, options.limits) as opened:
        watched = profiles or profiles_beside(opened.source.location)
        sketched = None if watched else read_sketched_report(opened)
        if sketched is not None:
            yield sketched
            return
        source = opened.restored()
        first = source.entries[0]
        alone = len(source.entries) == 1 and is_bare_report(first.path)
        yield read_bare_report(first.location, source.name) if alone else source


def read_timed_side(
    opened: tuple[OpenedSide, OpenedSide],
    named: Sequence[str],
    options: BuildOptions,
    progress: ProgressCallback,
) -> ComparedSide:
    """Return one side with its profiles; `opened` are this dump and the other."""
    source, other = opened
    if isinstance(source, BareReport | SketchedReport):
        return read_side(source, options, progress)
    near = () if named else profiles_beside(source.location)
    shared = _of_both(near, source, other)
    beside = [path for path in near if path not in shared]
    seen = read_profiles(source, named, options.limits, progress, beside=beside)
    side = read_side(source, options, progress, seen.modules)
    unread = [Problem(str(path), None, _OF_BOTH) for path in shared]
    problems = (*side.problems, *unread, *seen.problems)
    return replace(side, watched=seen.modules, problems=problems)


def _of_both(profiles: Sequence[Path], own: Source, other: OpenedSide) -> Sequence[Path]:
    """Return the profiles next to a dump that may belong to the other one."""
    if isinstance(other, BareReport) or other.location is None or other.location == own.location:
        return ()
    place, theirs = other.location.resolve(), profiles_beside(other.location)
    return [profile for profile in profiles if profile.is_relative_to(place) or profile in theirs]


def read_side(
    source: OpenedSide,
    options: BuildOptions,
    progress: ProgressCallback,
    watched: Mapping[str, ModuleTimes] = _NO_TIMES,
) -> ComparedSide:
    """Read one side; `watched` counts runs, so that the main program is the one of its report."""
    if isinstance(source, BareReport):
        problem = Problem(source.dump.path, None, ONLY_FIGURES)
        return ComparedSide(source.sketched, source.dump, source.main, (problem,))
    if isinstance(source, SketchedReport):
        record = source.known
        return ComparedSide(
            source.sketched, record.dump, record.main, record.problems, report=source
        )
    named = group_source(source)
    grouped = named.grouped
    sketches: dict[str, SketchedModule] = {}
    what = f"reading {Path(source.name).name}"
    progress(what, 0, len(grouped.modules))
    ordered = sorted(grouped.modules, key=lambda module: module.bytes, reverse=True)
    work = work_in_processes(
        ordered, sketch_module, options.jobs, lambda module: unreadable_sketch(module, _DIED)
    )
    for done, (module, result) in enumerate(work, 1):
        sketches[module.key] = result
        progress(what, done, len(grouped.modules))
    results = [sketches[module.key] for module in grouped.modules]
    same = find_repeated_modules(grouped.modules).same
    files = {module.key: module for module in grouped.modules}
    analyses = StoredAnalyses().extend(
        replace(analysis, same_as=files.get(same.get(analysis.summary.files.key, "")))
        for analysis in count_runs((result.analysis for result in results), watched)
    )
    summaries = [analysis.summary for analysis in analyses]
    ranks, unranked = rank_table(source.name, summaries, grouped)
    problems = (*source.problems, *unranked)
    dump = AnalyzedDump(source.name, named, problems, analyses, ranks)
    report = build_report(dump, relate_modules(dump), options.marker)
    main = report.main_key
    return ComparedSide(
        tuple(result.sketched for result in results), report.dump, main, report.problems
    )
