"""The steps of a module: on one core or on several, and a fault in one costs that step."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis import module_steps
from xlareport.analysis.module_steps import SeenStep, analyze_steps, compare_snapshots
from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.steps.step import StepChange, step
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.program import ParsedModule, read_module


@pytest.fixture(scope="module")
def module(unpacked: Callable[[str], Path]) -> ParsedModule:
    with open_source(unpacked("jax-cpu-train")) as source:
        modules = group(name_files(source)).modules
        return read_module(next(files for files in modules if files.name == "jit_rollout"))


def seen(change: StepChange, boundary: Boundary) -> str:
    return f"{boundary.number}: {change.headline}"


def steps(module: ParsedModule, processes: int = 1) -> tuple[SeenStep[str], ...]:
    return analyze_steps(module, find_boundaries(module), seen, processes)


def test_each_snapshot_has_its_step_and_the_first_has_none(module: ParsedModule) -> None:
    result = steps(module)
    assert len(result) == len(module.snapshots)
    assert result[0].analysis.summary is None
    for number, done in enumerate(result[1:], 1):
        summary = done.analysis.summary
        assert summary is not None
        assert (done.seen is not None) is summary.changed
        if summary.changed:
            assert done.seen == f"{number}: {summary.headline}"


def test_what_is_derived_from_what_a_step_changed_is_dropped(module: ParsedModule) -> None:
    steps(module)
    final = {*module.snapshots[-1].hlo.computations}
    gone = (line for read in module.snapshots for line in read.hlo.computations)
    assert not any("users" in vars(computation) for computation in {*gone} - final)


def test_several_processes_come_to_the_same(module: ParsedModule) -> None:
    alone, shared = steps(module), steps(module, 2)
    assert [done.seen for done in alone] == [done.seen for done in shared]
    for first, other in zip(alone, shared, strict=True):
        assert other.loose is None
        assert first.analysis.summary == other.analysis.summary
        if first.analysis.matching is not None:
            assert other.analysis.matching is not None
            assert first.analysis.matching.pairings == other.analysis.matching.pairings
            assert other.analysis.matching.before is first.analysis.matching.before


def test_a_fault_costs_its_step_alone(
    module: ParsedModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = [number for number, done in enumerate(steps(module)) if done.seen]
    before = module.snapshots[changed[0] - 1].hlo

    def fail(first: HloModule, *given: object, **options: object) -> StepChange:
        if first is before:
            raise ZeroDivisionError("on purpose")
        return step(first, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module_steps, "step", fail)
    result = steps(module)
    assert "ZeroDivisionError" in result[changed[0]].fault
    summary = result[changed[0]].analysis.summary
    assert summary is not None
    assert summary.changed
    assert [number for number, done in enumerate(result) if done.seen] == changed[1:]


def test_an_outline_knows_only_whether_something_changed(module: ParsedModule) -> None:
    outlined = [outline.summary for outline in compare_snapshots(module)]
    assert outlined[0] is None
    whole = [done.analysis.summary for done in steps(module)]
    assert [summary and summary.changed for summary in outlined] == [
        summary and summary.changed for summary in whole
    ]
