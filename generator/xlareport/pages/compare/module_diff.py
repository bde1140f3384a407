"""Two modules of a comparison side by side, made in one process: rows, payloads and pictures."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.compare.comparison import Comparison, Sketched
from xlareport.analysis.compare.divergence import Divergence, Where
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange, step
from xlareport.analysis.steps.text_difference import TextDiff, text_diff
from xlareport.dump.modules import Artifact, ModuleFiles, SnapshotFiles
from xlareport.hlo.model import HloModule
from xlareport.pages import navigation
from xlareport.pages.pictures.requests import PictureStore, describe_pictures, step_pictures_of
from xlareport.pages.steps.change_rows import further_rows
from xlareport.pages.steps.payload import step_payload
from xlareport.pages.steps.text_diff import StoredLines, further_lines
from xlareport.pictures.draw import PictureRequest
from xlareport.program import read_snapshots
from xlareport.records.compare import DifferenceRecord
from xlareport.records.stored_sketches import SketchedReport
from xlareport.runtime import units
from xlareport.runtime.faults import guard
from xlareport.snapshots import ParsedSnapshot
from xlareport.storage.payloads import (
    NO_PAYLOADS,
    PackedPayloads,
    make_payload,
    pack_small_payloads,
)

Reports: TypeAlias = tuple[SketchedReport | None, SketchedReport | None]
"""Base and head if they are reports whose texts are not restored yet."""
_HEAD, _COMPILER = "The head", "The compiler"
_OF_COMPILER = frozenset({"base", "head"})
"""Ids of the compiler's own changes on one side."""
_NO_PICTURE = "No graph: the difference is too large to draw, or not visible in a graph."
_NOTE = "Before is the base, after is the head."


class DiffSide(Struct, frozen=True):
    """One side of the comparison."""

    files: ModuleFiles
    stages: tuple[SnapshotFiles, ...]
    """The files of each snapshot."""
    final: int | None
    """The number of the optimized one."""

    def with_texts(self, texts: Mapping[str, Artifact]) -> "DiffSide":
        """Return the side with the files that have been restored, by path."""
        stages = tuple(
            replace(
                stage,
                artifacts=tuple(texts.get(artifact.path, artifact) for artifact in stage.artifacts),
            )
            for stage in self.stages
        )
        return replace(self, stages=stages)

    def read(self, numbers: Iterable[int | None]) -> Mapping[int, ParsedSnapshot]:
        """Read some of the snapshots, by number."""
        wanted = sorted({number for number in (*numbers, self.final) if number is not None})
        stages = tuple(self.stages[number] for number in wanted)
        read = {
            snapshot.stage: snapshot
            for snapshot in read_snapshots(replace(self.files, stages=stages))
        }
        return {number: read[self.stages[number]] for number in wanted}


class DiffTask(Struct, frozen=True):
    """Two modules to show side by side: the process reads the snapshots again that it shows."""

    base: DiffSide
    head: DiffSide
    slug: str
    divergence: Divergence
    inputs_differ: bool
    ends_differ: bool
    passes: tuple[tuple[str, int], ...] = ()
    """Steps of passes to show: the side, and the number of the snapshot after the step."""

    def shown(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the numbers of the snapshots of base and head that are read."""
        parted, agreed = self.divergence, self.divergence.agreed or (None, None)
        base, head = (0, 0) if self.inputs_differ else (parted.base, parted.head)
        ours, theirs = {base, agreed[0], self.base.final}, {head, agreed[1], self.head.final}
        for side, number in self.passes:
            (ours if side == "base" else theirs).update((number - 1, number))
        return _known_numbers(ours), _known_numbers(theirs)


def _known_numbers(numbers: Iterable[int | None]) -> frozenset[int]:
    return frozenset(number for number in numbers if number is not None)


class ModuleDiff(Struct, frozen=True):
    """The snapshots that are shown side by side, and their payloads."""

    rows: tuple[DifferenceRecord, ...] = ()
    payloads: PackedPayloads = NO_PAYLOADS
    requests: tuple[PictureRequest, ...] = ()
    problem: str = ""
    """Why there is nothing to show; empty if there is something."""
    slug: str = ""
    """Of the module's page."""


def diff_modules(task: DiffTask) -> ModuleDiff:
    """Lay both modules side by side where they first differ, and where they end."""
    return guard(lambda: _diff(task), lambda reason: failed_diff(task, reason))


def _diff(task: DiffTask) -> ModuleDiff:
    rows, steps, payloads, requests = [], [], [], []
    store = PictureStore(task.slug)
    for id_, label, module, other in _sides(task):
        actor = _COMPILER if id_ in _OF_COMPILER or id_.startswith("pass-") else _HEAD
        same_program = actor is _COMPILER or not task.inputs_differ
        headers = id_ == "given" and task.divergence.where is Where.HEADER
        change = step(module, other, actor, headers=headers, same_program=same_program)
        rows.append(_difference_record(id_, label, change))
        steps.append(_step(rows[-1], other))
        diff = text_diff(change.matching) if change.matching else None
        further = navigation.further_lines_key(task.slug, id_)
        story, request = _step_story(change, diff, further, store)
        key = navigation.module_key(task.slug, f"step-{id_}")
        payloads += [make_payload(key, story), *further_lines(diff, StoredLines(), further)]
        payloads += further_rows(change.groups, further)
        requests += [request] if request else []
    key = navigation.module_key(task.slug, "steps")
    payloads.append(make_payload(key, _index(task, steps)))
    return ModuleDiff(tuple(rows), pack_small_payloads(payloads), tuple(requests), slug=task.slug)


def failed_diff(task: DiffTask, reason: str) -> ModuleDiff:
    """Return the result for a pair that could not be compared."""
    return ModuleDiff(problem=f"{task.head.files.key} could not be compared: {reason}.")


def _sides(task: DiffTask) -> Iterator[tuple[str, str, HloModule, HloModule]]:
    """Yield (id, label, before, after) for each place to look at; before is the base's."""
    parted, agreed = task.divergence, task.divergence.agreed or (None, None)
    if task.inputs_differ:
        base, head = task.base.read([0]), task.head.read([0])
        yield "given", "before_optimizations", base[0].hlo, head[0].hlo
    else:
        base = task.base.read([parted.base, agreed[0]])
        head = task.head.read([parted.head, agreed[1]])
        yield from _parting(parted, base, head)
    for side, number in task.passes:
        texts = task.base if side == "base" else task.head
        read = texts.read([number - 1, number])
        label = f"{read[number].stage.label} in the {side}"
        yield f"pass-{side}-{number}", label, read[number - 1].hlo, read[number].hlo
    mine, yours = task.base.final, task.head.final
    if task.ends_differ and mine is not None and yours is not None:
        yield "end", "after_optimizations", base[mine].hlo, head[yours].hlo


def _parting(
    divergence: Divergence,
    base: Mapping[int, ParsedSnapshot],
    head: Mapping[int, ParsedSnapshot],
) -> Iterator[tuple[str, str, HloModule, HloModule]]:
    """Yield the first difference: both sides, and the compiler's next step on each."""
    mine, yours = divergence.base, divergence.head
    if mine is not None and yours is not None:
        label = f"First divergence: {head[yours].stage.label}"
        yield "parted", label, base[mine].hlo, head[yours].hlo
    if divergence.agreed is None:
        return
    for side, snapshots, before, after in (
        ("base", base, divergence.agreed[0], mine),
        ("head", head, divergence.agreed[1], yours),
    ):
        if after is not None:
            label = f"Changes in the {side}: {snapshots[after].stage.label}"
            yield side, label, snapshots[before].hlo, snapshots[after].hlo


def _difference_record(id_: str, label: str, change: StepChange) -> DifferenceRecord:
    return DifferenceRecord(
        id=id_,
        label=label,
        headline=change.headline,
        added=len(change.added),
        removed=len(change.removed),
        modified=change.modified_count,
        layouts=sum(part.kind is Kind.LAYOUT for part in change.changes),
    )


def _step_story(
    change: StepChange, diff: TextDiff | None, further: str, store: PictureStore
) -> tuple[dict[str, object], PictureRequest | None]:
    drawn = step_pictures_of(change, store) if change.matching else None
    pictures = describe_pictures(drawn, "" if drawn else _NO_PICTURE)
    story = step_payload(change, diff, "", pictures, further=further) | {"ran": (), "figures": ()}
    return story, drawn.request if drawn else None


def _index(task: DiffTask, steps: list[dict[str, object]]) -> dict[str, object]:
    return {
        "module": task.head.files.name,
        "slug": task.slug,
        "tree": [],
        "steps": steps,
        "hidden_note": _NOTE,
        "counted": f"{units.plural(len(steps), 'place')}, side by side.",
    }


def _step(row: DifferenceRecord, head: HloModule) -> dict[str, object]:
    """Return a place as the page script takes a step."""
    return {
        "id": row.id,
        "label": row.label,
        "name": row.label,
        "pipeline": None,
        "after": None,
        "before": None,
        "changed": True,
        "instructions": head.instruction_count,
        "computations": len(head.computations),
        "added": row.added,
        "removed": row.removed,
        "modified": row.modified,
        "headline": row.headline,
        "files": [],
    }


def diff_task(
    comparison: Comparison, passes: tuple[tuple[str, int], ...], reports: Reports
) -> DiffTask | None:
    """Return the task to show two modules; None if they are equal, or one is missing.

    `passes` are those of `DiffTask`. Texts in a report are restored only as far as they are shown.
    """
    parted = comparison.divergence.where is not Where.NOWHERE
    if comparison.base is None or comparison.head is None or not (parted or not comparison.same):
        return None
    base, head = comparison.base, comparison.head
    if not base.snapshots or not head.snapshots:
        return None
    task = DiffTask(
        base=_diff_side(base),
        head=_diff_side(head),
        slug=head.summary.files.slug,
        divergence=comparison.divergence,
        inputs_differ=comparison.divergence.where in (Where.INPUT, Where.HEADER),
        ends_differ=not comparison.same,
        passes=passes,
    )
    ours, theirs = task.shown()
    return replace(
        task,
        base=_with_texts(task.base, reports[0], ours),
        head=_with_texts(task.head, reports[1], theirs),
    )


def _with_texts(side: DiffSide, report: SketchedReport | None, shown: frozenset[int]) -> DiffSide:
    if report is None:
        return side
    stages = [side.stages[number] for number in shown]
    return side.with_texts(report.restore(side.files.slug, stages))


def _diff_side(sketched: Sketched) -> DiffSide:
    return DiffSide(sketched.summary.files, sketched.stages, sketched.final)
