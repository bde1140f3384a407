"""Processes: by folder, and by time where numbers come twice; else nobody knows."""

from dataclasses import replace

from tests.analysis.conftest import Compile

from xlareport.analysis.modules.links import links
from xlareport.analysis.modules.processes import processes
from xlareport.analysis.modules.retraces import retraces
from xlareport.analysis.modules.summary import ModuleSummary

ADD = """\
  %a = f32[2,3]{1,0} parameter(0)
  %b = f32[2,3]{1,0} parameter(1)
  ROOT %sum = f32[2,3]{1,0} add(%a, %b)"""


def modules(compiled: Compile, *names: str) -> list[ModuleSummary]:
    return list(compiled({f"{name}.before_optimizations.txt": ADD for name in names}))


def at(one: ModuleSummary, second: float) -> ModuleSummary:
    """Return the module as if its files had been written at that second."""
    told = tuple(
        replace(artifact, entry=replace(artifact.entry, modified=second))
        for artifact in one.files.artifacts
    )
    return replace(one, files=replace(one.files, artifacts=told))


def numbers(found: list[ModuleSummary]) -> list[int | None]:
    apart = processes(found)
    told = [apart[one.files.key] for one in found]
    return [None if one is None else one[1] for one in told]


def test_numbers_that_come_once_are_of_one_process(compiled: Compile) -> None:
    assert numbers(modules(compiled, "module_0000.f", "module_0002.g", "module_0004.f")) == [
        0,
        0,
        0,
    ]


def test_numbers_that_begin_anew_are_of_another_process(compiled: Compile) -> None:
    found = modules(compiled, "module_0000.f", "module_0000.g", "module_0002.f", "module_0002.g")
    told = [at(one, second) for one, second in zip(found, (10, 20, 11, 21), strict=True)]
    assert numbers(told) == [0, 1, 0, 1]


def test_processes_at_the_same_time_cannot_be_told_apart(compiled: Compile) -> None:
    found = modules(compiled, "module_0000.f", "module_0000.g", "module_0002.f", "module_0002.g")
    told = [at(one, second) for one, second in zip(found, (10, 11, 13, 12), strict=True)]
    assert numbers(told) == [None] * 4


def test_nothing_joins_modules_of_different_processes(compiled: Compile) -> None:
    found = modules(compiled, "module_0000.f", "module_0000.g", "module_0002.f")
    told = [at(one, second) for one, second in zip(found, (10, 20, 21), strict=True)]
    assert [(one.source, one.target) for one in links(told)] == []
    assert retraces(told) == ()
    assert len(retraces(found[::2])) == 1
