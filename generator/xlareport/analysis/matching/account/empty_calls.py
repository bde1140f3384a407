"""Inlined calls of which no instruction is known."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, is_root
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opened_root

RETURNS_ARGUMENT = "its computation only returns an argument"
_NOT_KNOWN = "nothing calls its computation now; where it was inlined is not known"


def why_empty(search: Search, call: Node) -> str | None:
    """Return why a removed call has no instructions now; None if it was not inlined.

    It was if it was removed together with the computation that it called, and its result used.
    """
    after = search.after.graph.module.by_name
    pairs = search.computations.pairs
    if any(pairs.get(name, name) in after for _, name in call.instruction.called):
        return None
    if _is_begun_no_more(search, call):
        return None
    root = opened_root(call)
    is_identity = root is not None and root.instruction.opcode == "parameter"
    uses = _written_uses(call) if is_identity else search.before.users.get(root or call, ())
    if not is_root(call) and not any(_is_used(*use) for use in uses):
        return None
    return RETURNS_ARGUMENT if is_identity else _NOT_KNOWN


def _is_begun_no_more(search: Search, call: Node) -> bool:
    """Return whether a call was all that an async-start ran, and that is gone."""
    for home, site in search.before.graph.call_sites(call.frame.computation.name):
        frame = search.before.homes.get(home.name)
        start = None if frame is None else frame.node(site.instruction)
        if site.instruction.opcode == "async-start" and start is not None and is_free(start):
            return True
    return False


def _written_uses(call: Node) -> Iterator[tuple[Node, int]]:
    """Yield the users of a call in its computation, with the position of the operand."""
    name = call.instruction.name
    for user in call.frame.computation.users.get(name, ()):
        for position, operand in enumerate(user.operand_names):
            if operand == name:
                yield call.frame.node(user), position


def _is_used(user: Node, position: int) -> bool:
    """Return whether a user is anything but a call that does not use this operand."""
    opened = user.frame.callees.get(user.instruction.name)
    given = opened.computation.parameters[position : position + 1] if opened else ()
    return opened is None or any(line.name in opened.computation.users for line in given)
