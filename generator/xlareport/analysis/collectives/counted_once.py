"""Collectives in loops of unknown trip count, which all figures count once."""

from collections.abc import Collection, Mapping

from msgspec import Struct

from xlareport.analysis.cost.looped import list_counted_once
from xlareport.analysis.cost.loops import TripCount
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import ComputationCall, HloModule, InstructionKey


class LoopCountedOnce(Struct, frozen=True):
    """A loop of unknown trip count that executes collectives."""

    name: str
    most: int | None
    """The most iterations; None where there is no bound."""
    collectives: int
    """How many it executes, with those of the loops in it."""


def find_loops_counted_once(
    module: HloModule, cost: ModuleCost, collectives: Collection[InstructionKey]
) -> tuple[LoopCountedOnce, ...]:
    """Return the outermost loops of unknown trip count that execute some of the collectives."""
    return tuple(
        LoopCountedOnce(key[1], cost.trip_counts[key].most, executed)
        for key, run in list_counted_once(module, cost.trip_counts).items()
        if (executed := sum(home in run for home, _ in collectives))
    )


def count_per_iteration(
    module: HloModule, trip_counts: Mapping[InstructionKey, TripCount], computation: str
) -> int | None:
    """Return how often a computation runs per iteration of the innermost loop of unknown count.

    None outside of such a loop, and where the number is not known: in a conditional, or with
    several callers.
    """
    executions, seen = 1, set[str]()
    while computation not in seen:
        seen.add(computation)
        calls = [call for call in module.calls.get(computation, ()) if _starts(call)]
        if len(calls) != 1 or calls[0].instruction.opcode == "conditional":
            return None
        role, home, caller = calls[0]
        if caller.opcode == "while":
            trips = trip_counts.get((home.name, caller.name))
            if trips is None or trips.count is None:
                return executions if trips else None
            executions *= trips.count + (role == "condition")
        computation = home.name
    return None


def _starts(call: ComputationCall) -> bool:
    """Return whether a call runs its computation; `async-done` names it too."""
    return call.instruction.opcode not in {"async-update", "async-done"}
