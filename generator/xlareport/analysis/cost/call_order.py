"""The computations of a module, callees first."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from xlareport.hlo.model import Computation, HloModule


def callees_first(module: HloModule) -> tuple[Computation, ...] | None:
    """Return the computations that the entry reaches, callees first; None where calls go round."""
    if module.entry is None:
        return ()
    graph: dict[str, list[str]] = {}
    waiting = [module.entry.name]
    while waiting:
        name = waiting.pop()
        if name not in graph:
            graph[name] = _called(module.by_name[name], module.by_name)
            waiting.extend(graph[name])
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError:
        return None
    return tuple(module.by_name[name] for name in order)


def _called(computation: Computation, known: Mapping[str, Computation]) -> list[str]:
    """Return the names of what is called, in one order: sums of floats depend on it."""
    called = (name for instruction in computation.instructions for _, name in instruction.called)
    return sorted({name for name in called if name in known})
