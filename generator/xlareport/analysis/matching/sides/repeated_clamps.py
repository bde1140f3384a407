"""Clamps to the bounds that their value was clamped to already: they change nothing."""

from collections.abc import Sequence

from xlareport.analysis.matching.sides.graph import Graph, Node

_CLAMP = "clamp"
_DEEPEST = 8
_PARTS = 3
"""The lower bound, the value and the upper bound."""


def read_through(graph: Graph, node: Node, inputs: Sequence[Node]) -> list[Node]:
    """Return the inputs of a clamp, with the value before all clamps to the same bounds."""
    result = [*inputs]
    if node.instruction.opcode != _CLAMP or len(result) != _PARTS:
        return result
    for _ in range(_DEEPEST):
        inner = result[1]
        if inner.instruction.opcode != _CLAMP or inner.kept:
            break
        within = graph.operands(inner)
        if [read for read, _ in within[::2]] != result[::2] or any(path for _, path in within):
            break
        result[1] = within[1][0]
    return result
