"""The order in which nodes are paired that a rule takes for alike."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence

from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.runtime.grouping import group_by_key


def pairs_in_order(
    search: Search, ours: Sequence[Node], theirs: Sequence[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of old and new nodes: those of equal attributes first, the others in order.

    The attributes are dimensions, windows, bounds and what called computations compute; of several
    nodes with equal attributes, those of one shape come first.
    """
    if len(ours) > 1 or len(theirs) > 1:
        for key_of in (_form, _attributes):
            pairs = _equal(search, ours, theirs, key_of)
            yield from pairs
            taken = {node for pair in pairs for node in pair}
            ours = [node for node in ours if node not in taken]
            theirs = [node for node in theirs if node not in taken]
    yield from zip(ours, theirs, strict=False)


_KeyOf = Callable[[Search, Node, int], Hashable]


def _equal(
    search: Search, ours: Sequence[Node], theirs: Sequence[Node], key_of: _KeyOf
) -> list[tuple[Node, Node]]:
    """Return the pairs of nodes that have a key in common, in order."""
    keyed = group_by_key((key_of(search, other, 1), other) for other in theirs)
    waiting = {key: deque(others) for key, others in keyed.items()}
    keys = [(node, key_of(search, node, 0)) for node in ours]
    return [(node, waiting[key].popleft()) for node, key in keys if waiting.get(key)]


def _form(search: Search, node: Node, here: int) -> Hashable:
    return search.forms.of(node.instruction).shape, _attributes(search, node, here)


def _attributes(search: Search, node: Node, here: int) -> Hashable:
    """Return the attributes of a node that say what it computes, and the contents of its calls."""
    called = [search.contents[here].of(name) for _, name in node.instruction.called]
    return search.forms.of(node.instruction).attributes, *called
