"""A profile goes to the one of several modules with its name that joins most of it."""

from collections.abc import Mapping
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from tests.analysis.modules.small_summaries import small_summary

from xlareport.analysis.fitted_profiles import assign_profiles
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.profile.instruction_times import ModuleTimes, OpTime, RunTime
from xlareport.analysis.profile.measured import Measured, PartialTrace
from xlareport.dump.modules import ModuleFiles

TIMES = ModuleTimes("jit_f", {}, (RunTime("1", 0, 4_000_000, None),), 3)


def measured(joined: int, *unknown: str) -> Measured:
    return Measured(
        runs=TIMES.runs,
        length=TIMES.length,
        busy=None,
        events=3,
        joined=joined,
        rows=(),
        left_out=0,
        unknown=tuple(map(OpTime, unknown)),
        scopes=(),
        lines=(),
    )


def module(key: str, profile: Measured | None, name: str = "jit_f") -> ModuleAnalysis:
    files = ModuleFiles(key, key, None, name, None, (), ())
    return ModuleAnalysis(replace(small_summary(name), files=files), profile=profile)


def assigned(
    *modules: ModuleAnalysis, times: Mapping[str, ModuleTimes] | None = None
) -> dict[str, ModuleAnalysis]:
    known = {"jit_f": TIMES} if times is None else times
    return {module.summary.files.key: module for module in assign_profiles(modules, known)}


def test_the_module_that_joins_most_keeps_the_profile() -> None:
    result = assigned(module("a", measured(1)), module("b", measured(3)))
    assert result["a"].profile is None
    kept = result["b"].profile
    assert kept is not None
    assert (kept.twins, kept.others) == ((), ("a",))


def test_modules_that_join_as_much_both_keep_it_and_name_each_other() -> None:
    result = assigned(module("a", measured(3)), module("b", measured(3)))
    assert [result[key].profile.twins for key in "ab"] == [("b",), ("a",)]  # type: ignore[union-attr]


def test_a_module_with_instructions_that_the_best_lacks_keeps_it() -> None:
    row = SimpleNamespace(time=OpTime("dot.7"))
    fewer = replace(measured(1), rows=(row,))  # type: ignore[arg-type]
    result = assigned(module("a", fewer), module("b", measured(3, "dot.7")))
    assert result["a"].profile is not None


def test_runs_are_counted_for_the_modules_that_fit() -> None:
    result = assigned(module("a", measured(1)), module("b", measured(3)))
    assert result["a"].summary.runs is None
    runs = result["b"].summary.runs
    assert runs is not None
    assert (runs.count, runs.microseconds, runs.shared) == (1, 4.0, True)


def test_of_a_cut_trace_the_time_is_not_that_of_the_runs() -> None:
    cut = replace(measured(3), cut=PartialTrace("dot.1", 1, 10))
    runs = assigned(module("a", cut))["a"].summary.runs
    assert runs is not None
    assert (runs.count, runs.microseconds, runs.shared) == (1, None, False)


@pytest.mark.parametrize("times", [{}, {"jit_g": TIMES}])
def test_without_a_profile_of_the_name_no_runs_are_known(times: Mapping[str, ModuleTimes]) -> None:
    assert assigned(module("a", None), times=times)["a"].summary.runs is None
