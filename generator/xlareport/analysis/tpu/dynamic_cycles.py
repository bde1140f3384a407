"""Dynamic cycles of a program: by its scalar operations, else by the form of its loop."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.tpu.control import Action
from xlareport.analysis.tpu.interpreter import Execution, Unknown, run_program
from xlareport.readers.llo.regions import LoopBounds

_BRANCHES = 2
"""Number of branches of the form: the guard and the back branch."""


class CountedLoop(Struct, frozen=True):
    """A loop of the form."""

    begin: int
    guard: int
    """The address of the branch that skips the body."""
    target: int
    """Where the guard goes."""
    branch: int
    """The address of the back branch."""


def recognize_loop(actions: Mapping[int, Sequence[Action]]) -> CountedLoop | None:
    """Return the loop of a program that has one with one guard and no other branch, else None."""
    branches = [
        (address, action.branch)
        for address, members in sorted(actions.items())
        for action in members
        if action.branch is not None
    ]
    if len(branches) != _BRANCHES:
        return None
    (guard, target), (branch, begin) = branches
    if not 0 <= begin <= guard < target <= branch:
        return None
    return CountedLoop(begin, guard, target, branch)


def counted_cycles(
    loop: CountedLoop, total: int, trips: int, iterations: int, delay_slots: int
) -> int:
    """Return the cycles of `trips` through the loop, `iterations` of them with the body."""
    skipped = trips - iterations
    behind = loop.branch + 1 + delay_slots
    skip = (loop.guard + 1 + delay_slots - loop.begin) + (behind - loop.target)
    return loop.begin + iterations * (behind - loop.begin) + skipped * skip + total - behind


_STRAIGHT = "It has no branches: every bundle runs once."
_FOLLOWED = "Its scalar operations decide every branch; no stalls are counted."
_FORM = "By the bounds of its only loop; no stalls are counted."


class DynamicCycles(Struct, frozen=True):
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
    """Return the cycles of one run; `iterations` is the product of the loop bounds in HLO."""
    if not any(action.is_branch for members in actions.values() for action in members):
        return DynamicCycles(bundles, _STRAIGHT, (1,) * bundles)
    if delay_slots is None:
        return DynamicCycles(None, "Not known: the dump does not say which chip it is for.")
    execution = run_program(actions, bundles, delay_slots)
    if isinstance(execution, Execution):
        return DynamicCycles(execution.cycles, _FOLLOWED, execution.counts)
    form, trips = recognize_loop(actions), bounds[0].limit if len(bounds) == 1 else None
    if form and trips is not None and iterations is not None and trips >= iterations:
        cycles = counted_cycles(form, bundles, trips, iterations, delay_slots)
        return DynamicCycles(cycles, _FORM)
    return DynamicCycles(None, _not_known(execution))


def _not_known(result: Unknown) -> str:
    place = "" if result.address is None else f" (cycle {result.address:#x} of the schedule)"
    return f"Not known: {result.reason}{place}."
