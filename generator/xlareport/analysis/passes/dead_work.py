"""The work of a module that has no effect: of instructions that no live one uses.

Passes leave these behind, and a later pass removes them. XLA's cost analysis counts them, too.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.totals import NO_COST, Total
from xlareport.analysis.cost.work import Costs
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import reachable


def count_dead_work(module: HloModule, costs: Costs) -> Total | None:
    """Return the part of a module's total that its dead instructions have; None if unknown."""
    if module.entry is None or not any(map(dead_names, module.computations)):
        return NO_COST
    live = {*reachable([module.entry.name], lambda name: _run_by_live(module, name))}

    def is_dead(computation: Computation, line: Instruction) -> bool:
        return computation.name in live and line.name in dead_names(computation)

    return costs.part(module, is_dead)


def _run_by_live(module: HloModule, name: str) -> Iterator[str]:
    """Yield the computations that live instructions of a computation call."""
    computation = module.by_name[name]
    dead = dead_names(computation)
    for line in computation.instructions:
        if line.called and line.name not in dead:
            yield from (callee for _, callee in line.called if callee in module.by_name)
