"""Results of a module that repeats another one; the other's analysis is reused."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.summarize import text_bytes
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.duplicates import map_duplicate_paths
from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.pages import navigation, words
from xlareport.pages.module.file_list import files_table
from xlareport.pages.module.page import module_tables
from xlareport.pages.module.parts import ModuleHead
from xlareport.pages.module.work import ModuleOutput, ModuleResult
from xlareport.pages.tables import PartPage
from xlareport.pages.texts.page import kept_texts
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units

Payloads = tuple[tuple[str, str], ...]


def duplicate_texts(files: ModuleFiles) -> Payloads:
    """Return the payloads of its own texts, so that the report carries these files as well."""
    return kept_texts(files).payloads


def duplicate_result(
    result: ModuleResult, files: ModuleFiles, payloads: Payloads, *, identical: bool
) -> ModuleResult:
    """Return the result of a module whose files hold what those of `result` do.

    They are `identical`, or the same but for names, ids and notes.
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
    """Return the duplicate's stage of each stage of the original, in the order of the original."""
    by_path = {artifact.path: stage for stage in duplicate.stages for artifact in stage.artifacts}
    return {
        stage: replace(
            by_path[paths[stage.artifacts[0].path]],
            placed_by=stage.placed_by,
            left_out=stage.left_out,
        )
        for stage in original.stages
    }


@dataclass(frozen=True, slots=True)
class DuplicatePage(PartPage):
    """Everything on the page of a module that repeats another one."""

    record: ModuleRecord
    head: ModuleHead
    sameness: str
    original_key: str
    original_address: str


def duplicate_page(
    record: ModuleRecord, original: ModuleFiles, head: ModuleHead, analysis: ModuleAnalysis
) -> DuplicatePage:
    """Make the page that leads to the original."""
    page = navigation.module_page(record.slug)
    return DuplicatePage(
        name=words.short_name(record.name),
        slug=record.slug,
        tables={"files": files_table(analysis.summary), **module_tables(analysis.summary)},
        record=record,
        head=head,
        sameness=_sameness(record, is_identical=analysis.is_identical),
        original_key=original.key,
        original_address=navigation.address(navigation.module_page(original.slug), page),
    )


def _sameness(record: ModuleRecord, *, is_identical: bool) -> str:
    files = units.plural(len(record.files), "file")
    if is_identical:
        return f"its {files} are byte-identical"
    return (
        f"its {files} differ from those of that rank in names, ids and notes only; the table of "
        "ranks names the first difference"
    )
