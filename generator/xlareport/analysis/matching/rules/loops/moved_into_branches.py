"""A rule for work on an operand of a conditional that the branch which reads it does itself now.

Before, the branch got the copied array, say; now it gets the array, and copies it.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.rules.loops.moved_inside import does_the_same
from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade


def moved_into_branches(search: Search) -> None:
    """Pair work whose result only a branch got with the same work in that branch."""
    for node in search.before.open():
        if node.instruction.opcode not in BOUNDARIES and is_free(node):
            for holder, position in _branches(search, node):
                work = next(_inside(search, holder, position, node), None)
                if work is not None:
                    reason = f"a branch of %{holder.instruction.name} got its result, and does it"
                    search.link(node, work, Grade.MATCHED, reason)
                    break


def _branches(search: Search, node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the conditional after whose branch alone read a node, and the place of its operand."""
    users = search.before.users.get(node, ())
    if len(users) != 1:
        return
    user, position = users[0]
    if user.instruction.opcode == "conditional" and position and user.partner is not None:
        yield user.partner, position


def _inside(search: Search, holder: Node, position: int, node: Node) -> Iterator[Node]:
    """Yield the free work in a branch that is that of a node, on what this read."""
    branch = _branch(search.after, holder, position)
    operands = search.before.graph.operands(node)
    if branch is None or len(operands) != 1:
        return
    source, path = operands[0]
    wanted = node_after(search, source), path
    for line in branch.computation.instructions:
        work = branch.node(line)
        if is_free(work) and does_the_same(node, work):
            read = search.after.graph.operands(work)
            if [_given(search.after, holder, position, element) for element in read] == [wanted]:
                yield work


def _branch(side: Side, holder: Node, position: int) -> Frame | None:
    """Return the computation of a conditional that gets an operand."""
    names = [name for _, name in holder.instruction.called]
    name = names[position - 1] if position <= len(names) else ""
    computation = side.graph.module.by_name.get(name)
    return None if computation is None else side.graph.home(computation)


def _given(side: Side, holder: Node, position: int, read: NodeElement) -> NodeElement | None:
    """Return what a branch reads as an element of its parameter; None of anything else."""
    parameter, path = read
    operands = side.graph.operands(holder)
    if parameter.instruction.opcode != "parameter" or position >= len(operands):
        return None
    node, element = operands[position]
    if node.instruction.opcode == "tuple" and not element and path:
        return side.graph.resolve(node.frame, [*node.instruction.operands][path[0]])
    return node, (*element, *path)
