"""Values that calls were given and did not read, gone since these were inlined or removed."""

from collections.abc import Sequence

from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import Computation


def unread_argument(search: Search, users: Sequence[tuple[Node, int]]) -> str:
    """Return text for an old value that only calls use, which do not read it; '' of any other."""
    if not all(_is_unread(search, user, position) for user, position in users):
        return ""
    name = users[0][0].instruction.name
    others = len({user for user, _ in users}) - 1
    more = f" and {others} other calls were" if others > 1 else " and another call were"
    return f"only %{name}{more if others else ' was'} given it, and did not read it"


def _is_unread(search: Search, user: Node, position: int) -> bool:
    """Return whether a user is a call that is gone and whose callee does not read an operand."""
    line, names = user.instruction, [name for _, name in user.instruction.called]
    gone = user.partner is None and not user.kept
    callee = search.before.graph.module.by_name.get(names[0]) if names else None
    return gone and line.opcode == "call" and callee is not None and _ignores(callee, position)


def _ignores(callee: Computation, position: int) -> bool:
    """Return whether nothing reads a parameter of a computation, and it is not the result."""
    parameters = [line for line in callee.instructions if line.opcode == "parameter"]
    ours = [line for line in parameters if line.argument == str(position)]
    return all(not callee.users.get(line.name) and line is not callee.root for line in ours)
