"""Large modules matched by several workers: the same result, whatever of it they have matched."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.module import AnalysisOptions
from xlareport.analysis.steps import step
from xlareport.dump.grouping import group_source
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.module_work.process import ModuleTask, process_module
from xlareport.module_work.step_ranges import (
    StepRange,
    match_range,
    split_steps,
    unpack_matchings,
)

Unpack = Callable[[str], Path]


def largest(dump: Path) -> ModuleFiles:
    with open_source(dump) as source:
        return max(group_source(source).grouped.modules, key=lambda module: len(module.stages))


def test_matchings_of_ranges_give_the_same_result(
    unpacked: Unpack, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = largest(unpacked("jax-cpu-train"))
    ranges = list(split_steps(module, 3))
    assert len(ranges) == 3
    assert [part.files.stages[-1] for part in ranges[:-1]] == [
        part.files.stages[0] for part in ranges[1:]
    ]
    packed = tuple(match_range(part) for part in ranges)
    whole = process_module(ModuleTask(module, AnalysisOptions()), "none")
    calls: list[HloModule] = []

    def match(before: HloModule, after: HloModule, *, same_program: bool = True) -> Matching:
        calls.append(before)
        return original(before, after, same_program=same_program)

    original = step.match
    monkeypatch.setattr(step, "match", match)
    assert process_module(ModuleTask(module, AnalysisOptions(), 1, packed), "none") == whole
    assert not calls
    assert (
        process_module(ModuleTask(module, AnalysisOptions(), 1, (b"", *packed[1:])), "none")
        == whole
    )
    assert calls


def test_few_steps_are_not_split(unpacked: Unpack) -> None:
    module = largest(unpacked("jax-cpu-train"))
    assert not list(split_steps(replace(module, stages=module.stages[:12]), 4))
    assert not list(split_steps(module, 1))


def test_a_range_that_cannot_be_read_matches_nothing(unpacked: Unpack) -> None:
    module = largest(unpacked("jax-cpu-train"))

    def without_files(module: ModuleFiles) -> Sequence[bytes]:
        stages = tuple(replace(stage, artifacts=()) for stage in module.stages)
        return [match_range(StepRange(module.key, replace(module, stages=stages)))]

    assert unpack_matchings([*without_files(module), b""]) == {}
