"""Copies by name: in fused computations and those without callers, of one form and framework op."""

from collections.abc import Hashable

from xlareport.analysis.matching.search.nodes import is_fused, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node


class CopiesByName:
    """Finds the originals of copies by their names."""

    def __init__(self, search: Search) -> None:
        """Keep the search; the names of the old module are read when they are first needed."""
        self._search = search
        self._by_name: dict[Hashable, list[Node]] | None = None

    def original(self, node: Node) -> Node | None:
        """Return the original of a node in a fused computation or one without callers, by name."""
        is_called = bool(self._search.after.graph.callers(node.frame.computation.name))
        is_outside = is_called and not is_fused(node)
        is_outside = is_outside or node.frame.computation is self._search.after.graph.module.entry
        if node.instruction.opcode == "parameter" or is_outside:
            return None
        if self._by_name is None:
            self._by_name = self._names()
        nodes = self._by_name.get(self._name(node, _head(node.instruction.name)), [])
        known = nodes[0] if len(nodes) == 1 and (nodes[0].kept or not is_called) else None
        return known if known is not None and self._reads_alike(known, node) else None

    def _reads_alike(self, original: Node, node: Node) -> bool:
        """Return whether two nodes have operands with the same opcodes, as far as known.

        The arguments of a computation without callers are not known.
        """
        sides = (self._search.before, original), (self._search.after, node)
        read = [
            [operand.instruction.opcode for operand, _ in side.graph.operands(node)]
            for side, node in sides
        ]
        pairs = zip(*read, strict=False)
        same = all(old == new or "parameter" in (old, new) for old, new in pairs)
        return same and len(read[0]) == len(read[1])

    def _names(self) -> dict[Hashable, list[Node]]:
        """Return the instructions before by name, with and without the last number.

        Only those that may have been copied, which are few.
        """
        wanted = {_head(node.instruction.name) for node in self._search.after.open()}
        names: dict[Hashable, list[Node]] = {}
        for frame in self._search.before.homes.values():
            for line in frame.computation.instructions:
                for name in (line.name, _head(line.name)):
                    if name in wanted:
                        node = frame.node(line)
                        names.setdefault(self._name(node, name), []).append(node)
        return names

    def _name(self, node: Node, name: str) -> Hashable:
        form = self._search.forms.of(node.instruction)
        return (name, form.opcode, form.shape, origin(node))


def _head(name: str) -> str:
    """Return a name without the last number or mark, which copies get: `add.14` of `add.14.3`."""
    return name.rpartition(".")[0] or name
