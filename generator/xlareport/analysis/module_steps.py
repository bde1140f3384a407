"""The steps of a module: each is matched and described by itself, on one core or on several."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.search.result import LooseMatching, LooseMatchings, Matching
from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.step_boundaries import compare_neighbors, has_same_form
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.steps.effect import effect_of
from xlareport.analysis.steps.numbers_changed import NumbersChanged, numbers_changed
from xlareport.analysis.steps.step import StepChange, step
from xlareport.program import ParsedModule
from xlareport.runtime.faults import guard
from xlareport.runtime.forked_parts import run_parts

T = TypeVar("T")

OnChange = Callable[[StepChange, Boundary], T]
"""Returns the part of a step's changes to keep; the rest is dropped to save memory."""
_RANGES = 4
"""Ranges of steps for each process: some steps take much longer than others."""


class StepAnalysis(Struct, frozen=True):
    """The step that led to a snapshot."""

    summary: StepSummary | None
    """None for the first snapshot, which no step led to."""
    matching: Matching | None = None
    """None if nothing changed."""
    numbers: tuple[NumbersChanged, ...] = ()


class SeenStep(Struct, Generic[T], frozen=True):
    """A step with the result of its callback, None if nothing changed."""

    analysis: StepAnalysis
    seen: T | None
    loose: LooseMatching | None = None
    """Its matching without the modules, on the way from another process."""
    fault: str = ""
    """Why the snapshots could not be compared; empty if they were."""


def compare_snapshots(module: ParsedModule) -> Iterator[StepAnalysis]:
    """Yield the steps, with only whether they changed something."""
    for same in [None, *compare_neighbors(module.snapshots)][: len(module.snapshots)]:
        yield StepAnalysis(None if same is None else StepSummary(not same, 0, 0, 0, ""))


def analyze_steps(
    module: ParsedModule,
    boundaries: Sequence[Boundary],
    on_change: OnChange[T],
    processes: int = 1,
    matchings: LooseMatchings = MappingProxyType({}),
) -> tuple[SeenStep[T], ...]:
    """Return each snapshot's step, computed by up to `processes`; `on_change` runs in any of them.

    `matchings` are those of steps that exist already.
    """
    first: list[SeenStep[T]] = []
    if module.snapshots:
        first.append(SeenStep(StepAnalysis(None), None))
    if processes < 2:
        return (*first, *(_see(module, boundary, on_change, matchings) for boundary in boundaries))
    length = max(1, len(boundaries) // (_RANGES * processes))
    ranges = [boundaries[start : start + length] for start in range(0, len(boundaries), length)]
    parts = [partial(_see_range, module, some, on_change, matchings) for some in ranges]
    steps = chain.from_iterable(run_parts(parts, processes))
    return (*first, *map(partial(_join_step, module), boundaries, steps))


def _see_range(
    module: ParsedModule,
    boundaries: Sequence[Boundary],
    on_change: OnChange[T],
    matchings: LooseMatchings,
) -> list[SeenStep[T]]:
    """Return the steps of a range in a form that is small on its way to another process."""
    return [_loosened(_see(module, boundary, on_change, matchings)) for boundary in boundaries]


def _see(
    module: ParsedModule, boundary: Boundary, on_change: OnChange[T], matchings: LooseMatchings
) -> SeenStep[T]:
    """Return a step; a defect of xlareport costs this step alone."""
    return guard(
        lambda: _compare(module, boundary, on_change, matchings),
        lambda reason: SeenStep(StepAnalysis(_NOT_COMPARED), None, fault=reason),
    )


_NOT_COMPARED = StepSummary(
    changed=True,
    added=0,
    removed=0,
    modified=0,
    headline="Not compared: see the problems of the module.",
)


def _compare(
    module: ParsedModule, boundary: Boundary, on_change: OnChange[T], matchings: LooseMatchings
) -> SeenStep[T]:
    change = step_at(module, boundary, matchings)
    numbers = numbers_changed(change)
    summary = _summarize_step(change, numbers)
    if change.matching is None:
        return SeenStep(StepAnalysis(summary), None)
    seen = on_change(change, boundary)
    _drop_derived(change.matching)
    return SeenStep(StepAnalysis(summary, change.matching, numbers), seen)


def step_at(
    module: ParsedModule, boundary: Boundary, matchings: LooseMatchings = MappingProxyType({})
) -> StepChange:
    """Return the changes at a boundary; with a matching of `matchings`, where it has one."""
    before, after = module.snapshots[boundary.number - 1 : boundary.number + 1]
    return step(
        before.hlo,
        after.hlo,
        boundary.actor,
        headers=has_same_form(before, after),
        matched=matchings.get((before.read_from.path, after.read_from.path)),
        many_passes=boundary.many_passes,
    )


def _drop_derived(matching: Matching) -> None:
    """Free what is derived from computations that a step changed: later steps do not have them."""
    for computation in matching.before.computations:
        if matching.after.by_name.get(computation.name) is not computation:
            computation.drop_derived()


def _loosened(seen: SeenStep[T]) -> SeenStep[T]:
    matching = seen.analysis.matching
    if matching is None:
        return seen
    loose = dict(matching.computations), matching.pairings
    return replace(seen, analysis=replace(seen.analysis, matching=None), loose=loose)


def _join_step(module: ParsedModule, boundary: Boundary, seen: SeenStep[T]) -> SeenStep[T]:
    """Return a step with the modules that its matching is about."""
    if seen.loose is None:
        return seen
    before, after = module.snapshots[boundary.number - 1 : boundary.number + 1]
    matching = Matching(before.hlo, after.hlo, *seen.loose)
    return replace(seen, analysis=replace(seen.analysis, matching=matching), loose=None)


def _summarize_step(change: StepChange, numbers: Sequence[NumbersChanged]) -> StepSummary:
    return StepSummary(
        changed=not change.identical,
        added=len(change.added),
        removed=len(change.removed),
        modified=change.modified_count,
        headline="" if change.identical else change.headline,
        weight=change.weight,
        effect=effect_of(change, numbers),
    )
