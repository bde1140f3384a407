"""New constant values that took the place of others than those of their value."""

from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet

from xlareport.analysis.matching.search.nodes import is_free, read_at
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.contents import stem
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side

LiteralNames = Mapping[Hashable, AbstractSet[str]]
"""Names of literals without numbers and copy marks at their ends, by value number."""

_MOST = 8
"""Limit on values that are followed from a constant to their readers."""


def replaces_another(search: Search, node: Node, other: Node) -> bool:
    """Return whether what reads a new constant value read another old one that is not paired.

    What is computed of a constant alone is followed to what reads it.
    """
    same = [node]
    for value in same:
        users = (user for user, _ in search.before.users.get(value, ()) if user.constant)
        same += users if len(same) < _MOST else ()
    waiting = [other]
    for value in waiting:
        for user, position in search.after.users.get(value, ()):
            former = user.partner or _of_its_name(search, user)
            read = None if former is None else read_at(search.before, former, position)
            if read is not None:
                return read not in same and read.constant and is_free(read)
            waiting += [user] if user.constant and len(waiting) < _MOST else []
    return False


def _of_its_name(search: Search, node: Node) -> Node | None:
    """Return the old node of a new one's name, opcode and number of operands."""
    home, line = search.before.frames.get(node.frame.number), node.instruction
    known = None if home is None else home.computation.by_name.get(line.name)
    if home is None or known is None or known.opcode != line.opcode:
        return None
    return home.node(known) if len(known.operands) == len(line.operands) else None


def literals_in_loops(side: Side) -> LiteralNames:
    """Return the names of the unpaired literals in the bodies of loops."""
    names: dict[Hashable, set[str]] = {}
    for node in side.open():
        line = node.instruction
        if line.opcode == "constant" and _is_in_loop(side, node):
            names.setdefault(node.token, set()).add(stem(line.name))
    return names


def left_loop(node: Node, other: Node, in_loops: LiteralNames) -> bool:
    """Return whether a new literal is a clone, by name, of an equal one in a loop, not of `node`.

    A pass that takes a literal out of a loop clones it; the clone has its name with a new number.
    """
    name = stem(other.instruction.name)
    return name != stem(node.instruction.name) and name in in_loops.get(other.token, ())


def _is_in_loop(side: Side, node: Node) -> bool:
    sites = side.graph.call_sites(node.frame.computation.name)
    return any(call.instruction.opcode == "while" for _, call in sites)
