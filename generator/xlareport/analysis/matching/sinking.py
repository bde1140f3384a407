"""A rule for constant values that a pass moves or copies into a loop that carried them.

Before, the body read an element of the carried tuple; after, it contains the value itself.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.facts import literal_of
from xlareport.analysis.matching.graph import Node
from xlareport.analysis.matching.grouping import group_by_key
from xlareport.analysis.matching.hoisting import is_given
from xlareport.analysis.matching.nodes import is_free
from xlareport.analysis.matching.search import Search
from xlareport.knowledge.grades import Grade

_REASON = "the same constant value, in the loop now"
_MOST_LOOPS = 16


def sunk(search: Search) -> None:
    """Pair constants outside loops with equal ones inside; record copies of kept constants."""
    left = [
        node for node in search.after.open() if node.constant and not _was_carried(search, node)
    ]
    given = [
        node
        for node in search.before.open()
        if node.constant and is_given(node.instruction, node.frame.computation)
    ]
    if not (left and given):
        return
    search.evaluate()
    beside = group_by_key(((_name_after(search, node), node.token), node) for node in given)
    for node in left:
        equal = (
            other for home in _homes(search, node) for other in beside.get((home, node.token), ())
        )
        other = next(filter(is_free, equal), None)
        if other is not None:
            search.link(other, node, Grade.MATCHED, _REASON)


def _was_carried(search: Search, node: Node) -> bool:
    """Pair a constant with the one that a loop carried to its reader, or record it as a copy."""
    carried = _carried(search, node)
    if carried is None:
        return False
    if not (is_free(carried) and search.link(carried, node, Grade.MATCHED, _REASON)):
        search.copies[node] = carried, "a further copy, in the loop"
    return True


def _name_after(search: Search, node: Node) -> str:
    name = node.frame.computation.name
    return search.computations.pairs.get(name, name)


def _homes(search: Search, node: Node) -> Iterator[str]:
    """Yield the computations after with the loops around a node, outwards."""
    waiting = [node.frame.computation.name]
    for body in waiting:
        sites = search.after.graph.call_sites(body)
        homes = [home.name for home, call in sites if call.instruction.opcode == "while"]
        yield from homes
        waiting += homes if len(waiting) < _MOST_LOOPS else []


def _carried(search: Search, node: Node) -> Node | None:
    """Return the equal constant outside the loop whose carried element a reader read before."""
    for user, position in search.after.users.get(node, ()):
        if user.partner is None:
            continue
        operands = search.before.graph.operands(user.partner)
        read, path = operands[position] if position < len(operands) else (node, ())
        if len(path) == 1 and read.instruction.opcode == "parameter":
            constant = _initial(search, read, path[0])
            same = constant is not None and literal_of(constant.instruction) == literal_of(
                node.instruction
            )
            if same and constant is not None and not constant.instruction.operands:
                return constant
    return None


def _initial(search: Search, parameter: Node, element: int) -> Node | None:
    """Return the constant that an element of a loop is at first; None of anything else."""
    graph = search.before.graph
    for home, call in graph.call_sites(parameter.frame.computation.name):
        names = list(call.instruction.operand_names)
        start = home.by_name.get(names[0]) if call.instruction.opcode == "while" and names else None
        if start is None or start.opcode != "tuple" or element >= len(start.operands):
            continue
        line = home.by_name.get(list(start.operand_names)[element])
        if line is not None and line.opcode == "constant":
            return graph.home(home).node(line)
    return None
