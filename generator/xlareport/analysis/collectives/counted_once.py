"""Collectives in loops of unknown trip count, which all figures count once."""

from collections.abc import Collection

from msgspec import Struct

from xlareport.analysis.cost.looped import list_counted_once
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import HloModule, InstructionKey


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
