"""The profile of a module, joined to its final snapshot and to the steps that made the slowest."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.analyzed import analyze_named

from xlareport.analysis.measured_module import find_creations, measure_module
from xlareport.analysis.module import AnalyzedModule
from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.profile.instruction_times import ModuleTimes, OpTime, RunTime
from xlareport.analysis.profile.measured import Measured
from xlareport.knowledge.grades import Grade

_RUN = RunTime("1", 0, 1_000_000, None)


@pytest.fixture(scope="module")
def analyzed(unpacked: Callable[[str], Path]) -> AnalyzedModule[None]:
    return analyze_named(unpacked("jax-cpu-train"), "jit_rollout")


def profile(analyzed: AnalyzedModule[None], *names: str) -> Measured | None:
    assert analyzed.costed is not None
    ops = {name: OpTime(name, 1, 100 - at, 100 - at) for at, name in enumerate(names)}
    times = ModuleTimes(analyzed.module.files.name, ops, (_RUN,), len(ops))
    boundaries = find_boundaries(analyzed.module)
    return measure_module(analyzed.costed, times, analyzed.snapshots, boundaries)


def test_a_profile_without_an_instruction_of_the_module_is_none(
    analyzed: AnalyzedModule[None],
) -> None:
    assert profile(analyzed, "not-here") is None


def test_the_slowest_have_the_step_that_made_them(analyzed: AnalyzedModule[None]) -> None:
    final = analyzed.module.final
    assert final is not None
    names = [line.name for line in final.hlo.instructions if line.opcode == "fusion"]
    measured = profile(analyzed, *names, "not-here")
    assert measured is not None
    assert [operation.name for operation in measured.unknown] == ["not-here"]
    assert measured.joined == len(names)
    keys = {snapshot.stage.key for snapshot in analyzed.module.snapshots}
    for name in names:
        key, by = measured.introduced[name]
        assert key in keys
        assert by
    assert any("fusion" in by for _, by in measured.introduced.values())


def test_work_is_that_of_one_run(analyzed: AnalyzedModule[None]) -> None:
    assert analyzed.costed is not None
    counted = {
        name: cost for (_, name), cost in analyzed.costed.cost.instructions.items() if cost.flops
    }
    name, cost = next(iter(counted.items()))
    measured = profile(analyzed, name)
    assert measured is not None
    assert measured.work[name][0] == cost.of_all_runs(cost.flops)


def test_what_came_with_the_program_was_made_by_no_step(analyzed: AnalyzedModule[None]) -> None:
    snapshots = analyzed.snapshots
    assert snapshots is not None
    first, last = snapshots.modules[0], snapshots.modules[-1]
    assert first.entry is not None
    assert last.entry is not None
    same = [name for name in last.entry.by_name if name in first.entry.by_name]
    rows = [
        SimpleNamespace(computation=last.entry.name, instruction=last.entry.by_name[name])
        for name in same
        if last.entry.by_name[name].opcode == "parameter"
    ]
    assert rows
    for creation in find_creations(snapshots, rows):  # type: ignore[arg-type]
        assert (creation.number, creation.grade) == (0, Grade.EXACT)
