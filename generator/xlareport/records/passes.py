"""What a look at all steps adds to a module's record in report.json."""

from dataclasses import replace

from xlareport.analysis.passes.overview import Overview
from xlareport.records.report import ModuleView, PassView, StageView


def with_glance(view: ModuleView, found: Overview | None) -> ModuleView:
    """Return the record with the figures of each snapshot, and with the times of passes."""
    if found is None:
        return view
    return replace(
        view,
        stages=_stages(view, found),
        passes=tuple(
            PassView(one.name, one.runs, one.changed, one.microseconds) for one in found.passes
        ),
        passes_microseconds=found.span,
    )


def _stages(view: ModuleView, found: Overview) -> tuple[StageView, ...]:
    """Give each snapshot that could be read its figures; the others keep theirs."""
    growth = iter(found.growth)
    stages = []
    for stage in view.stages:
        one = next(growth) if stage.instructions is not None else None
        known = one and replace(
            stage,
            fusions=one.fusions,
            flops=one.flops,
            bytes_accessed=one.bytes_accessed,
            partitions=one.partitions,
        )
        stages.append(known or stage)
    return tuple(stages)
