"""A rule for fills that became memory only: the loop that starts with them overwrites them."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, read_at, same_shape, target_of
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.families import BUFFER
from xlareport.analysis.matching.sides.graph import Node
from xlareport.knowledge.grades import Grade

_FILLS = frozenset({"broadcast", "constant"})


def memory_only(search: Search) -> None:
    """Pair the fills that known readers read with the memory that these get instead."""
    for node in search.after.open():
        if target_of(node) == BUFFER:
            for reader, fill in _read_before(search, node):
                reason = f"memory only, which %{reader.instruction.name} gets in its place"
                if is_free(fill) and search.link(fill, node, Grade.MATCHED, reason):
                    break


def reason_of_buffer(search: Search, node: Node) -> str:
    """Return in whose place a further buffer is given, of a fill that several are of; else ''."""
    if target_of(node) != BUFFER:
        return ""
    places = _read_before(search, node)
    return next(
        (
            f"memory only, which %{reader.instruction.name} gets in place of"
            f" %{fill.instruction.name}"
            for reader, fill in places
        ),
        "",
    )


def _read_before(search: Search, node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the known readers of a buffer, and the fills of its shape that they read before."""
    for user, position in search.after.users.get(node, ()):
        former = user.partner
        read = None if former is None else read_at(search.before, former, position)
        is_fill = read is not None and read.instruction.opcode in _FILLS
        if read is not None and is_fill and same_shape(search, read, node):
            yield user, read
