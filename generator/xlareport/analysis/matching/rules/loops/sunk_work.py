"""A rule for work that a pass does again in a loop, which carried its result before.

The body reads the same expression of what the loop is given instead of an element.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.rules.loops.hoisting import given_to_loop
from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade

_REASON = "the same expression of what the loop is given, in the loop now"
_COPY = "a further copy, in the loop"
_MOST_LOOPS = 16
_MOST_PAIRS = 100


def sunk_work(search: Search) -> None:
    """Pair work in loops with that of which they carried the result; or note it as a copy."""
    for node in search.after.open():
        if _may_be_sunk(search, node):
            for outside in _carried(search, node):
                pairs = _same_expression(search, outside, node)
                if pairs:
                    _pair(search, pairs)
                    break


def _may_be_sunk(search: Search, node: Node) -> bool:
    known = node in search.copies or not is_free(node)
    return not known and node.instruction.opcode not in BOUNDARIES


def _pair(search: Search, pairs: list[tuple[Node, Node]]) -> None:
    for node, other in pairs:
        if is_free(other) and other not in search.copies:
            moved = is_free(node) and search.link(node, other, Grade.MATCHED, _REASON)
            if not moved:
                search.copies[other] = node, _COPY


def _carried(search: Search, node: Node) -> Iterator[Node]:
    """Yield the nodes outside whose value the readers of a new node read from a loop before."""
    for user, position in search.after.users.get(node, ()):
        operands = () if user.partner is None else search.before.graph.operands(user.partner)
        for read in operands[position : position + 1]:
            for outside, path in given_outside(search.before, read):
                if not path and outside.instruction.opcode == node.instruction.opcode:
                    yield outside


def given_outside(side: Side, read: NodeElement) -> Iterator[NodeElement]:
    """Yield what loops around a reader were given for an element that it reads, outward.

    Only of elements that each iteration passes on as they are.
    """
    known: NodeElement | None = read
    for _ in range(_MOST_LOOPS):
        if known is None or not _is_passed_on(side, known):
            return
        known = given_to_loop(side.graph, known[0], known[1][0])
        if known is not None:
            yield known


def _is_passed_on(side: Side, element: NodeElement) -> bool:
    """Return whether an element is one of a loop's body that this gives on unchanged."""
    node, path = element
    root = node.frame.computation.root
    if node.instruction.opcode != "parameter" or len(path) != 1 or root is None:
        return False
    results = side.graph.operands(node.frame.node(root)) if root.opcode == "tuple" else ()
    return results[path[0] : path[0] + 1] == (element,)


def _same_expression(search: Search, node: Node, other: Node) -> list[tuple[Node, Node]]:
    """Return the pairs of nodes of two equal expressions, the first ones first; or none."""
    pairs = [(node, other)]
    for ours, theirs in pairs:
        operands = search.before.graph.operands(ours), search.after.graph.operands(theirs)
        forms = search.forms.of(ours.instruction), search.forms.of(theirs.instruction)
        alike = forms[0] == forms[1] and len(operands[0]) == len(operands[1])
        if not alike or ours.instruction.called or len(pairs) > _MOST_PAIRS:
            return []
        for read, now in zip(*operands, strict=True):
            if _is_given(search, read, now):
                continue
            if read[1] or now[1] or not is_free(now[0]):
                return []
            if (read[0], now[0]) not in pairs:
                pairs.append((read[0], now[0]))
    return pairs


def _is_given(search: Search, read: NodeElement, now: NodeElement) -> bool:
    """Return whether a loop is given for what a new node reads what an old one reads outside."""
    node, path = read
    return any(
        there == path and _goes_on(search, node, other)
        for other, there in given_outside(search.after, now)
    )


def _goes_on(search: Search, node: Node, other: Node) -> bool:
    """Return whether a node continues another, or is that of an unchanged computation."""
    if node.frame.computation is other.frame.computation:
        return node.instruction is other.instruction
    return other is node_after(search, node)
