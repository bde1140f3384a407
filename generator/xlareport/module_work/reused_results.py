"""Results that use what this process has: of a module that repeats another, or from a worker."""

from collections.abc import Mapping

from msgspec.structs import replace

from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.summarize import text_bytes
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.duplicate_modules import map_duplicate_paths
from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.module_work.process import ModuleResult
from xlareport.pages.module.output import ModuleOutput
from xlareport.pages.texts.page import kept_texts

Payloads = tuple[tuple[str, str], ...]


def duplicate_texts(files: ModuleFiles) -> Payloads:
    """Return the payloads of its own texts, so that the report carries these files as well."""
    return kept_texts(files).payloads


def duplicate_result(
    result: ModuleResult, files: ModuleFiles, payloads: Payloads, *, identical: bool
) -> ModuleResult:
    """Return the result of a module whose files equal those of `result`.

    They are `identical`, or equal except for names, ids and notes.
    """
    analysis = result.analysis
    original = analysis.summary.files
    paths = map_duplicate_paths(original, files)
    own = replace(
        analysis,
        summary=_summary(analysis.summary, files, paths),
        read=tuple(paths[path] for path in analysis.read),
        same_as=original,
        is_identical=identical,
    )
    return ModuleResult(own, ModuleOutput(payloads))


def _summary(summary: ModuleSummary, files: ModuleFiles, paths: Mapping[str, str]) -> ModuleSummary:
    stages = _stages(summary.files, files, paths)
    final = stages[summary.final_stage] if summary.final_stage else None
    files = replace(files, stages=tuple(stages.values()))
    problems = (
        replace(problem, path=paths.get(problem.path, problem.path)) for problem in summary.problems
    )
    return replace(
        summary,
        files=files,
        stages=tuple(replace(stage, stage=stages[stage.stage]) for stage in summary.stages),
        final_stage=final,
        text_bytes=text_bytes(final) if final else 0,
        problems=tuple(problems),
    )


def _stages(
    original: ModuleFiles, duplicate: ModuleFiles, paths: Mapping[str, str]
) -> dict[SnapshotFiles, SnapshotFiles]:
    """Return the duplicate's stage for each stage of the original, in order."""
    by_path = {artifact.path: stage for stage in duplicate.stages for artifact in stage.artifacts}
    return {
        stage: replace(
            by_path[paths[stage.artifacts[0].path]],
            placed_by=stage.placed_by,
            left_out=stage.left_out,
        )
        for stage in original.stages
    }


def with_shared_files(analysis: ModuleAnalysis, files: ModuleFiles) -> ModuleAnalysis:
    """Return the analysis with this process's file objects in place of copies."""
    summary = analysis.summary
    stages = {stage.key: stage for stage in files.stages}

    def own(stage: SnapshotFiles) -> SnapshotFiles:
        mine = stages.get(stage.key, stage)
        if [artifact.path for artifact in mine.artifacts] != [
            artifact.path for artifact in stage.artifacts
        ]:
            return stage
        shared = replace(stage, artifacts=mine.artifacts)
        return mine if mine == shared else shared

    copy = replace(
        summary.files,
        artifacts=files.artifacts,
        stages=tuple(map(own, summary.files.stages)),
        nameless=files.nameless,
        llo=files.llo,
    )
    shared = replace(
        summary,
        files=files if copy == files else copy,
        stages=tuple(replace(snapshot, stage=own(snapshot.stage)) for snapshot in summary.stages),
        final_stage=own(summary.final_stage) if summary.final_stage else None,
    )
    paths = {artifact.path: artifact.path for artifact in files.artifacts}
    return replace(
        analysis, summary=shared, read=tuple(paths.get(path, path) for path in analysis.read)
    )
