"""Going round in circles: a snapshot that was there before, a computation that is as it was."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlareport.hlo.model import Computation, HloModule

_SMALLEST = 3
"""Instructions of a computation that is worth a word."""


@dataclass(frozen=True, slots=True)
class Again:
    """Something that an earlier snapshot held, and not all between did."""

    stage: int
    """The index of the snapshot in which it is back."""
    before: int
    """The index of the last snapshot that held it until then."""
    computation: str | None
    """None for the module as a whole."""


def find_oscillations(modules: Sequence[HloModule]) -> tuple[Again, ...]:
    """Return what came back: whole snapshots; else computations, by their text."""
    agains = [*_modules(modules)]
    stages = {again.stage for again in agains}
    agains += [
        computation for computation in _computations(modules) if computation.stage not in stages
    ]
    return tuple(sorted(agains, key=lambda again: again.stage))


def _modules(modules: Sequence[HloModule]) -> Iterator[Again]:
    last: dict[tuple[Computation, ...], int] = {}
    for stage, module in enumerate(modules):
        key = module.computations
        if key in last and last[key] < stage - 1:
            yield Again(stage, last[key], None)
        last[key] = stage


def _computations(modules: Sequence[HloModule]) -> Iterator[Again]:
    last: dict[Computation, int] = {}
    for stage, module in enumerate(modules):
        for computation in module.computations:
            before = last.get(computation, stage)
            if before < stage - 1 and len(computation.instructions) >= _SMALLEST:
                yield Again(stage, before, computation.name)
            last[computation] = stage
