"""A module's page: one screen of overview, then signature, graph, cost and files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from xlareport.analysis.code.module import CodeSummary
from xlareport.analysis.modules.signature import Signature
from xlareport.analysis.modules.summary import HeavyInstruction, ModuleSummary, SnapshotSummary
from xlareport.analysis.passes.overview import Overview
from xlareport.pages import navigation, words
from xlareport.pages.charts import Point, growth_curve
from xlareport.pages.code.page import code_words
from xlareport.pages.cost.page import cost_addresses, devices_of
from xlareport.pages.figures import Figure, main_figures
from xlareport.pages.findings.section import FindingsView
from xlareport.pages.module.overview import GlanceView, glance_view
from xlareport.pages.module.parts import ModuleHead
from xlareport.pages.module.signature import SignaturePart, arguments_tables, signature_part
from xlareport.pages.names.page import describe
from xlareport.pages.pictures.requests import PictureView
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Column, Table
from xlareport.pages.texts.page import has_texts
from xlareport.pages.tokens import NameCells
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.runtime.errors import Problem

_TOP_STEPS = 5
_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class ChangedStepRow:
    """A step in a short list."""

    label: str
    address: str
    added: int
    removed: int
    modified: int
    headline: Markup


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """What of a module is drawn."""

    pictures: tuple[PictureView, ...]
    none: Markup
    """Why there are no pictures."""
    versions_key: str
    graph_key: str | None
    """None where no snapshot could be read."""
    first_graph_key: str | None
    """Of the first snapshot, where that is another one and is drawn."""


@dataclass(frozen=True, slots=True)
class ModulePage:
    """Everything on a module's page."""

    key: str
    head: ModuleHead
    name: str
    full_name: str
    role: str
    role_reason: str
    journey: str
    problems: tuple[str, ...]
    """What could not be read of its files: the first few."""
    more_problems: int
    chips: tuple[str, ...]
    backend_reason: str
    """Why the backend is a guess; empty where it is none."""
    figures: tuple[Figure, ...]
    per_device: str
    curve: Markup
    top_steps: tuple[ChangedStepRow, ...]
    glance: GlanceView | None
    """None where there are no steps."""
    steps_address: str | None
    no_steps: str
    history_key: str | None
    """None where no step changed anything."""
    signature: SignaturePart
    drawn: DrawnPart
    instructions_key: str
    heaviest: tuple[HeavyInstruction, ...]
    heaviest_words: str
    no_heaviest: str
    costs: Mapping[str, str]
    """Addresses of the pages on cost, memory, source and time, by label, where there are any."""
    findings: FindingsView | None
    """None where nothing could be counted."""
    code_words: str
    code_address: str | None
    """None where the dump holds no code of the module."""
    files_key: str
    texts_address: str | None
    """None where the module has no texts."""


def module_page(
    module: ModuleRecord,
    summary: ModuleSummary,
    pictures: Sequence[PictureView],
    head: ModuleHead,
    *,
    glance: Overview | None = None,
    code: CodeSummary | None = None,
    findings: FindingsView | None = None,
) -> ModulePage:
    """Make the page of one module."""
    page = navigation.module_page(module.slug)
    has_steps = module.steps > 0
    steps_page = navigation.address(navigation.steps_page(module.slug), page)
    return ModulePage(
        key=module.key,
        head=head,
        name=words.short_name(module.name),
        full_name=module.name,
        role=module.role,
        role_reason=module.role_reason,
        journey=words.journey(module),
        problems=tuple(_problem(problem) for problem in summary.problems[:_PROBLEMS]),
        more_problems=max(0, len(summary.problems) - _PROBLEMS),
        chips=(*_chips(module, summary.files.second_id), *_runs(module)),
        backend_reason=module.backend_reason,
        figures=main_figures(module.final, devices_of(module)),
        per_device=_per_device(summary.signature),
        curve=Markup(growth_curve(_points(summary.stages), "instructions")),  # noqa: S704
        top_steps=_top_steps(module.slug, summary.stages, page),
        glance=glance_view(summary, glance) if glance and has_steps else None,
        steps_address=steps_page if has_steps else None,
        no_steps=_no_steps(module),
        history_key=navigation.history_key(module.slug) if module.changed_steps else None,
        signature=signature_part(summary),
        drawn=_drawn(module, pictures),
        instructions_key=navigation.instructions_key(module.slug),
        heaviest=summary.heaviest,
        heaviest_words=_HEAVIEST,
        no_heaviest=_no_heaviest(module),
        costs=cost_addresses(module, page),
        findings=findings,
        code_words=code_words(code) if code else _NO_CODE,
        code_address=navigation.address(navigation.code_page(module.slug), page) if code else None,
        files_key=navigation.table_key(module.slug, "files"),
        texts_address=_texts_address(summary, page),
    )


def _drawn(module: ModuleRecord, pictures: Sequence[PictureView]) -> DrawnPart:
    return DrawnPart(
        pictures=tuple(pictures),
        none=prose(_no_pictures(module)),
        versions_key=navigation.versions_key(module.slug),
        graph_key=_graph_key(module),
        first_graph_key=_first_graph_key(module, pictures),
    )


_NO_CODE = (
    "The dump holds no kernels of this module, or none that could be read. XLA writes LLVM IR, PTX "
    "and object files beside the HLO on CPUs and GPUs, not on TPUs."
)


_HEAVIEST = (
    "By an estimate of the least time each one needs, from the operations it does and the bytes it "
    "moves, loops counted with their rounds. It is not a measurement."
)


def _problem(problem: Problem) -> str:
    place = f", line {problem.line:,}" if problem.line is not None else ""
    return f"{problem.path}{place}: {problem.message.partition(chr(10))[0]}"


def _no_pictures(module: ModuleRecord) -> str:
    if module.final.instructions is None:
        return "No picture: no snapshot of this module could be read."
    return (
        "No picture, because the report was built with `--pictures none`; "
        "`xlareport build DUMP --pictures changed` draws them."
    )


def _first_graph_key(module: ModuleRecord, pictures: Sequence[PictureView]) -> str | None:
    first = navigation.first_graph_key(module.slug)
    return first if any(picture.graph == first for picture in pictures) else None


def _graph_key(module: ModuleRecord) -> str | None:
    return None if module.final.instructions is None else navigation.graph_key(module.slug)


def _no_heaviest(module: ModuleRecord) -> str:
    if module.final.instructions is None:
        return "Nothing to rank: no snapshot of this module could be read."
    return "Nothing to rank: by the estimate none of its instructions needs any time."


def _texts_address(summary: ModuleSummary, page: str) -> str | None:
    if not has_texts(summary.files):
        return None
    return navigation.address(navigation.texts_page(summary.files.slug), page)


def module_tables(module: ModuleRecord, summary: ModuleSummary) -> Mapping[str, Table]:
    """Return the tables of the page as payloads by their key."""
    return {
        navigation.table_key(module.slug, "files"): _files_table(summary),
        **arguments_tables(summary),
    }


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
    """Say how often a profiler saw it run, where there is a profile."""
    if module.run_microseconds is None:
        return ()
    times = "" if module.runs is None else f" {units.plural(module.runs, 'time')}"
    return (f"ran{times} in the profile, {module.run_microseconds / 1000:,.1f} ms in all",)


def _per_device(signature: Signature) -> str:
    if signature.partitions <= 1:
        return ""
    return (
        f"The program was partitioned over {signature.partitions} devices: shapes and figures "
        "after partitioning are those of one device."
    )


def _points(stages: Sequence[SnapshotSummary]) -> list[Point]:
    return [
        Point(stage.instructions, stage.stage.label, stage.step is not None and stage.step.changed)
        for stage in stages
        if stage.instructions is not None
    ]


def _top_steps(
    slug: str, stages: Sequence[SnapshotSummary], page: str
) -> tuple[ChangedStepRow, ...]:
    changed = [stage for stage in stages if stage.step is not None and stage.step.changed]
    changed.sort(key=lambda stage: -stage.step.weight if stage.step else 0)
    return tuple(
        ChangedStepRow(
            label=snapshot.stage.label,
            address=navigation.step_address(slug, snapshot.key, page),
            added=snapshot.step.added,
            removed=snapshot.step.removed,
            modified=snapshot.step.modified,
            headline=prose(snapshot.step.headline),
        )
        for snapshot in changed[:_TOP_STEPS]
        if snapshot.step is not None
    )


def _no_steps(module: ModuleRecord) -> str:
    known = sum(stage.instructions is not None for stage in module.stages)
    if known == 0:
        return "There is nothing to compare: no snapshot could be read."
    return (
        "There is nothing to compare: the dump holds one snapshot of this module. Set "
        "--xla_dump_hlo_pass_re=.* to get one after every pass that changed something."
    )


def _files_table(summary: ModuleSummary) -> Table:
    columns = (
        Column("File", "name", "point at a part to read what it means"),
        Column("Kind", of="kind"),
        Column("What it is"),
        Column("Size", "bytes"),
    )
    cells = NameCells()
    rows = [
        (
            cells.cell(artifact.name),
            artifact.name.kind,
            describe(artifact.name),
            artifact.entry.size,
        )
        for artifact in summary.files.artifacts
    ]
    return Table(columns, rows, meanings=cells.meanings)
