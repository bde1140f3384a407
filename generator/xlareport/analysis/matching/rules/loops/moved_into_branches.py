"""A rule for work on an operand of a conditional that the branch which reads it does itself now.

Before, the branch got the copied array, say; now it gets the array, and copies it.
"""

from collections.abc import Iterator
from itertools import islice

from xlareport.analysis.matching.rules.loops.moved_inside import does_the_same
from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.reasons import InBranch
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade


def moved_into_branches(search: Search) -> None:
    """Pair work whose result only branches got with the same work in these; note further copies."""
    for node in search.before.open():
        if node.instruction.opcode in BOUNDARIES or not is_free(node):
            continue
        given = _branches(search, node)
        inside = [work for place in given for work in islice(_inside(search, *place, node), 1)]
        if inside:
            holder = given[0][0].instruction.name
            reason = f"a branch of %{holder} got its result, and does it"
            if search.link(node, inside[0], Grade.MATCHED, reason):
                for other in inside[1:]:
                    search.copies[other] = node, InBranch()


def _branches(search: Search, node: Node) -> list[tuple[Node, int]]:
    """Return the conditionals after whose branches alone read a node, with the operands' places."""
    places: list[tuple[Node, int]] = []
    for user, position in _readers(search.before, node):
        now = node_after(search, user)
        if user.instruction.opcode != "conditional" or not position or now is None:
            return []
        places.append((now, position))
    return places


def _readers(side: Side, node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the readers of a node; of a tuple with it those of the tuple."""
    for user, position in side.users.get(node, ()):
        if user.instruction.opcode != "tuple":
            yield user, position
            continue
        name, frame = user.instruction.name, user.frame
        for line in frame.computation.users.get(name, ()):  # one that is as it was, too
            for place, operand in enumerate(line.operand_names):
                if operand == name:
                    yield frame.node(line), place


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
