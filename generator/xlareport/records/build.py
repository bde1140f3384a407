"""The records of a report from an analyzed dump: what report.json holds and pages show."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from xlareport import __version__
from xlareport.analysis.dump import AnalyzedDump, DumpRelations, relate_modules
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.evidence import Evidence
from xlareport.analysis.modules.helpers import Role
from xlareport.analysis.modules.marker import MarkerHit
from xlareport.analysis.modules.ranking import MainGuess, Ranked
from xlareport.analysis.modules.summary import ModuleSummary, SnapshotSummary
from xlareport.analysis.passes.growth import Growth
from xlareport.records import relations, sentences
from xlareport.records.cost import cost_record
from xlareport.records.findings import finding_records
from xlareport.records.profile import profile_record
from xlareport.records.report import (
    DumpView,
    FileView,
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
from xlareport.runtime.faults import Faults

_SCHEMA = 2
"""Raised when something changes its meaning or goes; 1 named each file three times."""
_DECIDED = 0.99
"""Confidence where only one module contains the user's marker."""


def build_report(dump: AnalyzedDump, marker: str | None = None) -> ReportView:
    """Build the records of a report; a marker in only one module decides the main program.

    A part that fails is listed as a problem and left at its default.
    """
    found = relate_modules(dump)
    faults = Faults(dump.name)
    modules = tuple(_module_records(dump, found, faults))
    main = faults.attempt("The main program", lambda: _main(found, marker, modules), None)
    return ReportView(
        schema=_SCHEMA,
        generator=GeneratorView("xlareport", __version__),
        dump=_dump(dump),
        main=main,
        modules=modules,
        files=_files(dump),
        problems=_problem_views(_problems(dump, (*found.problems, *faults.problems))),
        links=found.links,
        retrace_groups=relations.retrace_views(found.recompilations),
        eager_functions=found.eager_functions,
        rank_groups=relations.rank_views(found.rank_groups),
        processes=found.process_count,
    )


def _module_records(
    dump: AnalyzedDump, found: DumpRelations, faults: Faults
) -> Iterator[ModuleView]:
    places = {ranked.summary.files.key: place for place, ranked in enumerate(found.ranking, 1)}
    groups = relations.group_places(found.recompilations)
    for module, role in zip(dump.modules, found.roles, strict=True):
        key = module.summary.files.key
        record = replace(
            _module(module.summary, role),
            rank=places[key],
            retrace_group=groups.get(key),
            process=found.processes[key],
            same_as=module.same_as.key if module.same_as else None,
        )
        yield _with_parts(record, module, found, faults)


def _with_parts(
    record: ModuleView, module: ModuleAnalysis, found: DumpRelations, faults: Faults
) -> ModuleView:
    """Return a module's record with the parts that can fail, each by itself."""
    cost, clock, backend = module.expense, module.clock, record.backend
    attempt, of = faults.attempt, f"of {record.key}"
    return replace(
        attempt(f"The figures of snapshots {of}", lambda: with_passes(record, module), record),
        expense=attempt(f"The cost {of}", lambda: cost_record(cost, backend), None),
        measured=attempt(f"The measured time {of}", lambda: profile_record(clock), None),
        findings=attempt(
            f"The findings {of}", lambda: finding_records(record, cost, found.recompilations), ()
        ),
        code=module.code.links if module.code else (),
    )


def with_passes(record: ModuleView, module: ModuleAnalysis) -> ModuleView:
    """Return the record with the figures of each snapshot, and with the times of passes."""
    overview = module.glance
    if overview is None:
        return record
    stages = tuple(_with_figures(record.stages, overview.growth))
    return replace(record, stages=stages, passes=overview.passes, passes_microseconds=overview.span)


def _with_figures(stages: Iterable[StageView], growth: Iterable[Growth]) -> Iterator[StageView]:
    """Give each snapshot that could be read its figures; the others keep theirs."""
    following = iter(growth)
    for stage in stages:
        if stage.instructions is None:
            yield stage
            continue
        figures = next(following)
        yield replace(
            stage,
            fusions=figures.fusions,
            flops=figures.flops,
            bytes_accessed=figures.bytes_accessed,
            partitions=figures.partitions,
        )


def with_problems(report: ReportView, problems: Iterable[Problem]) -> ReportView:
    """Return the report with what else went wrong since, at the end of its list."""
    return replace(report, problems=(*report.problems, *_problem_views(problems)))


def _problem_views(problems: Iterable[Problem]) -> tuple[ProblemView, ...]:
    return tuple(ProblemView(one.path, one.line, one.message) for one in problems)


def _dump(dump: AnalyzedDump) -> DumpView:
    origins = [summary.origin for summary in dump.summaries]
    artifacts = dump.artifacts
    return DumpView(
        path=dump.name,
        files=len(artifacts),
        bytes=sum(one.entry.size for one in artifacts),
        backends=tuple(sorted({one.backend for one in origins if one.backend})),
        frontends=tuple(sorted({one.frontend for one in origins if one.frontend})),
    )


def _main(
    found: DumpRelations, marker: str | None, modules: Sequence[ModuleView]
) -> MainView | None:
    guess = found.guess
    if guess is None:
        return None
    best = guess.best
    decided = len(found.marked) == 1
    return MainView(
        module=best.summary.files.key,
        name=best.summary.display_name,
        confidence=_DECIDED if decided else guess.confidence,
        reasons=tuple(_reasons(guess, found.marked, marker)),
        runners_up=() if decided else tuple(map(_runner_up, guess.runners_up)),
        programs=tuple(
            RunnerUpView(one.key, one.name)
            for one in sorted(modules, key=lambda one: one.rank)
            if one.role == "main"
        ),
        tie=guess.tie and not decided,
        sureness="marker" if decided else guess.sureness,
        meaning=sentences.decided() if decided else sentences.meaning(guess),
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


def _module(one: ModuleSummary, role: Role) -> ModuleView:
    return ModuleView(
        key=one.files.key,
        slug=one.files.slug,
        id=one.files.id,
        name=one.display_name,
        timestamp=one.files.timestamp,
        role=role.name,
        role_reason=role.reason,
        rank=0,
        backend=one.origin.backend,
        backend_reason=one.origin.backend_reason,
        frontend=one.origin.frontend,
        stages=tuple(_stage(stage) for stage in one.stages),
        final=one.final,
        files=tuple(artifact.path for artifact in one.files.artifacts),
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
        left_out=stage.left_out,
    )


def _files(dump: AnalyzedDump) -> tuple[FileView, ...]:
    owner = {
        artifact.path: module.key
        for module in dump.grouped.modules
        for artifact in module.artifacts
    }
    return tuple(FileView(one.path, one.name.kind, owner.get(one.path)) for one in dump.artifacts)


def _problems(dump: AnalyzedDump, more: Iterable[Problem]) -> Sequence[Problem]:
    found = [*dump.problems, *dump.grouped.problems, *more]
    for summary in dump.summaries:
        found += summary.problems
    return sorted(set(found), key=lambda one: (one.path, one.line or 0, one.message))
