"""Which work of nested loops moved out by one level each: the inner loop's is the outer's now.

XLA moves what is invariant out of the inner loop into the outer body, and out of that, in one step.
What arrives in the outer body often computes what has left it; the framework ops tell them apart.
"""

from collections.abc import Hashable, Sequence

from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import TUPLES
from xlareport.runtime.grouping import group_by_key

_Index = dict[Hashable, list[Node]]


class MovedLevels:
    """The differing nodes of both sides by operation and framework op, indexed on first use."""

    def __init__(self, before: Side, after: Side, forms: Forms) -> None:
        self._sides = before, after
        self._forms = forms
        self._known: tuple[_Index, _Index] | None = None

    def are_apart(self, node: Node, other: Node) -> bool:
        """Return whether an unpaired twin of each is of its framework op: `node` left, `other` not.

        The twin of `node` is in another computation, to which it moved, then.
        """
        names = origin(node), origin(other)
        if names[0] == names[1] or not all(names) or not (_is_closed(node) and _is_closed(other)):
            return False
        if self._known is None:
            self._known = self._index(self._sides[0]), self._index(self._sides[1])
        twins = self._twins(self._known[1], other, names[0])
        left = any(is_free(twin) and twin.frame is not other.frame for twin in twins)
        return left and any(map(is_free, self._twins(self._known[0], node, names[1])))

    def _index(self, side: Side) -> _Index:
        closed = (node for node in side.nodes if _is_closed(node))
        return group_by_key((self._key(node, origin(node)), node) for node in closed)

    def _key(self, node: Node, message: str) -> Hashable:
        form = self._forms.of(node.instruction)
        return (form.opcode, form.shape, message)

    def _twins(self, index: _Index, node: Node, message: str) -> Sequence[Node]:
        """Return the nodes of a framework op that do what a node does, with another one."""
        return index.get(self._key(node, message), ())


def _is_closed(node: Node) -> bool:
    """Return whether a node computes in a loop's body or the entry, in no opened fusion or call."""
    return node.frame.caller is None and node.instruction.opcode not in TUPLES
