"""What a look at all steps adds to a module's record in report.json."""

from dataclasses import replace

from xlareport.analysis.passes.overview import Overview
from xlareport.records.report import ModuleView, PassView, StageView


def with_glance(view: ModuleView, overview: Overview | None) -> ModuleView:
    """Return the record with the figures of each snapshot, and with the times of passes."""
    if overview is None:
        return view
    return replace(
        view,
        stages=_stages(view, overview),
        passes=tuple(
            PassView(pass_.name, pass_.runs, pass_.changed, pass_.microseconds)
            for pass_ in overview.passes
        ),
        passes_microseconds=overview.span,
    )


def _stages(view: ModuleView, overview: Overview) -> tuple[StageView, ...]:
    """Give each snapshot that could be read its figures; the others keep theirs."""
    growth = iter(overview.growth)
    stages = []
    for stage in view.stages:
        result = next(growth) if stage.instructions is not None else None
        known = result and replace(
            stage,
            fusions=result.fusions,
            flops=result.flops,
            bytes_accessed=result.bytes_accessed,
            partitions=result.partitions,
        )
        stages.append(known or stage)
    return tuple(stages)
