"""Collectives in loops of unknown trip count, which all figures count once."""

from collections.abc import Collection

from msgspec import Struct

from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.graph import called_computations
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
    unknown = {
        key: called_computations(module, [module.by_name[key[0]].by_name[key[1]]])
        for key, trips in cost.trip_counts.items()
        if trips.count is None
    }
    loops = []
    for key, run in unknown.items():
        executed = sum(home in run for home, _ in collectives)
        is_inner = any(key[0] in others for others in unknown.values())
        if executed and not is_inner:
            loops.append(LoopCountedOnce(key[1], cost.trip_counts[key].most, executed))
    return tuple(loops)
