"""64-bit integer operations that became several on two 32-bit halves, as TPUs compute them."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.matching.account.word_halves import halves_of, is_complex, written
from xlareport.analysis.matching.search.nodes import place_of
from xlareport.analysis.matching.search.reasons import InHalves
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node


class Split(Struct, frozen=True):
    """A 64-bit operation with the new nodes that it became."""

    node: Node
    result: Node
    """The low half; the partner, if the low half is of another operation as well."""
    parts: tuple[Node, ...]
    """The other new nodes: what the tuple of the halves is the first to depend on."""
    low: Node
    high: Node

    @property
    def readers(self) -> list[Node]:
        """Return what took one half and has the new node that gives it as its counterpart."""
        return [
            reader for reader in _of_parts(self.node) if reader.partner in (self.low, self.high)
        ]

    @property
    def reason(self) -> InHalves:
        """Return how many instructions it became, and which gives which half."""
        count = len({*map(place_of, (self.result, *self.parts))})
        names = self.low.instruction.name, self.high.instruction.name
        return InHalves(count, *names, are_complex=is_complex(self.node))


def in_halves(search: Search, new: Mapping[Node, object]) -> Iterator[Split]:
    """Yield 64-bit integer operations that were split, and their parts; each part once.

    `new` are the new nodes without a counterpart, in order.
    """
    known = halves_of(search, new)
    tuples: dict[Node, list[Node]] = {}
    for node in new:
        if node.instruction.opcode == "tuple" and not search.after.users.get(node):
            tuples.setdefault(next(iter(written(node)), node), []).append(node)
    readers = (reader for node in known for reader in _of_parts(node))
    left = {*new, *(node.partner for node in (*known, *readers) if node.partner is not None)}
    for node in search.before.nodes:
        halves = known.get(node)
        if halves is not None:
            roots = [part for step in (halves, *halves.steps) for part in step.nodes]
            parts = _parts(search, roots, left, tuples)
            given = node.instruction.opcode == "complex" and halves.low not in parts
            result = halves.low if halves.low in parts else node.partner
            result = halves.whole if given else result
            is_new = node.partner is None or node.partner in parts
            if result in parts and is_new and node.instruction.opcode != "parameter":
                others = tuple(part for part in parts if part is not result)
                yield Split(node, result, others, halves.low, halves.high)
        elif node.partner is not None and any(read in known for read in written(node)):
            _parts(search, [node.partner], left, tuples)  # are those of a compare


def _of_parts(node: Node) -> list[Node]:
    """Return the users of a complex node that take its real or its imaginary part."""
    users = node.frame.computation.users.get(node.instruction.name, ())
    return [node.frame.node(user) for user in users if user.opcode in {"imag", "real"}]


def _parts(
    search: Search, roots: Sequence[Node], left: set[Node], tuples: Mapping[Node, list[Node]]
) -> list[Node]:
    """Take the nodes that roots depend on from those left, with the tuples of steps between."""
    parts = dict.fromkeys(node for node in roots if node in left)
    waiting = [*roots]
    for part in waiting:
        read = [operand for operand, _ in search.after.graph.operands(part)]
        for other in (*read, *tuples.get(part, ())):
            if other in left and other not in parts:
                parts[other] = None
                waiting.append(other)
    left.difference_update(parts)
    return [*parts]
