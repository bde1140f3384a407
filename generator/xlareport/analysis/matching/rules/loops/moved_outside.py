"""A rule for work that each branch of a conditional did for its result, done behind it now.

Before, each branch gave the converted value, say; now it gives the value, which is converted once.
"""

from xlareport.analysis.matching.rules.loops.moved_inside import does_the_same, given_in_bodies
from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade

_COPY = "a further copy, behind the conditional"


def moved_outside(search: Search) -> None:
    """Combine the work of all branches into that behind the conditional, or note it as a copy."""
    for node in search.after.open():
        if node.instruction.opcode not in BOUNDARIES and is_free(node):
            _pair(search, node)


def _pair(search: Search, node: Node) -> None:
    read = search.after.graph.operands(node)
    holder = read[0][0] if len(read) == 1 and len(read[0][1]) == 1 else None
    if holder is None or holder.partner is None or holder.instruction.opcode != "conditional":
        return
    element = read[0][1][0]
    inside = [*given_in_bodies(search.before, holder.partner, element)]
    now = [*given_in_bodies(search.after, holder, element)]
    if not inside or len(inside) != len(now):
        return
    if not all(_was_done(search, node, *pair) for pair in zip(inside, now, strict=True)):
        return
    works = [work for work, _ in inside]
    kept = [work for work in works if not is_free(work)]
    if not kept:
        reason = f"it was done in the branches of %{holder.instruction.name}"
        search.combine(works, node, Grade.MATCHED, reason)
    else:
        search.copies.setdefault(node, (kept[0], _COPY))


def _was_done(search: Search, node: Node, given: NodeElement, gives: NodeElement) -> bool:
    """Return whether a branch did the work of a node, and gives what that was done to now."""
    work, path = given
    read = search.before.graph.operands(work)
    if path or len(read) != 1 or not does_the_same(work, node):
        return False
    source, element = read[0]
    return gives == (node_after(search, source), element)
