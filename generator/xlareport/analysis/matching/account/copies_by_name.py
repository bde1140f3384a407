"""Copies by name: in fused computations and those without callers, of one form and framework op."""

from collections.abc import Hashable

from xlareport.analysis.matching.search.nodes import is_fused, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.values import UNKNOWN

_LEFT_OPEN = frozenset({"parameter"})
"""Operands that stand for any others."""


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
        return known if known is not None and self._may_be_original(known, node) else None

    def _may_be_original(self, known: Node, node: Node) -> bool:
        """Return whether two nodes read and call alike, and neither is part of the other."""
        calls = not known.instruction.called or self._calls_alike(known, node)
        return calls and self._reads_alike(known, node)

    def _calls_alike(self, known: Node, node: Node) -> bool:
        """Return whether two nodes call equal work, and the known one does not call the other."""
        ours, theirs = known.instruction.called, node.instruction.called
        inside = node.frame.computation.name in {name for _, name in ours}
        old, new = self._search.contents
        pairs = zip(ours, theirs, strict=False)
        equal = (old.of(call) == new.of(now) != UNKNOWN for (_, call), (_, now) in pairs)
        return not inside and len(ours) == len(theirs) and all(equal)

    def _reads_alike(self, original: Node, node: Node) -> bool:
        """Return whether two nodes have operands with the same opcodes, as far as known.

        The arguments of a computation without callers are not known. A copy is of its own layout,
        and of the value that it reads: a new one before another value is put there for that.
        """
        if node.instruction.opcode == "copy" and not _same_layout(original, node):
            return False
        sides = (self._search.before, original), (self._search.after, node)
        read = [
            [operand.instruction.opcode for operand, _ in side.graph.operands(node)]
            for side, node in sides
        ]
        pairs = zip(*read, strict=False)
        known = _LEFT_OPEN if node.instruction.opcode != "copy" else frozenset[str]()
        same = all(old == new or not known.isdisjoint((old, new)) for old, new in pairs)
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


def _same_layout(original: Node, node: Node) -> bool:
    return original.instruction.shape.layout == node.instruction.shape.layout


def _head(name: str) -> str:
    """Return a name without the last number or mark, which copies get: `add.14` of `add.14.3`."""
    return name.rpartition(".")[0] or name
