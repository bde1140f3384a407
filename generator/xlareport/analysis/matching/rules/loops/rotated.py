"""A rule for loops that a pass rotated: the work for the next iteration is done in this one.

The loop carries the result. It starts with that of a copy before the loop, which does the work for
the first iteration.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.rules.loops.hoisting import given_to_loop
from xlareport.analysis.matching.search.nodes import is_free, read_at, same_form
from xlareport.analysis.matching.search.reasons import FirstIteration
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.loop_results import given_next
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade

_REASON = "its readers in the loop read what the iteration before computed"


def rotated(search: Search) -> None:
    """Pair work of a loop with that for its next iteration, and note that for the first."""
    loops = (link for link in search.links if link.after.instruction.opcode == "while")
    for link in [link for link in loops if _carries_more(link)]:
        for node, first, following in [*_rotated(search, link.after)]:
            if is_free(node) and is_free(following):
                search.link(node, following, Grade.MATCHED, _REASON)
            if node.partner is following:
                _note(search, link.before, node, first)


def _carries_more(link: NodePair) -> bool:
    """Return whether a loop carries more elements now."""
    old, new = (node.instruction.shape.elements for node in (link.before, link.after))
    return len(new) > len(old)


def _rotated(search: Search, loop: Node) -> Iterator[tuple[Node, Node, Node]]:
    """Yield work that a body read, with that for the first iteration and for the next."""
    frame = search.after.homes.get(dict(loop.instruction.called).get("body", ""))
    parameters = () if frame is None else frame.computation.parameters
    for parameter in [] if frame is None else [frame.node(line) for line in parameters]:
        for user, position in search.after.users.get(parameter, ()):
            node = None if user.partner is None else read_at(search.before, user.partner, position)
            path = search.after.graph.operands(user)[position][1]
            pair = _first_and_next(search, parameter, path) if node is not None else None
            if node is not None and pair is not None and _is_work(search, node, *pair):
                yield node, *pair


def _first_and_next(
    search: Search, parameter: Node, path: tuple[int, ...]
) -> tuple[Node, Node] | None:
    """Return what gives an element of a loop its first value and what gives the next ones."""
    start = given_to_loop(search.after.graph, parameter, path[0]) if len(path) == 1 else None
    following = given_next(search.after, parameter, path[0]) if start is not None else None
    if start is None or following is None or start[1] or following[1]:
        return None
    return start[0], following[0]


def _is_work(search: Search, node: Node, first: Node, following: Node) -> bool:
    """Return whether two new nodes do work as an old one did, which is no element of its loop."""
    is_work = node.instruction.operands and node.instruction.opcode not in BOUNDARIES
    return bool(is_work) and all(same_form(search, node, other) for other in (first, following))


def _note(search: Search, loop: Node, node: Node, first: Node) -> None:
    """Note work before a loop as a copy of that in it, and the constants that it reads."""
    pairs = ((node, first), *_constants_read(search, node, first))
    for original, copy in pairs:
        if is_free(copy):
            reason = FirstIteration(loop.instruction.name, is_rotated=True)
            search.copies.setdefault(copy, (original, reason))


def _constants_read(search: Search, node: Node, first: Node) -> Iterator[tuple[Node, Node]]:
    read, now = search.before.graph.operands(node), search.after.graph.operands(first)
    for (constant, _), (other, _) in zip(read, now, strict=False):
        if constant.instruction.opcode == other.instruction.opcode == "constant":
            yield constant, other
