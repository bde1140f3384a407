"""Dynamic cycles of a program: by its scalar operations, else by the form of its loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.tpu.control import Action
from xlareport.analysis.tpu.counted_loop import counted_cycles, recognize_loop
from xlareport.analysis.tpu.interpreter import Execution, Unknown, run_program
from xlareport.readers.llo.regions import LoopBounds

_STRAIGHT = "It has no branches: every bundle runs once."
_FOLLOWED = "Its scalar operations decide every branch; no stalls are counted."
_FORM = "By the bounds of its only loop; no stalls are counted."


@dataclass(frozen=True, slots=True)
class DynamicCycles:
    """Cycles of a run; None where they are not known."""

    cycles: int | None
    reason: str
    """How they were found, or why they are not known."""
    counts: tuple[int, ...] | None = None
    """How often each bundle runs, by address."""


def dynamic_cycles(
    actions: Mapping[int, Sequence[Action]],
    bundles: int,
    delay_slots: int | None,
    bounds: Sequence[LoopBounds],
    iterations: int | None,
) -> DynamicCycles:
    """Return the cycles of one run; `iterations` is the product of the loop's bounds in HLO."""
    if not any(action.is_branch for members in actions.values() for action in members):
        return DynamicCycles(bundles, _STRAIGHT, (1,) * bundles)
    if delay_slots is None:
        return DynamicCycles(None, "Not known: the dump does not say which chip it is for.")
    result = run_program(actions, bundles, delay_slots)
    if isinstance(result, Execution):
        return DynamicCycles(result.cycles, _FOLLOWED, result.counts)
    form, trips = recognize_loop(actions), bounds[0].limit if len(bounds) == 1 else None
    if form and trips is not None and iterations is not None and trips >= iterations:
        cycles = counted_cycles(form, bundles, trips, iterations, delay_slots)
        return DynamicCycles(cycles, _FORM)
    return DynamicCycles(None, _not_known(result))


def _not_known(result: Unknown) -> str:
    place = "" if result.address is None else f" (cycle {result.address:#x} of the schedule)"
    return f"Not known: {result.reason}{place}."
