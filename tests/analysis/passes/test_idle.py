"""Passes that ran and changed nothing."""

from dataclasses import replace

from tests.analysis.passes.three_steps import metadata, stages

from xlareport.analysis.passes.idle import find_idle_passes
from xlareport.analysis.passes.times import (
    pass_times,
    pipelines_of,
    refine_boundaries,
)
from xlareport.analysis.steps.boundaries import boundaries
from xlareport.readers.pass_metadata import ModuleMetadata


def test_own_times_sum_to_the_span_at_most_and_name_the_idle() -> None:
    read = metadata()
    times = {one.name: one for one in pass_times(read)}
    assert (times["inner"].self_microseconds, times["b"].self_microseconds) == (9, 10)
    assert (times["quiet"].runs, times["quiet"].changed) == (2, 0)
    assert sum(one.self_microseconds or 0 for one in times.values()) <= (read.span or 0)
    assert pipelines_of(read) == {"inner"}
    found = find_idle_passes(stages(), boundaries(stages(), [False, False]), read)
    assert found.passes == (("quiet", 2),)
    assert find_idle_passes(stages(), boundaries(stages(), [False, True]), None).passes == ()


def test_who_may_have_changed_something_unreported_is_not_called_idle() -> None:
    silent = ModuleMetadata(1, tuple(replace(run, changed=False) for run in metadata().runs))
    assert ("quiet", 2) in find_idle_passes(
        stages(), refine_boundaries(boundaries(stages(), [False, True]), stages(), silent), silent
    ).passes
    between = [
        replace(one, ran=None)
        for one in refine_boundaries(boundaries(stages(), [False, False]), stages(), silent)
    ]
    assert find_idle_passes(stages(), between, silent).passes == ()
