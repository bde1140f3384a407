"""Assigns a profile to the one of several modules with the same name that joins most of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.profile.instruction_times import ModuleRuns, ModuleTimes, sum_runs
from xlareport.analysis.profile.measured import Measured
from xlareport.runtime.grouping import group_by_key


def assign_profiles(
    modules: Iterable[ModuleAnalysis], times: Mapping[str, ModuleTimes]
) -> Iterator[ModuleAnalysis]:
    """Keep profiles with the modules that they fit, and count runs; `times` are by module name."""
    yield from count_runs(_fit_profiles([*modules]), times)


def count_runs(
    modules: Iterable[ModuleAnalysis], times: Mapping[str, ModuleTimes]
) -> Iterator[ModuleAnalysis]:
    """Yield modules with their runs; of several with one name, those that the profile fits."""
    modules = list(modules)
    profiled = {module.summary.files.name for module in modules if module.profile}
    for module in modules:
        name = module.summary.files.name
        seen = times.get(name) if module.profile or name not in profiled else None
        runs = sum_runs(seen) if seen else None
        if runs and module.profile:
            shared = bool(module.profile.twins or module.profile.others)
            took = None if module.profile.cut else runs.microseconds
            runs = ModuleRuns(runs.count or module.profile.entered, took, shared)
        yield replace(module, summary=replace(module.summary, runs=runs)) if runs else module


def _fit_profiles(modules: Sequence[ModuleAnalysis]) -> Iterator[ModuleAnalysis]:
    by_name = group_by_key(
        (module.summary.files.name, module) for module in modules if module.profile is not None
    )
    for module in modules:
        same_name = by_name.get(module.summary.files.name, ())
        yield replace(module, profile=_fit_profile(module, same_name))


def _fit_profile(module: ModuleAnalysis, same_name: Sequence[ModuleAnalysis]) -> Measured | None:
    """Return the profile with other modules that it fits; None if another fits better."""
    module_profile = module.profile
    if module_profile is None:
        return None
    profiles = {other.summary.files.key: other.profile for other in same_name if other.profile}
    best = max(profiles.values(), key=lambda profile: profile.joined)
    if module_profile.joined < best.joined and not _knows_more(module_profile, best):
        return None
    del profiles[module.summary.files.key]
    twins = [key for key, profile in profiles.items() if profile.joined == module_profile.joined]
    others = [key for key, profile in profiles.items() if profile.joined and key not in twins]
    return replace(module_profile, twins=tuple(twins), others=tuple(others))


def _knows_more(own: Measured, best: Measured) -> bool:
    """Return whether a module has instructions that ran and that the best one of its name lacks."""
    unknown = {operation.name for operation in best.unknown}
    return not unknown.isdisjoint(row.time.name for row in own.rows)
