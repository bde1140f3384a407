"""Pairs of nodes of one framework op, told apart by which may be a device's share of which."""

from collections.abc import Sequence

from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.parameters import divides

_MOST = 64
"""Nodes of one framework op that are compared with each other."""


def sole_shares(ours: Sequence[Node], theirs: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Return the pairs of old nodes and their only possible shares, which are of no other.

    A pair leaves the rest with fewer possibilities, which may show further pairs.
    """
    if max(len(ours), len(theirs)) > _MOST:
        return []
    possible = {node: [other for other in theirs if may_be_share(node, other)] for node in ours}
    pairs: list[tuple[Node, Node]] = []
    while True:
        sure_pairs = _sole(possible)
        if not sure_pairs:
            return pairs
        pairs += sure_pairs
        taken = {node for pair in sure_pairs for node in pair}
        possible = {
            node: [other for other in others if other not in taken]
            for node, others in possible.items()
            if node not in taken
        }


def _sole(possible: dict[Node, list[Node]]) -> list[tuple[Node, Node]]:
    """Return the pairs of which either node has no other possibility."""
    pairs: dict[Node, Node] = {}
    for node, others in possible.items():
        if len(others) == 1 and others[0] not in pairs.values():
            rivals = [known for known, shares in possible.items() if shares == others]
            if len(rivals) == 1:
                pairs[node] = others[0]
    return [*pairs.items()]


def may_be_share(node: Node, other: Node) -> bool:
    """Return whether each dimension of a new node is a share of one of an old node, in order.

    Dimensions of one element are left out. Some dimensions may have one element now.
    """
    whole = [size or 0 for size in node.instruction.shape.dimensions if size != 1]
    for share in [size or 0 for size in other.instruction.shape.dimensions if size != 1]:
        while whole and not divides(whole[0], share):
            whole.pop(0)
        if not whole:
            return False
        whole.pop(0)
    return True
