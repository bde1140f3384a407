"""How a module grows and shrinks from snapshot to snapshot, in counts and in work."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec.structs import asdict

from xlareport.analysis.cost.partitions import computes_per_device
from xlareport.analysis.cost.totals import Total
from xlareport.analysis.cost.work import Costs, ModuleCost
from xlareport.analysis.passes.dead_work import count_dead_work
from xlareport.analysis.steps.step import ModuleSize, figures_of
from xlareport.hlo.model import Computation, HloModule

_BUDGET = 40_000
"""Limit on instructions whose work is counted; beyond it, some snapshots are left out."""
_ENDS = 2
"""The first and the last snapshot are counted however large they are."""
_SHARED = 4
"""Divisor for instructions in computations that were counted before."""


class Growth(ModuleSize, frozen=True):
    """The figures of one snapshot."""

    flops: int | None
    """None where they are not known, or where this snapshot was left out."""
    bytes_accessed: int | None
    partitions: int = 1
    """Number of partitions; work and bytes are for one of them. 1 before partitioning."""
    dead_flops: int | None = None
    """The part of `flops` of instructions that no live one uses; None where `flops` is."""
    dead_bytes_accessed: int | None = None
    """The same part of `bytes_accessed`."""


def measure_growth(modules: Sequence[HloModule], costs: Costs) -> tuple[Growth, ...]:
    """Return the figures of each snapshot; work that `costs` has counted is reused."""
    chosen = _chosen(modules)
    counted = {module: costs.total(module) for module in chosen}
    dead = {module: count_dead_work(module, costs) for module in chosen}
    return tuple(_growth(module, counted.get(module), dead.get(module)) for module in modules)


def _growth(module: HloModule, cost: Total | ModuleCost | None, dead: Total | None) -> Growth:
    return Growth(
        **asdict(figures_of(module)),
        flops=cost.flops if cost else None,
        bytes_accessed=cost.bytes_accessed if cost else None,
        dead_flops=dead.flops if dead and cost else None,
        dead_bytes_accessed=dead.bytes_accessed if dead and cost else None,
        partitions=module.partition_count if computes_per_device(module) else 1,
    )


def _chosen(modules: Sequence[HloModule]) -> list[HloModule]:
    """Return the distinct snapshots to count: the ends, then both sides of the largest changes."""
    distinct = list(dict.fromkeys(modules))
    steps = sorted(pairwise(distinct), key=_jump, reverse=True)
    both_sides = (module for pair in steps for module in pair)
    chosen: list[HloModule] = []
    seen: set[Computation] = set()
    spent = 0
    for module in dict.fromkeys([*distinct[-1:], *distinct[:1], *both_sides]):
        fresh = [computation for computation in module.computations if computation not in seen]
        if module is not distinct[-1]:
            spent += sum(len(computation.instructions) for computation in fresh)
        spent += module.instruction_count // _SHARED
        if spent <= _BUDGET or len(chosen) < _ENDS:
            chosen.append(module)
            seen.update(fresh)
    return chosen


def _jump(step: tuple[HloModule, HloModule]) -> int:
    return abs(step[1].instruction_count - step[0].instruction_count)
