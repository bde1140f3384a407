"""64-bit integer operations that became several on two 32-bit halves, as TPUs compute them.

The halves of each value are the elements of a tuple without users.
"""

from collections.abc import Iterator, Mapping

from xlareport.analysis.matching.graph import Node
from xlareport.analysis.matching.nodes import read_at
from xlareport.analysis.matching.search import Search

_WHOLE = frozenset({"s64", "u64"})
_HALVES = frozenset({"s32", "u32"})
_MOST = 500
"""Maximum number of new instructions of one operation."""


def in_halves(
    search: Search, new: Mapping[Node, object]
) -> Iterator[tuple[Node, Node, list[Node]]]:
    """Yield 64-bit integer operations, the node of the low half, and the other new nodes.

    `new` are the new nodes without a counterpart; each is yielded once.
    """
    wide = [node for node in search.before.values.order if _is_wide(node) and not node.kept]
    if not wide:
        return
    tuples = _tuples(search, new)
    lows = _low_halves(search, wide, tuples)
    spoken_of: set[Node] = set()
    for node in wide:
        low = lows.get(node)
        if low is None or low in spoken_of:
            continue
        parts = _parts(search, node, (low, *tuples[low]), new, spoken_of)
        parts += [tuples[part][0] for part in parts if part in tuples]
        spoken_of.update((low, *parts))
        yield node, low, parts


def _is_wide(node: Node) -> bool:
    return node.instruction.shape.element_type in _WHOLE and node.instruction.opcode != "parameter"


def _tuples(search: Search, new: Mapping[Node, object]) -> Mapping[Node, tuple[Node, Node]]:
    """Return the new tuples of two halves without users, by low half, each with its high half."""
    result: dict[Node, tuple[Node, Node]] = {}
    for node in new:
        read = [operand for operand, _ in search.after.graph.operands(node)]
        is_pair = node.instruction.opcode == "tuple" and len(read) == len(_PAIR)
        if is_pair and not search.after.users.get(node) and all(map(_is_half, read)):
            result.setdefault(read[0], (node, read[1]))
    return result


_PAIR = ("low", "high")


def _is_half(node: Node) -> bool:
    return node.instruction.shape.element_type in _HALVES


def _low_halves(
    search: Search, wide: list[Node], tuples: Mapping[Node, object]
) -> Mapping[Node, Node]:
    """Return the low halves of 64-bit values: partners, or the operands read instead."""
    lows: dict[Node, Node] = {}
    for node in reversed(wide):  # readers before what they read
        if node.partner is not None and node.partner in tuples:
            lows[node] = node.partner
            continue
        for user, position in search.before.users.get(node, ()):
            reader = user.partner or lows.get(user)
            now = None if reader is None else read_at(search.after, reader, position)
            if now is not None and now in tuples:
                lows[node] = now
                break
    return lows


def _parts(
    search: Search,
    node: Node,
    roots: tuple[Node, ...],
    new: Mapping[Node, object],
    spoken_of: set[Node],
) -> list[Node]:
    """Return the new nodes that the halves depend on, without the low half itself."""
    own = {node.partner, *new} - spoken_of
    parts = dict.fromkeys(roots)
    waiting = [*parts]
    for part in waiting:
        for operand, _ in search.after.graph.operands(part):
            if operand in own and operand not in parts and len(parts) < _MOST:
                parts[operand] = None
                waiting.append(operand)
    return [part for part in parts if part is not roots[0] and part in own]
