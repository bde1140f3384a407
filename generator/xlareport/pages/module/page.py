"""A module's page: the overview, about two screens; of a module that repeats another, a link."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.summary import ModuleSummary, SnapshotSummary, StepSummary
from xlareport.dump.modules import ModuleFiles
from xlareport.pages import navigation, words
from xlareport.pages.charts import Point, growth_curve
from xlareport.pages.code.page import code_words
from xlareport.pages.cost.basis import describe_on_chip
from xlareport.pages.cost.page import devices_of
from xlareport.pages.findings.section import FindingsView, module_findings
from xlareport.pages.large_figures import Figure, main_figures
from xlareport.pages.module.file_list import files_table
from xlareport.pages.module.head import ModuleHead
from xlareport.pages.module.signature import (
    SignaturePart,
    has_many,
    signature_part,
    tabulate_signature,
)
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import PartPage, Table
from xlareport.pages.texts.page import has_texts
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.runtime.errors import Problem

_TOP_STEPS = 3
_HEAVIEST_SHOWN = 5
_PROBLEMS = 3
_DECISIONS = "priority_fusion_dump"
"""The stage of the file in which the GPU compiler lists its fusion decisions."""


class ModulePage(PartPage, frozen=True):
    """Everything on a module's page."""

    record: ModuleRecord
    head: ModuleHead
    journey: str
    problems: tuple[str, ...]
    """The first few files of it that could not be read."""
    more_problems: int
    chips: tuple[str, ...]
    figures: tuple[Figure, ...]
    curve: Markup
    top_steps: tuple[tuple[str, SnapshotSummary, StepSummary], ...]
    """Address, snapshot and changes of the steps that changed most."""
    steps_address: str | None
    no_steps: str
    passes_address: str | None
    """None where there are no steps."""
    has_history: bool
    """Whether any step changed something."""
    fusion: Markup
    """Where the report says why two instructions were not fused, or why it does not."""
    signature: SignaturePart
    heaviest: tuple[HeavyInstruction, ...]
    heaviest_words: str
    time_heading: str
    no_heaviest: str
    findings: FindingsView | None
    """None if nothing was counted."""
    code_words: str
    code_address: str | None
    """None if the dump has no code of the module."""
    texts_address: str | None
    """None where the module has no texts."""


def module_page(
    record: ModuleRecord,
    module: ModuleAnalysis,
    head: ModuleHead,
) -> ModulePage:
    """Return the page of one module."""
    page = navigation.module_page(record.slug)
    steps, passes, code, texts = (
        navigation.module_address(record.slug, part, seen_from=page)
        for part in ("steps", "passes", "code", "texts")
    )
    summary = module.summary
    return ModulePage(
        tables=module_tables(summary),
        record=record,
        head=head,
        journey=words.journey(record),
        problems=tuple(_problem(problem) for problem in summary.problems[:_PROBLEMS]),
        more_problems=max(0, len(summary.problems) - _PROBLEMS),
        chips=(*_chips(record, summary.files.second_id), *_runs(record)),
        figures=main_figures(record.final, devices_of(record), record.backend),
        curve=Markup(growth_curve(_points(summary.stages), "instructions")),  # noqa: S704 - SVG
        top_steps=_top_steps(record.slug, module, page),
        steps_address=steps if record.steps else None,
        no_steps=_no_steps(record),
        passes_address=passes if module.overview and record.steps else None,
        has_history=record.changed_steps > 0,
        fusion=prose(_fusion_words(record, summary)),
        signature=signature_part(
            summary, module.cost.memory.argument_padding_bytes if module.cost else 0
        ),
        heaviest=module.cost.heaviest[:_HEAVIEST_SHOWN] if module.cost else (),
        heaviest_words=_heaviest_words(module.cost),
        time_heading="By cycles" if module.cost and module.cost.by_cycles else "Roofline",
        no_heaviest=_no_heaviest(record),
        findings=module_findings(module, record, page),
        code_words=code_words(module.code) if module.code else _NO_CODE,
        code_address=code if module.code else None,
        texts_address=texts if has_texts(summary.files) else None,
    )


_NO_CODE = (
    "No kernels of this module in the dump, or none that could be read. On CPU and GPU, XLA dumps "
    "LLVM IR, PTX and object files next to the HLO."
)

_HEAVIEST = (
    "Ranked by roofline time: max(FLOPs / peak FLOP/s, bytes / memory bandwidth, bytes sent / "
    "interconnect bandwidth), loops multiplied by trip count. Not measured."
)
_BY_CYCLES = (
    "Ranked by the compiler's estimated cycles; collectives and instructions without cycles by "
    "roofline time. Loops multiplied by trip count. Not measured."
)


def _heaviest_words(cost: CostReport | None) -> str:
    """Return what the ranking is by, and what the roofline leaves out."""
    if cost is None:
        return _HEAVIEST
    return f"{_BY_CYCLES if cost.by_cycles else _HEAVIEST}{describe_on_chip(cost)}"


def _fusion_words(record: ModuleRecord, summary: ModuleSummary) -> str:
    """Return where to find out why two instructions were not fused; empty without histories."""
    if not record.changed_steps:
        return ""
    if any(artifact.name.stage == _DECISIONS for artifact in summary.files.artifacts):
        return (
            "Why two instructions were not fused: trace one of them. The reasons are from "
            "`priority_fusion_dump`."
        )
    reason = words.without_decisions(record.backend)
    return f"Why two instructions were not fused is not known: {reason}"


def _problem(problem: Problem) -> str:
    place = f", line {problem.line:,}" if problem.line is not None else ""
    return f"{problem.path}{place}: {problem.message}"


def _no_heaviest(module: ModuleRecord) -> str:
    if module.final.instructions is None:
        return "Nothing to rank: no snapshot of this module could be read."
    return "Nothing to rank: no instruction has roofline time."


def module_tables(summary: ModuleSummary) -> Mapping[str, Table]:
    """Return the tables of the page by their names."""
    return {"arguments": tabulate_signature(summary.signature)} if has_many(summary) else {}


def _chips(module: ModuleRecord, second_id: int | None) -> tuple[str, ...]:
    sure = " (guessed)" if module.backend_reason else ""
    chips = (
        [f"{words.BACKENDS.get(module.backend, module.backend)}{sure}"] if module.backend else []
    )
    if module.frontend:
        chips += words.frameworks((module.frontend,))
    if module.id is not None:
        chips.append(f"module id {module.id}")
    if second_id is not None:
        chips.append(f"continued as module id {second_id}")
    return tuple(chips)


def _runs(module: ModuleRecord) -> tuple[str, ...]:
    """Return how often a profiler saw it run, where there is a profile."""
    if module.run_microseconds is None:
        return ()
    times = "" if module.runs is None else f" {units.plural(module.runs, 'time')}"
    return (f"ran{times} in the profile, {module.run_microseconds / 1000:,.1f} ms in total",)


def _points(stages: Sequence[SnapshotSummary]) -> list[Point]:
    return [
        Point(stage.instructions, stage.stage.label, stage.step is not None and stage.step.changed)
        for stage in stages
        if stage.instructions is not None
    ]


def _top_steps(
    slug: str, module: ModuleAnalysis, page: str
) -> tuple[tuple[str, SnapshotSummary, StepSummary], ...]:
    read = [stage for stage in module.summary.stages if stage.instructions is not None]
    weights = module.overview.weights if module.overview else (0.0,) * len(read)
    ranked = sorted(zip(weights, read, strict=True), key=lambda weighed: -weighed[0])
    changed = [
        (navigation.step_address(slug, snapshot.key, page), snapshot, snapshot.step)
        for _, snapshot in ranked
        if snapshot.step is not None and snapshot.step.changed
    ]
    return tuple(changed[:_TOP_STEPS])


def _no_steps(module: ModuleRecord) -> str:
    read = sum(stage.instructions is not None for stage in module.stages)
    if read == 0:
        return "No steps: no snapshot could be read."
    return (
        "No steps: the dump has one snapshot of this module. Set "
        "--xla_dump_hlo_pass_re=.* for one after every pass that changed it."
    )


class DuplicatePage(PartPage, frozen=True):
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
        tables={"files": files_table(analysis.summary), **module_tables(analysis.summary)},
        record=record,
        head=head,
        sameness=_sameness(record, is_identical=analysis.is_identical),
        original_key=original.key,
        original_address=navigation.module_address(original.slug, seen_from=page),
    )


def _sameness(record: ModuleRecord, *, is_identical: bool) -> str:
    files = units.plural(len(record.files), "file")
    if is_identical:
        return f"its {files} are byte-identical"
    return (
        f"its {files} differ from those of that rank in names, ids and notes only; the table of "
        "ranks names the first difference"
    )
