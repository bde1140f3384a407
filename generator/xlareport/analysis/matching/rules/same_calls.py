"""A rule for calls of a shared computation in a computation that was copied or rewritten."""

from collections.abc import Hashable, Iterator, Mapping

from xlareport.analysis.matching.rules.loops.hoisting import name_after
from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import callees_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key


def same_calls(search: Search) -> None:
    """Pair the calls of one computation that are left in computations that continue each other.

    In order, where as many are left on both sides: where fewer are, some were inlined.
    """
    names = search.computations.pairs
    old = group_by_key(
        ((name_after(search, call), _called(call, names), origin(call)), call)
        for call in _open_calls(search.before)
    )
    if not old:
        return
    new = group_by_key(
        ((call.frame.computation.name, _called(call, {}), origin(call)), call)
        for call in _open_calls(search.after)
    )
    for key, calls in old.items():
        others = new.get(key, [])
        if len(calls) == len(others):
            for call, other in zip(calls, others, strict=True):
                search.link(call, other, Grade.MATCHED, "a call of the same computation")


def _open_calls(side: Side) -> Iterator[Node]:
    """Yield the unpaired calls whose computations are seen through."""
    callers = dict.fromkeys(frame.caller for frame in side.graph.frames)
    for call in callers:
        if call is not None and call.instruction.opcode == "call" and is_free(call):
            yield call


def _called(call: Node, names: Mapping[str, str]) -> Hashable:
    return tuple(names.get(name, name) for name in callees_of(call.instruction))
