"""Rules for values that a pass moves out of loops.

Work is found by its readers, which read an element of the carried tuple now. Of constants whose
readers do not say, the loop that receives the value decides.
"""

from collections.abc import Hashable, Iterator, Sequence

from xlareport.analysis.matching.search.nodes import is_free, same_form, same_leaf
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Graph, Node, NodeElement
from xlareport.analysis.matching.sides.loop_results import given_next
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES, MOVES
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_REASON = "the same constant value, beside the loop now"
_CARRIED = "its readers in the loop read it from outside now"
_LOOP = "while"
_PASSING = MOVES | {"convert", "optimization-barrier", "tuple"}
_MOST_STEPS = 5
_MOST_USERS = 100
_MOST_LOOPS = 16
"""Limit on nested loops that are searched outward."""


def hoisted(search: Search) -> None:
    """Pair constant values inside loops with equal ones outside, one to one and in order."""
    values = [node for node in search.before.open() if node.constant]
    if not values:
        return
    search.evaluate()
    merged = _merged_there(search, values)
    values = [node for node in values if node not in merged]
    beside = group_by_key(_beside(search))
    for node in values:
        other = _read_from_outside(search, node)
        if other is not None and is_free(other) and other.token == node.token:
            search.link(node, other, Grade.MATCHED, _REASON)
    for fits in (_is_clone, None):
        for node in values:
            for body in loops_around(search, name_after(search, node)) if is_free(node) else ():
                equal = (other for other in beside.get((body, node.token), ()) if is_free(other))
                other = next((other for other in equal if not fits or fits(node, other)), None)
                if other is not None:
                    search.link(node, other, Grade.MATCHED, _REASON)
                    break


def _merged_there(search: Search, values: Sequence[Node]) -> set[Node]:
    """Return the values that were merged with equal ones of their computation, and their parts."""
    merged: set[Node] = set()
    for node in reversed(values):  # readers stand behind what they read
        users = search.before.users.get(node, ())
        if _is_still_read_there(search, node) or any(user in merged for user, _ in users):
            merged.add(node)
    return merged


def _is_still_read_there(search: Search, node: Node) -> bool:
    """Return whether a reader of a value reads an equal one in its computation."""
    now = same_leaf(search.before, search.after, node)
    return now is not None and now.frame.computation.name == name_after(search, node)


def _is_clone(node: Node, other: Node) -> bool:
    """Return whether a node has the name of another, and more: that of a clone."""
    return other.instruction.name.startswith(f"{node.instruction.name}.")


def _beside(search: Search) -> Iterator[tuple[Hashable, Node]]:
    """Yield the open constant values after by the body of a loop that is given them, and value."""
    for node in search.after.open():
        if node.constant:
            for body in loops_given(node.instruction, node.frame.computation):
                yield (body, node.token), node


def loops_given(line: Instruction, home: Computation) -> list[str]:
    """Return the bodies of the loops that start from a value, or from a few moves of it."""
    lines, bodies = [line], dict[str, None]()
    for _ in range(_MOST_STEPS):
        users = [user for known in lines for user in home.users.get(known.name, ())][:_MOST_USERS]
        bodies |= dict.fromkeys(body_of(user) for user in users if user.opcode == _LOOP)
        lines = [user for user in users if user.opcode in _PASSING]
    return [*bodies]


def body_of(loop: Instruction) -> str:
    """Return the name of a loop's body."""
    return dict(loop.called).get("body", "")


def name_after(search: Search, node: Node) -> str:
    """Return the name now of the computation that an old node is in."""
    name = node.frame.computation.name
    return search.computations.pairs.get(name, name)


def loops_around(search: Search, name: str) -> Iterator[str]:
    """Yield the bodies of the new loops that run a new computation, outward."""
    waiting = [name]
    for inside in waiting:
        sites = search.after.graph.call_sites(inside)
        loops = [(home, call.instruction) for home, call in sites]
        loops = [(home, line) for home, line in loops if line.opcode == _LOOP]
        yield from (body_of(line) for _, line in loops)
        waiting += [home.name for home, _ in loops] if len(waiting) < _MOST_LOOPS else []


def carried_in(search: Search) -> None:
    """Pair work inside loops with the same work outside, from which its readers get it now."""
    for node in search.before.open():
        if not node.instruction.operands or node.instruction.opcode in BOUNDARIES:
            continue
        other = _read_from_outside(search, node)
        if other is not None and is_free(other) and same_form(search, node, other):
            search.link(node, other, Grade.MATCHED, _CARRIED)


def _read_from_outside(search: Search, node: Node) -> Node | None:
    """Return the node outside the loop that gives a reader of `node` its operand now."""
    for user, position in search.before.users.get(node, ()):
        other = None if user.partner is None else _outside(search, user.partner, position)
        if other is not None and is_free(other):
            return other
    return None


def _outside(search: Search, user: Node, position: int) -> Node | None:
    """Return the node outside the loop that gives an operand of a new node its value.

    None where a loop around it only starts with that value, and computes the next ones.
    """
    operands = search.after.graph.operands(user)
    known: NodeElement | None = operands[position] if position < len(operands) else None
    for _ in range(_MOST_LOOPS):
        if known is None or known[0].instruction.opcode != "parameter" or len(known[1]) != 1:
            break
        parameter, element = known[0], known[1][0]
        changes = given_next(search.after, parameter, element) is not None
        known = None if changes else given_to_loop(search.after.graph, parameter, element)
    return None if known is None or known[1] or known[0] is operands[position][0] else known[0]


def given_to_loop(graph: Graph, parameter: Node, element: int) -> NodeElement | None:
    """Return the value that an element of a loop has at first; None if there is no such loop."""
    for home, call in graph.call_sites(parameter.frame.computation.name):
        start = next(iter(call.instruction.operand_names), None)
        if call.instruction.opcode == "while" and start is not None:
            return graph.resolve(graph.home(home), f"{start}#{element}")
    return None
