"""The pass gallery of a module: the list of steps for the page script, and the page around it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from xlareport.analysis.modules.summary import ModuleSummary, SnapshotSummary, StepSummary
from xlareport.analysis.passes.growth import Growth
from xlareport.analysis.passes.overview import Overview
from xlareport.analysis.passes.pipelines import Part, Pipeline
from xlareport.pages import navigation, words
from xlareport.pages.steps.step_figures import effect_chips
from xlareport.pages.tables import PartPage
from xlareport.pages.tabs import ModuleTab
from xlareport.records.report import ModuleRecord


class StepsPage(PartPage, frozen=True):
    """The content of the page, except the payloads."""

    lead: str
    note: str
    left_out: tuple[tuple[str, str], ...]
    """Snapshots of other compilations: label, and the evidence."""
    module_address: str
    has_history: bool
    """Whether any step changed something."""


def steps_page(module: ModuleRecord) -> StepsPage:
    """Make the page that holds the gallery."""
    source = navigation.module_page(module.slug, "steps")
    return StepsPage(
        tables={},
        lead=words.journey(module),
        note="A step leads from one snapshot of the module to the next.",
        left_out=tuple((stage.label, stage.left_out) for stage in module.stages if stage.left_out),
        module_address=navigation.module_address(module.slug, seen_from=source),
        has_history=module.changed_steps > 0,
    )


TAB = ModuleTab(
    "steps",
    lambda shown: shown.record.steps or None,
    lambda record, _: steps_page(record),
    wide=True,
    place=10,
)


def steps_payload(
    summary: ModuleSummary, overview: Overview, pipelines: Sequence[Part]
) -> dict[str, Any]:
    """Return the list of steps for the page script."""
    read = [stage for stage in summary.stages if stage.instructions is not None]
    pairs = pairwise([*overview.growth[:1], *overview.growth])
    return {
        "module": summary.display_name,
        "slug": summary.files.slug,
        "tree": list(_ranges(pipelines)),
        "steps": [
            _step(snapshot) | _effect(snapshot.step, weight, *sides)
            for snapshot, weight, sides in zip(read, overview.weights, pairs, strict=True)
        ],
        "hidden_note": "Steps without change are folded.",
    }


def _effect(
    step: StepSummary | None, weight: float, before: Growth, after: Growth
) -> dict[str, Any]:
    """Return the effect of a step on the program, and its weight; no unit."""
    if step is None or not step.changed:
        return {}
    return {"weight": round(weight, 1), "chips": list(effect_chips(step.effect, before, after))}


def _ranges(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    """Yield every run of every pipeline with the snapshots that it spans, outer ones first."""
    for part in parts:
        if isinstance(part, Pipeline):
            for number, run in enumerate(part.runs, 1):
                yield {
                    "pipeline": part.name,
                    "run": number if len(part.runs) > 1 else None,
                    "first": run.first,
                    "last": run.last,
                }
                yield from _ranges(run.parts)


def _step(snapshot: SnapshotSummary) -> dict[str, Any]:
    stage, step = snapshot.stage, snapshot.step
    partitioned = step is not None and step.effect.partitioned
    # A step of the whole pipeline has the partitioner as one pass among many.
    unnamed = partitioned and stage.after is not None and "partition" not in stage.after
    return {
        **({"partitioner": "spmd-partitioning"} if unnamed else {}),
        "id": snapshot.key,
        "label": stage.label,
        "name": stage.passes,
        "pipeline": stage.pipeline,
        "after": stage.after,
        "before": stage.before,
        "changed": step.changed if step else None,
        "instructions": snapshot.instructions,
        "computations": snapshot.computations,
        "added": step.added if step else None,
        "removed": step.removed if step else None,
        "modified": step.modified if step else None,
        "headline": step.headline if step else "The first snapshot that could be read.",
        "files": [artifact.path for artifact in stage.artifacts],
    }
