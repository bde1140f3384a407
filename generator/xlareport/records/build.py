"""The records of a report from an analyzed dump: what report.json holds and pages show."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from xlareport import __version__, reader_table
from xlareport.analysis.dump import AnalyzedDump, DumpRelations
from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.kernels.estimates import InstructionEstimates
from xlareport.analysis.kernels.record import ModuleKernels, ModuleTuning
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.evidence import Evidence
from xlareport.analysis.modules.marker import MarkerHit
from xlareport.analysis.modules.module_role import ModuleRole, Role
from xlareport.analysis.modules.ranking import MainGuess
from xlareport.analysis.modules.runs import Run
from xlareport.analysis.modules.summary import ModuleSummary, SnapshotSummary
from xlareport.analysis.passes.growth import Growth
from xlareport.analysis.ranks.numbers import rank_numbers
from xlareport.dump.module_names import explain_module
from xlareport.program import SideFileValues
from xlareport.records import sentences
from xlareport.records.collectives import collective_records
from xlareport.records.cost import cost_record
from xlareport.records.file_list import list_files
from xlareport.records.findings import candidate_records, finding_records
from xlareport.records.module_outline import ModuleOutline, SnapshotRecord
from xlareport.records.profile import profile_record
from xlareport.records.report import (
    CandidateRecord,
    DumpRecord,
    GeneratorRecord,
    MainProgramRecord,
    ModuleRecord,
    ReportRecord,
    RunRecord,
)
from xlareport.records.shardings import shardings_record
from xlareport.runtime import units
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults

_SCHEMA = 3
"""Raised when something changes its meaning or goes: 1 named each file three times, 2 had less
of collectives, below `expense`."""
_DECIDED = 0.99
"""Confidence where only one module contains the user's marker."""


def build_report(
    dump: AnalyzedDump,
    relations: DumpRelations,
    marker: str | None = None,
    keep: Callable[[Iterable[ModuleRecord]], Sequence[ModuleRecord]] = tuple,
) -> ReportRecord:
    """Build the records of a report; a marker in only one module decides the main program.

    A part that fails is listed as a problem and left at its default. `keep` returns a sequence of
    the records of modules.
    """
    faults = Faults(dump.name)
    report = ReportRecord(
        schema=_SCHEMA,
        generator=GeneratorRecord("xlareport", __version__),
        dump=_dump(dump),
        main=None,
        modules=keep(_module_records(dump, relations, faults)),
        files=list_files(dump.named, dump.module_keys),
        problems=(),
        links=relations.links,
        retrace_groups=relations.recompilations,
        eager_functions=relations.eager_functions,
        rank_groups=relations.rank_groups,
        processes=relations.process_count,
        ranks=relations.ranks.names if len(relations.ranks.names) > 1 else (),
    )
    main = faults.attempt(
        "The main program", lambda: _main(relations, marker, report.outlines), None
    )
    problems = _problems(dump, (*relations.problems, *faults.problems))
    return replace(report, main=main, problems=problems)


def _module_records(
    dump: AnalyzedDump, relations: DumpRelations, faults: Faults
) -> Iterator[ModuleRecord]:
    count = len(dump.modules)
    ranks = array("q", bytes(8 * count))
    for rank, place in enumerate(relations.ranking.order, 1):
        ranks[place] = rank
    groups, again = relations.group_of_module, relations.recompilation_findings
    for place, (module, role) in enumerate(zip(dump.modules, relations.roles, strict=True)):
        processes = relations.ranks.holders[module.summary.files.key]
        record = replace(
            _module(module.summary, role),
            rank=ranks[place],
            retrace_group=groups[place] if groups[place] >= 0 else None,
            process=processes[0] if processes else None,
            ranks=rank_numbers(processes),
            same_as=module.same_as.key if module.same_as else None,
        )
        yield _with_parts(record, module, again, faults)


def _with_parts(
    record: ModuleRecord, module: ModuleAnalysis, again: Sequence[Finding | None], faults: Faults
) -> ModuleRecord:
    """Return a module's record with the parts that can fail, each by itself."""
    cost, profile = module.cost, module.profile
    record = _with_kernels(record, module.kernels, module.side)
    attempt, of = faults.attempt, f"of {record.key}"
    findings = attempt(f"The findings {of}", lambda: finding_records(record, cost, again), ())
    titles = {finding.title for finding in findings}
    return replace(
        attempt(f"The figures of snapshots {of}", lambda: with_passes(record, module), record),
        cost=attempt(f"The cost {of}", lambda: cost_record(cost, titles), None),
        shardings=attempt(f"The shardings {of}", lambda: shardings_record(module.shardings), None),
        measured=attempt(f"The measured time {of}", lambda: profile_record(profile), None),
        findings=findings,
        candidates=attempt(f"The candidates {of}", lambda: candidate_records(record, cost), ()),
        collectives=attempt(
            f"The collectives {of}", lambda: collective_records(module.collectives), ()
        ),
        code=module.code.links if module.code else (),
        tpu_programs=module.tpu.programs if module.tpu else (),
        tpu=module.tpu.summary if module.tpu else None,
    )


def _with_kernels(
    record: ModuleRecord, kernels: ModuleKernels | None, side: SideFileValues
) -> ModuleRecord:
    if kernels is None:
        return record
    results = side.of(reader_table.AUTOTUNE_RESULTS)
    return replace(
        record,
        kernels=kernels.kernels,
        gemms=kernels.gemms,
        xla_estimates=tuple(
            InstructionEstimates(name, estimates) for name, estimates in kernels.estimates.items()
        ),
        command_buffers=kernels.command_buffers,
        tuning=None if results is None else ModuleTuning(results),
    )


def with_passes(record: ModuleRecord, module: ModuleAnalysis) -> ModuleRecord:
    """Return the record with the figures of each snapshot, and with pass times."""
    overview = module.overview
    if overview is None:
        return record
    stages = tuple(_with_figures(record.stages, overview.growth))
    return replace(record, stages=stages, passes=overview.passes, passes_microseconds=overview.span)


def _with_figures(
    stages: Iterable[SnapshotRecord], growth: Iterable[Growth]
) -> Iterator[SnapshotRecord]:
    """Yield the snapshots with figures for those that could be read."""
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
            dead_flops=figures.dead_flops,
            dead_bytes_accessed=figures.dead_bytes_accessed,
            partitions=figures.partitions,
        )


def with_problems(report: ReportRecord, problems: Iterable[Problem]) -> ReportRecord:
    """Return the report with further problems at the end of its list."""
    return replace(report, problems=(*report.problems, *problems))


def _dump(dump: AnalyzedDump) -> DumpRecord:
    origins = {summary.origin for summary in dump.summaries}
    artifacts, folders = dump.artifacts, dump.grouped.folder_copies
    return DumpRecord(
        path=dump.name,
        files=len(artifacts) + sum(copy.files for copy in folders),
        bytes=sum(artifact.entry.size for artifact in artifacts)
        + sum(copy.bytes for copy in folders),
        backends=tuple(sorted({origin.backend for origin in origins if origin.backend})),
        frontends=tuple(sorted({origin.frontend for origin in origins if origin.frontend})),
    )


def _main(
    relations: DumpRelations, marker: str | None, modules: Sequence[ModuleOutline]
) -> MainProgramRecord | None:
    guess = relations.guess
    if guess is None:
        return None
    best = guess.best
    decided = len(relations.marked) == 1
    mains = (
        (module.rank, module.key, module.name)
        for module in modules
        if module.role == ModuleRole.MAIN
    )
    return MainProgramRecord(
        module=best.summary.files.key,
        name=best.summary.display_name,
        function=explain_module(best.summary.display_name).display or "",
        confidence=_DECIDED if decided else guess.confidence,
        reasons=tuple(_reasons(guess, relations.marked, marker)),
        runners_up=()
        if decided
        else tuple(
            CandidateRecord(ranked.summary.files.key, ranked.summary.display_name)
            for ranked in guess.runners_up
        ),
        programs=tuple(CandidateRecord(key, name) for _, key, name in sorted(mains)),
        tie=guess.tie and not decided,
        sureness="marker" if decided else guess.sureness,
        meaning=sentences.decided() if decided else sentences.meaning(guess),
        runs=tuple(_run_record(run) for run in relations.runs),
        strongest=() if guess.alone else tuple(_strongest(best.evidence)),
    )


def _run_record(run: Run) -> RunRecord:
    best = run.main.best.summary
    return RunRecord(run.processes, best.files.key, best.display_name, run.main.sureness)


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
    yield from (_evidence_words(evidence) for evidence in best.evidence if round(evidence.points))
    if best.summary.final.instructions is None:
        yield "no module could be read, so nothing but names speaks for one"
    if guess.otherwise is not None:
        yield f"{guess.otherwise.summary.display_name} would come first if {guess.condition}"


def _evidence_words(evidence: Evidence) -> str:
    most = units.plural(round(evidence.weight), "point")
    remark = f" ({evidence.remark})" if evidence.remark else ""
    return f"{evidence.words}{remark} ({evidence.points:.0f} of {most})"


def _strongest(every: Iterable[Evidence]) -> Iterator[str]:
    """Yield the evidence for the best guess in which no other module exceeds it."""
    return (item.words for item in every if round(item.points) and not item.is_second)


def _module(summary: ModuleSummary, role: Role) -> ModuleRecord:
    return ModuleRecord(
        key=summary.files.key,
        slug=summary.files.slug,
        id=summary.files.id,
        name=summary.display_name,
        function=explain_module(summary.display_name).display or "",
        timestamp=summary.files.timestamp,
        role=role.name,
        role_reason=role.reason,
        rank=0,
        backend=summary.origin.backend,
        backend_reason=summary.origin.backend_reason,
        frontend=summary.origin.frontend,
        stages=tuple(_stage(stage) for stage in summary.stages),
        final=summary.final,
        files=tuple(artifact.path for artifact in summary.files.artifacts),
        runs=summary.runs.count if summary.runs else None,
        run_microseconds=summary.runs.microseconds if summary.runs else None,
    )


def _stage(snapshot: SnapshotSummary) -> SnapshotRecord:
    stage, step = snapshot.stage, snapshot.step
    return SnapshotRecord(
        sequence=stage.sequence,
        pipeline=stage.pipeline,
        after=stage.after,
        before=stage.before,
        label=stage.label,
        changed=step.changed if step else None,
        instructions=snapshot.instructions,
        computations=snapshot.computations,
        added=step.added if step else None,
        removed=step.removed if step else None,
        modified=step.modified if step else None,
        files=tuple(artifact.path for artifact in stage.artifacts),
        left_out=stage.left_out,
    )


def _problems(dump: AnalyzedDump, more: Iterable[Problem]) -> tuple[Problem, ...]:
    problems = [*dump.problems, *dump.grouped.problems, *more]
    for summary in dump.summaries:
        problems += summary.problems
    once = dict.fromkeys(problems)
    return tuple(
        sorted(once, key=lambda problem: (problem.path, problem.line or 0, problem.message))
    )
