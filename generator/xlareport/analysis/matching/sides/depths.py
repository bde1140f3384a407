"""How many products lie on the longest ways above and below a node: passes seldom change that."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from xlareport.analysis.matching.sides.facts import callees_of
from xlareport.analysis.matching.sides.families import family_of, is_bundle
from xlareport.analysis.matching.sides.graph import Graph, Node, NodeElement, opened_root

_LONGEST_CHAIN = 100
"""Barriers behind barriers that are seen through."""


Depths = Mapping[Node, tuple[int, int]]
"""Largest number of instructions of a kind on a path to each node, and on a path from it."""

_RUNNING = frozenset({"conditional", "while"})
"""Opcodes that run other computations as part of a path; calls are inlined or added."""
_FURTHER = {
    "permutes": frozenset({"collective-permute", "collective-permute-start"}),
    "indexing": frozenset({"gather", "scatter"}),
}
"""Opcodes that are counted together; counts of permutes distinguish the stages of a ring."""


def depths_of_products(graph: Graph, order: Sequence[Node]) -> Depths:
    """Return for each node the most matmuls on a path to it and from it; operands come first.

    Paths start and end at arguments, results and unchanged instructions. The bodies of loops and
    branches are part of the paths through them.
    """
    return _depths(graph, order, _is_product)


def further_depths(graph: Graph, order: Sequence[Node]) -> Mapping[str, Depths]:
    """Return the same depths for permutes and for indexed reads and writes, where these occur."""
    present = {node.instruction.opcode for node in order}
    return {
        kind: _depths(graph, order, partial(_has_opcode, opcodes))
        for kind, opcodes in _FURTHER.items()
        if not opcodes.isdisjoint(present)
    }


def greatest(depths: Depths) -> int:
    """Return the most instructions that any way has."""
    return max(chain.from_iterable(depths.values()), default=0)


def _is_product(node: Node) -> bool:
    return family_of(node.instruction) == "product"


def _has_opcode(opcodes: Collection[str], node: Node) -> bool:
    return node.instruction.opcode in opcodes


def _depths(graph: Graph, order: Sequence[Node], is_counted: Callable[[Node], bool]) -> Depths:
    counted = {node: int(is_counted(node)) for node in order}
    above, below = dict.fromkeys(order, 0), dict.fromkeys(order, 0)
    sources = {node: [other for other in _sources(graph, node) if other in above] for node in order}
    most: dict[str, int] = {}
    for node in order:
        above[node] = max((above[other] + counted[other] for other in sources[node]), default=0)
        counted[node] += max((most.get(callee, 0) for callee in _bodies(node)), default=0)
        home = _home(node)
        most[home] = max(most.get(home, 0), above[node] + counted[node])
    for node in reversed(order):
        here = below[node] + counted[node]
        for other in sources[node]:
            below[other] = max(here, below[other])
    return _with_callers(order, above, below)


def _with_callers(order: Sequence[Node], above: dict[Node, int], below: dict[Node, int]) -> Depths:
    """Add the depths around a loop or branch to the depths of the nodes in its body.

    Callers come after their callees. If a computation has several callers, the first one counts.
    """
    around: dict[str, tuple[int, int]] = {}
    result: dict[Node, tuple[int, int]] = {}
    for node in reversed(order):
        over, under = around.get(_home(node), (0, 0))
        depth = result[node] = (above[node] + over, below[node] + under)
        around |= dict.fromkeys(_bodies(node), depth)
    return result


def _bodies(node: Node) -> tuple[str, ...]:
    """Return the names of the computations that a closed loop or conditional runs."""
    closed = node.instruction.opcode in _RUNNING and opened_root(node) is None
    return callees_of(node.instruction) if closed else ()


def _home(node: Node) -> str:
    """Return the computation that contains a node, looking through opened calls."""
    frame = node.frame
    while frame.caller is not None:
        frame = frame.caller.frame
    return frame.computation.name


def _sources(graph: Graph, node: Node) -> Iterator[Node]:
    """Yield the nodes that a node's value is computed from, looking through barriers."""
    for operand in graph.operands(node):
        yield _behind_barriers(graph, operand)
    opened = opened_root(node)
    if opened is not None:
        yield opened


def _behind_barriers(graph: Graph, operand: NodeElement) -> Node:
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
