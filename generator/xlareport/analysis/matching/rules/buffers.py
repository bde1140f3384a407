"""A rule for fills that became memory only: the loop that starts with them overwrites them."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, read_at, same_shape, target_of
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.knowledge.grades import Grade

_BUFFER = "AllocateBuffer"
"""Target of custom calls that give memory, and no values."""
_FILLS = frozenset({"broadcast", "constant"})


def memory_only(search: Search) -> None:
    """Pair the fills that known readers read with the memory that these get instead."""
    for node in search.after.open():
        if target_of(node) == _BUFFER:
            for reader, fill in _read_before(search, node):
                reason = f"memory only, which %{reader.instruction.name} gets in its place"
                if search.link(fill, node, Grade.MATCHED, reason):
                    break


def _read_before(search: Search, node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the readers of a buffer, and the free fills of its shape that they read before."""
    for user, position in search.after.users.get(node, ()):
        former = user.partner
        read = None if former is None else read_at(search.before, former, position)
        if read is not None and _is_free_fill(read) and same_shape(search, read, node):
            yield user, read


def _is_free_fill(node: Node) -> bool:
    return is_free(node) and node.instruction.opcode in _FILLS
