"""What a whole compilation made of an instruction: the new ones of its op_name and Python stack.

Passes that expand an operation give its metadata to what they make of it.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.matching.rules.shares import place_key
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES, spans_partitioned_compilation
from xlareport.analysis.matching.sides.graph import Node
from xlareport.runtime.grouping import group_by_key

_UNCOUNTED = MOVES | {"constant", "get-tuple-element", "parameter", "tuple"}


def stack_expansions(
    search: Search, gone: Mapping[Node, object], new: Mapping[Node, object]
) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Yield removed nodes that alone had an op_name and a stack, with the new ones that have it.

    The result is the first of these. Moves are left out.
    """
    modules = search.before.graph.module, search.after.graph.module
    if not spans_partitioned_compilation(*modules):
        return
    ours = _by_place(search.before.values.order)
    theirs = _by_place(node for node in search.after.values.order if node in new)
    for place, nodes in ours.items():
        if len(nodes) == 1 and nodes[0] in gone and place in theirs:
            yield nodes[0], theirs[place][::-1]


def _by_place(nodes: Iterable[Node]) -> Mapping[Hashable, Sequence[Node]]:
    work = (node for node in nodes if node.instruction.opcode not in _UNCOUNTED)
    return group_by_key((place_key(node), node) for node in work)
