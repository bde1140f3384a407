"""Users that took the place of another user of the same value, by their framework op."""

from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.analysis.matching.sides.side import Side

_MOST_USERS = 64
"""Limit on users that are compared: many read a constant or an index."""


def replaces_another_user(search: Search, read: tuple[Node, Node], pair: tuple[Node, Node]) -> bool:
    """Return whether a new user is of the framework op of another old user, of another opcode.

    XLA gives what replaces an instruction its metadata: `x / y` as `x * (1 / y)` is the division,
    though `x * z` was the only multiplication. `read` is a value and its counterpart, `pair` are
    users of these that look alike.
    """
    (value, now), (node, other) = read, pair
    message = origin(other)
    if not message or not origin(node) or message == origin(node):
        return False
    ours, theirs = _free_users(search.before, value), _free_users(search.after, now)
    if any(user is not other and origin(user) == message for user in theirs):
        return False
    shape = other.instruction.shape
    same = [user for user in ours if user is not node and origin(user) == message]
    return any(
        opcode_of(user) != opcode_of(other)
        and user.instruction.shape.dimensions == shape.dimensions
        for user in same
    )


def _free_users(side: Side, value: Node) -> list[Node]:
    users = side.users.get(value, ())
    return [user for user, _ in users if is_free(user)] if len(users) <= _MOST_USERS else []
