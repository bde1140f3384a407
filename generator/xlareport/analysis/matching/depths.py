"""How many products lie on the longest ways above and below a node: passes seldom change that."""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.matching.families import family_of, is_bundle
from xlareport.analysis.matching.graph import Graph, Node, Operand, opened_root

_LONGEST_CHAIN = 100
"""Barriers behind barriers that are seen through."""


def depths(graph: Graph, order: Sequence[Node]) -> Mapping[Node, tuple[int, int]]:
    """Return of each node the most products on a way above it, and below it; operands come first.

    A way begins and ends at arguments, results and unchanged instructions of its computation.
    """
    counted = {node: int(family_of(node.instruction) == "product") for node in order}
    above, below = dict.fromkeys(order, 0), dict.fromkeys(order, 0)
    sources = {node: [other for other in _sources(graph, node) if other in above] for node in order}
    for node in order:
        above[node] = max((above[other] + counted[other] for other in sources[node]), default=0)
    for node in reversed(order):
        here = below[node] + counted[node]
        for other in sources[node]:
            below[other] = max(here, below[other])
    return {node: (above[node], below[node]) for node in order}


def _sources(graph: Graph, node: Node) -> Iterator[Node]:
    """Yield what the value of a node is made of; elements of barriers are seen through."""
    for operand in graph.operands(node):
        yield _behind_barriers(graph, operand)
    opened = opened_root(node)
    if opened is not None:
        yield opened


def _behind_barriers(graph: Graph, operand: Operand) -> Node:
    node, path = operand
    for _ in range(_LONGEST_CHAIN):
        operands = graph.operands(node)
        if path and path[0] < len(operands) and is_bundle(node.instruction):
            (node, inner), path = operands[path[0]], path[1:]
        elif node.instruction.opcode == "opt-barrier" and operands:
            node, inner = operands[0]
        else:
            break
        path = (*inner, *path)
    return node
