"""The facts of all modules become the report's records: what report.json holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from xlareport import __version__
from xlareport.analysis.modules.eager import eager_functions
from xlareport.analysis.modules.evidence import Evidence
from xlareport.analysis.modules.helpers import Role
from xlareport.analysis.modules.links import links
from xlareport.analysis.modules.marker import MarkerHit
from xlareport.analysis.modules.processes import process_count
from xlareport.analysis.modules.ranking import MainGuess, Ranked, main_guess, rank
from xlareport.analysis.modules.ranks import ranks
from xlareport.analysis.modules.retraces import RetraceGroup, retraces
from xlareport.analysis.modules.roles import roles
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.summary import ModuleSummary, SnapshotSummary
from xlareport.analysis.profile.measured import Measured
from xlareport.analysis.profile.runs import module_runs
from xlareport.analysis.profile.times import ModuleTimes
from xlareport.dump.modules import Artifact, GroupedDump
from xlareport.pages import words
from xlareport.pages.expense_facts import with_expense
from xlareport.pages.finding_facts import with_findings
from xlareport.pages.module_parts import Parts
from xlareport.pages.module_work import ModuleResult
from xlareport.pages.profile.page import with_measured
from xlareport.readers.tf_graph import FrameworkGraph
from xlareport.records import relations
from xlareport.records.passes import with_glance
from xlareport.records.report import (
    DumpView,
    FileView,
    FinalView,
    GeneratorView,
    MainView,
    ModuleView,
    ProblemView,
    ReportView,
    RunnerUpView,
    StageView,
)
from xlareport.runtime import units
from xlareport.runtime.errors import Problem

_SCHEMA = 2
"""Raised when something changes its meaning or goes; 1 named each file three times."""
_DECIDED = 0.99


@dataclass(frozen=True, slots=True)
class Dump:
    """What the names of a dump say."""

    name: str
    artifacts: tuple[Artifact, ...]
    grouped: GroupedDump
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Analysed:
    """A dump with all its modules analysed, before anything is made of it."""

    dump: Dump
    results: tuple[ModuleResult, ...]
    graphs: tuple[FrameworkGraph, ...] = ()
    """Graphs of the framework, where the dump has them."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the framework left operations out of its clusters, by their names, as its log says."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """What files beside the modules were read for, by their paths."""

    @property
    def summaries(self) -> tuple[ModuleSummary, ...]:
        """The modules in figures."""
        return tuple(one.summary for one in self.results)

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each module's files by its key."""
        return {one.files.key: one.files.bytes for one in self.summaries}

    def settings_of(self, key: str | None) -> tuple[OptionOrigin, ...]:
        """Return the options of a module, else of the first module that has some."""
        stated = {one.files.key: one.settings for one in self.summaries if one.settings}
        return stated.get(key or "", next(iter(stated.values()), ()))


def with_runs(
    results: Iterable[ModuleResult], watched: Mapping[str, ModuleTimes]
) -> Iterator[ModuleResult]:
    """Add how often modules ran; of several of one name those that the profile may have seen."""
    results = list(results)
    told = {one.summary.files.name for one in results if one.clock}
    for one in results:
        name = one.summary.files.name
        times = watched.get(name) if one.clock or name not in told else None
        found = module_runs(times) if times else None
        if found and one.clock:
            shared = bool(one.clock.twins or one.clock.others)
            found = replace(found, shared=shared, count=found.count or one.clock.entered)
        yield replace(one, summary=replace(one.summary, runs=found)) if found else one


def with_clocks(results: Sequence[ModuleResult]) -> Iterator[ModuleResult]:
    """Keep what a profiler saw with those modules of a name whose instructions it saw."""
    by_name: dict[str, list[ModuleResult]] = {}
    for one in results:
        if one.clock is not None:
            by_name.setdefault(one.summary.files.name, []).append(one)
    for one in results:
        yield replace(one, clock=_own_clock(one, by_name.get(one.summary.files.name, ())))


def _own_clock(result: ModuleResult, alike: Sequence[ModuleResult]) -> Measured | None:
    if result.clock is None:
        return None
    clocks = {one.summary.files.key: one.clock for one in alike if one.clock}
    own = result.clock
    best = max(clocks.values(), key=lambda one: one.joined)
    if own.joined < best.joined and not _knows_more(own, best):
        return None
    del clocks[result.summary.files.key]
    twins = [key for key, one in clocks.items() if one.joined == own.joined]
    others = [key for key, one in clocks.items() if one.joined and key not in twins]
    return replace(own, twins=tuple(twins), others=tuple(others))


def _knows_more(own: Measured, best: Measured) -> bool:
    """Say whether a module has instructions that ran and that the best one of its name lacks."""
    return not {one.name for one in best.unknown}.isdisjoint(row.time.name for row in own.rows)


def report_view(analysed: Analysed, marker: str | None = None) -> ReportView:
    """Make the report's records; a marker that was found decides which program is the main one.

    A fault of ours in one part of that costs the part, and is told among the problems.
    """
    summaries = analysed.summaries
    parts = Parts(analysed.dump.name)
    hits = {one.summary.files.key: one.marker for one in analysed.results if one.marker}
    ranked = _ranked(summaries, hits, parts)
    guess = parts.make(
        "The guess of the main program", lambda: _guess(analysed, ranked, hits), None
    )
    linked = parts.make("The links", lambda: links(summaries, analysed.graphs), ())
    proven = [(one.source, one.target) for one in linked if one.grade == "exact"]
    played = parts.make("The roles", lambda: roles(summaries, guess, proven), _no_roles(summaries))
    retraced = parts.make("What was compiled again", lambda: retraces(summaries), ())
    eager = parts.make("What ran eagerly", lambda: eager_functions(summaries, played), ())
    grouped = parts.make("The ranks of devices", lambda: ranks(summaries), ())
    unnumbered: dict[str, int | None] = {one.files.key: None for one in summaries}
    apart = parts.make("The processes", lambda: relations.numbered_processes(summaries), unnumbered)
    places = {one.summary.files.key: place for place, one in enumerate(ranked, 1)}
    groups = relations.group_places(retraced)
    modules = tuple(
        replace(
            _told(_module(one.summary, role, places[key], groups.get(key)), one, retraced, parts),
            process=apart[key],
            same_as=one.same_as.key if one.same_as else None,
        )
        for one, role in zip(analysed.results, played, strict=True)
        for key in (one.summary.files.key,)
    )
    main = parts.make("The main program", lambda: _main(guess, hits, marker, modules), None)
    return ReportView(
        schema=_SCHEMA,
        generator=GeneratorView("xlareport", __version__),
        dump=_dump(analysed),
        main=main,
        modules=modules,
        files=_files(analysed.dump),
        problems=_problem_views(_problems(analysed, parts.problems)),
        links=relations.link_views(linked),
        retrace_groups=relations.retrace_views(retraced),
        eager_functions=relations.eager_views(eager),
        rank_groups=relations.rank_views(grouped),
        processes=parts.make("The number of processes", lambda: process_count(summaries), None),
    )


def _ranked(
    summaries: Sequence[ModuleSummary], hits: Mapping[str, MarkerHit], parts: Parts
) -> tuple[Ranked, ...]:
    """Rank the modules, those with the marker first; in their own order where that fails."""
    unranked = tuple(Ranked(one, 0.0, ()) for one in summaries)
    ranked = parts.make("The ranking of the modules", lambda: rank(summaries), unranked)
    return tuple(sorted(ranked, key=lambda one: one.summary.files.key not in hits))


def _guess(
    analysed: Analysed, ranked: Sequence[Ranked], hits: Mapping[str, MarkerHit]
) -> MainGuess | None:
    """Guess the main program, among those with the marker where there are any."""
    found = tuple(one for one in ranked if one.summary.files.key in hits)
    again = {one.summary.files.key for one in analysed.results if one.same_as}
    return main_guess(tuple(one for one in found or ranked if one.summary.files.key not in again))


def _no_roles(summaries: Sequence[ModuleSummary]) -> tuple[Role, ...]:
    return tuple(Role("unknown", "the roles could not be told") for _ in summaries)


def _told(
    view: ModuleView, result: ModuleResult, retraced: Sequence[RetraceGroup], parts: Parts
) -> ModuleView:
    """Return a module's record with all that was found out about it."""
    added: tuple[tuple[str, Callable[[ModuleView], ModuleView]], ...] = (
        ("figures of snapshots", lambda one: with_glance(one, result.glance)),
        ("cost", lambda one: with_expense(one, result.expense)),
        ("measured time", lambda one: with_measured(one, result.clock)),
        ("findings", lambda one: with_findings(one, result, retraced)),
    )
    for what, add in added:
        view = parts.make(f"The {what} of {view.key}", partial(add, view), view)
    return view


def with_problems(report: ReportView, problems: Iterable[Problem]) -> ReportView:
    """Return the report with what else went wrong since, at the end of its list."""
    return replace(report, problems=(*report.problems, *_problem_views(problems)))


def _problem_views(problems: Iterable[Problem]) -> tuple[ProblemView, ...]:
    return tuple(ProblemView(one.path, one.line, one.message) for one in problems)


def _dump(analysed: Analysed) -> DumpView:
    origins = [one.origin for one in analysed.summaries]
    artifacts = analysed.dump.artifacts
    return DumpView(
        path=analysed.dump.name,
        files=len(artifacts),
        bytes=sum(one.entry.size for one in artifacts),
        backends=tuple(sorted({one.backend for one in origins if one.backend})),
        frontends=tuple(sorted({one.frontend for one in origins if one.frontend})),
    )


def _main(
    guess: MainGuess | None,
    hits: Mapping[str, MarkerHit],
    marker: str | None,
    modules: Sequence[ModuleView],
) -> MainView | None:
    if guess is None:
        return None
    best = guess.best
    decided = len(hits) == 1
    return MainView(
        module=best.summary.files.key,
        name=best.summary.display_name,
        confidence=_DECIDED if decided else guess.confidence,
        reasons=tuple(_reasons(guess, hits, marker)),
        runners_up=() if decided else tuple(map(_runner_up, guess.runners_up)),
        programs=tuple(
            RunnerUpView(one.key, one.name)
            for one in sorted(modules, key=lambda one: one.rank)
            if one.role == "main"
        ),
        tie=guess.tie and not decided,
        sureness="marker" if decided else guess.sureness,
        meaning=words.decided() if decided else words.meaning(guess),
    )


def _reasons(guess: MainGuess, hits: Mapping[str, MarkerHit], marker: str | None) -> Iterator[str]:
    """Yield why the best guess is the best, the marker first."""
    best = guess.best
    hit = hits.get(best.summary.files.key)
    if hit is not None:
        shared = f"; {units.plural(len(hits), 'module')} do" if len(hits) > 1 else ""
        yield f"contains the marker {marker}, first in {hit.first}{shared}"
    elif marker is not None:
        yield f"the marker {marker} was found in no module"
    if guess.alone:
        yield "it is the only module whose instructions could be read"
        return
    yield from (_reason(one) for one in best.evidence if round(one.points))
    if best.summary.final.instructions is None:
        yield "no module could be read, so nothing but names speaks for one"
    if guess.by_rounds is not None:
        other = guess.by_rounds.summary.display_name
        often = "more" if guess.oftener else "less"
        yield f"{other} would come first if loops of unknown length ran {often} often than assumed"


def _reason(one: Evidence) -> str:
    return f"{one.words} ({one.points:.0f} of {units.plural(round(one.weight), 'point')})"


def _runner_up(one: Ranked) -> RunnerUpView:
    return RunnerUpView(one.summary.files.key, one.summary.display_name)


def _module(one: ModuleSummary, found: Role, place: int, group: int | None) -> ModuleView:
    return ModuleView(
        key=one.files.key,
        slug=one.files.slug,
        id=one.files.id,
        name=one.display_name,
        timestamp=one.files.timestamp,
        role=found.name,
        role_reason=found.reason,
        rank=place,
        backend=one.origin.backend,
        backend_reason=one.origin.backend_reason,
        frontend=one.origin.frontend,
        stages=tuple(_stage(stage) for stage in one.stages),
        final=FinalView(**asdict(one.final)),
        files=tuple(artifact.path for artifact in one.files.artifacts),
        retrace_group=group,
        runs=one.runs.count if one.runs else None,
        run_microseconds=one.runs.microseconds if one.runs else None,
    )


def _stage(one: SnapshotSummary) -> StageView:
    stage, step = one.stage, one.step
    return StageView(
        sequence=stage.sequence,
        pipeline=stage.pipeline,
        after=stage.after,
        before=stage.before,
        label=stage.label,
        changed=step.changed if step else None,
        instructions=one.instructions,
        computations=one.computations,
        added=step.added if step else None,
        removed=step.removed if step else None,
        modified=step.modified if step else None,
        files=tuple(artifact.path for artifact in stage.artifacts),
    )


def _files(dump: Dump) -> tuple[FileView, ...]:
    owner = {
        artifact.path: module.key
        for module in dump.grouped.modules
        for artifact in module.artifacts
    }
    return tuple(FileView(one.path, one.name.kind, owner.get(one.path)) for one in dump.artifacts)


def _problems(analysed: Analysed, more: Iterable[Problem]) -> Sequence[Problem]:
    found = [*analysed.dump.problems, *analysed.dump.grouped.problems, *more]
    for one in analysed.summaries:
        found += one.problems
    return sorted(set(found), key=lambda one: (one.path, one.line or 0, one.message))
