"""A rule for work on a result of a loop or conditional that a pass does inside it now.

Before, it stood behind the loop or conditional; now the bodies give the result of the same work.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.reasons import InBranch
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade

_HOLDERS = frozenset({"conditional", "while"})
_BODIES = frozenset({"body", "branch_computations", "false_computation", "true_computation"})
_UPDATES = "dynamic-update-slice"


def moved_inside(search: Search) -> None:
    """Pair work behind a loop or conditional with the same work inside; note further copies."""
    for node in search.before.open():
        if node.instruction.opcode in BOUNDARIES:
            continue
        for holder, element in _read_now(search, node):
            inside = [*_inside(search, holder, element, node)]
            if inside:
                _pair(search, node, holder, inside)
                break


def _pair(search: Search, node: Node, holder: Node, inside: list[Node]) -> None:
    reason = f"it was done to a result of %{holder.instruction.name}, which gives that of it now"
    if is_free(node) and search.link(node, inside[0], Grade.MATCHED, reason):
        for other in inside[1:]:
            search.copies[other] = node, InBranch()


def _read_now(search: Search, node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the loop or conditional that a node reads, with the element its readers read now."""
    read = search.before.graph.operands(node)
    holder = read[0][0] if len(read) == 1 and len(read[0][1]) == 1 else None
    if holder is None or holder.instruction.opcode not in _HOLDERS:
        return
    now = node_after(search, holder)
    for user, position in search.before.users.get(node, ()):
        operands = () if user.partner is None else search.after.graph.operands(user.partner)
        for other, path in operands[position : position + 1]:
            if other is now and len(path) == 1:
                yield other, path[0]


def _inside(search: Search, holder: Node, element: int, node: Node) -> Iterator[Node]:
    """Yield the free nodes, one in each body, that give an element and do the work of a node."""
    for given, path in given_in_bodies(search.after, holder, element):
        source = _source(search.after, given)
        if not path and is_free(source) and does_the_same(node, source):
            yield source


def given_in_bodies(side: Side, holder: Node, element: int) -> Iterator[NodeElement]:
    """Yield what each body of a loop or conditional gives as an element of its result."""
    for attribute, name in holder.instruction.called:
        computation = side.graph.module.by_name.get(name)
        root = None if computation is None else computation.root
        if attribute not in _BODIES or computation is None or root is None:
            continue
        results = side.graph.operands(side.graph.home(computation).node(root))
        yield from results[element : element + 1] if root.opcode == "tuple" else ()


def _source(side: Side, given: Node) -> Node:
    """Return what computes a result; of an array that a loop fills, what it puts in each time."""
    operands = side.graph.operands(given)
    filled = given.instruction.opcode == _UPDATES and len(operands) > 1 and not operands[1][1]
    return operands[1][0] if filled else given


def does_the_same(node: Node, other: Node) -> bool:
    """Return whether two nodes are one operation with results of one type and layout."""
    line, known = node.instruction, other.instruction
    same = line.opcode == known.opcode and line.shape.element_type == known.shape.element_type
    return same and line.shape.layout == known.shape.layout
