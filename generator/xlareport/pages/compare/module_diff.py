"""The work on one module of a comparison, in one process: sketch it; contrast it with another."""

from collections.abc import Iterator
from dataclasses import dataclass

from xlareport.analysis.compare.code_digests import CodeDigests
from xlareport.analysis.compare.comparison import Sketched
from xlareport.analysis.compare.divergence import Divergence, SnapshotDigest
from xlareport.analysis.compare.pairing import Sketch
from xlareport.analysis.module import ModuleAnalysis, unreadable_module
from xlareport.analysis.modules.signature import Signature
from xlareport.analysis.modules.summarize import count_final_cost, summarize_module
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.steps.differences import Kind
from xlareport.analysis.steps.step import StepChange, step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import device_named
from xlareport.pages import navigation
from xlareport.pages.pictures.requests import PictureStore, describe_pictures, step_pictures_of
from xlareport.pages.steps.payload import step_payload
from xlareport.pictures.draw import PictureRequest
from xlareport.program import ParsedModule, read_module
from xlareport.runtime import units
from xlareport.runtime.faults import guard
from xlareport.snapshots import ParsedSnapshot
from xlareport.storage.payloads import NOTHING, Held, hold, make_payload

_ACTOR = "The head"
_ACTORS = {"base": "The compiler", "head": "The compiler"}
_NO_PICTURE = "No picture: the difference is too large to draw, or none that a graph could show."
_NOTE = "Where both stand against each other, before is the base and after the head."
_TUNED = frozenset({"backend_config"})


@dataclass(frozen=True, slots=True)
class SketchedModule:
    """A module as a process of the comparison gives it back."""

    analysis: ModuleAnalysis
    sketched: Sketched


def sketch_module(files: ModuleFiles) -> SketchedModule:
    """Read a module and sketch it; a fault costs this module and no other."""
    return guard(lambda: _sketch_module(files), lambda reason: unreadable_sketch(files, reason))


def _sketch_module(files: ModuleFiles) -> SketchedModule:
    module = read_module(files)
    cost = count_final_cost(module)
    summary = summarize_module(module, [None for _ in module.snapshots], cost)
    forms = CodeDigests()
    digests = tuple(_digest_snapshot(snapshot, forms) for snapshot in module.snapshots)
    analysis = ModuleAnalysis(summary, read=module.read)
    settled = CodeDigests(without=_TUNED).of_module(module.final.hlo) if module.final else b""
    sketch = _sketch(module, summary, digests, forms)
    return SketchedModule(
        analysis, Sketched(summary, sketch, digests, settled, device=_device(module))
    )


def _device(module: ParsedModule) -> str:
    """Return the device of the table that the dump names, else the platform in its file names."""
    known = device_named(module.device_words) if module.device_words else None
    targets = dict.fromkeys(
        artifact.name.target for artifact in module.files.artifacts if artifact.name.target
    )
    return known.name if known else " ".join(targets)


def unreadable_sketch(files: ModuleFiles, reason: str) -> SketchedModule:
    """Return what stands for a module that could not be read."""
    analysis = unreadable_module(files, reason)
    sketch = Sketch(files.key, files.name, b"", b"", "", ())
    return SketchedModule(analysis, Sketched(analysis.summary, sketch, (), b""))


def _digest_snapshot(snapshot: ParsedSnapshot, forms: CodeDigests) -> SnapshotDigest:
    stage = snapshot.stage
    form = forms.of_module(snapshot.hlo)
    return SnapshotDigest(stage.key, stage.label, form, stage.pipeline, stage.after, stage.before)


def _sketch(
    module: ParsedModule,
    summary: ModuleSummary,
    digests: tuple[SnapshotDigest, ...],
    forms: CodeDigests,
) -> Sketch:
    return Sketch(
        key=module.files.key,
        name=summary.display_name,
        inputs=digests[0].form if digests else b"",
        final=forms.of_module(module.final.hlo) if module.final else b"",
        signature=_signature(summary.signature),
        opcodes=summary.opcodes,
    )


def _signature(signature: Signature) -> str:
    given = ", ".join(argument.shape for argument in signature.arguments)
    text = ", ".join(result.shape for result in signature.results)
    return f"({given}) -> ({text})"


@dataclass(frozen=True, slots=True)
class DiffTask:
    """Two modules to contrast: the process reads both again."""

    base: ModuleFiles
    head: ModuleFiles
    slug: str
    divergence: Divergence
    inputs_differ: bool
    ends_differ: bool


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One place at which both modules are laid side by side."""

    id: str
    label: str
    headline: str
    added: int
    removed: int
    modified: int
    instructions: int
    computations: int
    layouts: int
    """Instructions of which the layout differs."""


@dataclass(frozen=True, slots=True)
class ModuleDiff:
    """What the process found, and the payloads that show it."""

    rows: tuple[DiffRow, ...] = ()
    payloads: Held = NOTHING
    requests: tuple[PictureRequest, ...] = ()
    problem: str = ""
    """Why there is nothing to show; empty where there is."""
    slug: str = ""
    """Of the module's page."""


def diff_modules(task: DiffTask) -> ModuleDiff:
    """Lay both modules side by side where they first differ, and where they end."""
    return guard(lambda: _diff(task), lambda reason: failed_diff(task, reason))


def _diff(task: DiffTask) -> ModuleDiff:
    base, head = read_module(task.base), read_module(task.head)
    rows, payloads, requests = [], [], []
    store = PictureStore(task.slug)
    for id_, label, module, other in _sides(task, base, head):
        change = step(module, other, _ACTORS.get(id_, _ACTOR), headers=False)
        rows.append(_row(id_, label, change, other))
        story, request = _shown(change, store)
        key = navigation.module_key(task.slug, f"step-{id_}")
        payloads.append(make_payload(key, story))
        requests += [request] if request else []
    key = navigation.module_key(task.slug, "steps")
    payloads.append(make_payload(key, _index(task, rows)))
    return ModuleDiff(tuple(rows), hold(payloads), tuple(requests), slug=task.slug)


def failed_diff(task: DiffTask, reason: str) -> ModuleDiff:
    """Return what stands for a pair that could not be laid side by side."""
    return ModuleDiff(problem=f"{task.head.key} could not be compared: {reason}.")


def _sides(
    task: DiffTask, base: ParsedModule, head: ParsedModule
) -> Iterator[tuple[str, str, HloModule, HloModule]]:
    """Yield (id, label, before, after) for each place to look at; before is the base's."""
    if task.inputs_differ:
        first = base.snapshots[0].hlo, head.snapshots[0].hlo
        yield "given", "The program as it was given to the compiler", *first
    else:
        yield from _parting(task.divergence, base, head)
    if task.ends_differ and base.final and head.final:
        yield "end", "The optimised module", base.final.hlo, head.final.hlo


def _parting(
    divergence: Divergence, base: ParsedModule, head: ParsedModule
) -> Iterator[tuple[str, str, HloModule, HloModule]]:
    """Yield where they part: one against the other, and what the compiler did next in each."""
    mine, yours = divergence.base, divergence.head
    if mine is not None and yours is not None:
        label = f"Where they part: {head.snapshots[yours].stage.label}"
        yield "parted", label, base.snapshots[mine].hlo, head.snapshots[yours].hlo
    if divergence.agreed is None:
        return
    for side, module, before, after in (
        ("base", base, divergence.agreed[0], mine),
        ("head", head, divergence.agreed[1], yours),
    ):
        if after is not None:
            label = f"What changed in the {side}: {module.snapshots[after].stage.label}"
            yield side, label, module.snapshots[before].hlo, module.snapshots[after].hlo


def _row(id_: str, label: str, change: StepChange, head: HloModule) -> DiffRow:
    return DiffRow(
        id=id_,
        label=label,
        headline=change.headline,
        added=len(change.added),
        removed=len(change.removed),
        modified=len(change.modified),
        instructions=head.instruction_count,
        computations=len(head.computations),
        layouts=sum(change.kind in (Kind.LAYOUT, Kind.SPACE) for change in change.changes),
    )


def _shown(
    change: StepChange, store: PictureStore
) -> tuple[dict[str, object], PictureRequest | None]:
    drawn = step_pictures_of(change, store) if change.matching else None
    diff = text_diff(change.matching) if change.matching else None
    pictures = describe_pictures(drawn, "" if drawn else _NO_PICTURE)
    story = step_payload(change, diff, "", pictures) | {"ran": (), "figures": ()}
    return story, drawn.request if drawn else None


def _index(task: DiffTask, rows: list[DiffRow]) -> dict[str, object]:
    return {
        "module": task.head.name,
        "slug": task.slug,
        "tree": [],
        "steps": [_entry(row) for row in rows],
        "hidden_note": _NOTE,
        "counted": f"{units.plural(len(rows), 'place')}, side by side.",
    }


def _entry(row: DiffRow) -> dict[str, object]:
    return {
        "id": row.id,
        "label": row.label,
        "pipeline": None,
        "after": None,
        "before": None,
        "changed": True,
        "instructions": row.instructions,
        "computations": row.computations,
        "added": row.added,
        "removed": row.removed,
        "modified": row.modified,
        "headline": row.headline,
        "files": [],
    }
