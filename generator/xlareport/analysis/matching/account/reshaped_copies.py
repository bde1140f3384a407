"""Copies in another shape, by their names, or by what their readers' originals read.

A pass that gives work other dimensions, as for convolutions in windows, does it for what the work
reads as well, and leaves the originals to others or without users.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.account.originals import has_same_op, is_padded_copy
from xlareport.analysis.matching.search.nodes import (
    is_free,
    node_after,
    read_at,
    read_behind_moves,
    same_type,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.opcode_groups import BOUNDARIES, MOVES

NO_CLONES = frozenset({"copy", "get-tuple-element", "tuple"})
"""Opcodes that are put where they are needed: outside of fusions none is made of another."""
_CLONE = ".clone"
_DEEPEST = 100
"""Limit on the readers in a chain behind a copy."""
_PLACED = frozenset({"sharding", "frontend_attributes", "backend_config"})
"""Attributes that do not say what is computed."""


class ReshapedCopies:
    """Finds the original of a new instruction in another shape."""

    def __init__(self, search: Search) -> None:
        """Find originals in `search`."""
        self._search = search
        self._originals: dict[Node, Node | None] = {}

    def original(self, node: Node) -> Node | None:
        """Return the instruction before that a new one repeats in another shape; None if none.

        The partitioner gives each share another shape, which is no copy.
        """
        named = self._cloned_beside(node)
        by_readers = named is None and not self._search.divided
        return self._by_readers(node, _DEEPEST) if by_readers else named

    def _cloned_beside(self, node: Node) -> Node | None:
        """Return the instruction of which a node has the name and `.clone`, in its computation.

        XLA gives that name to a copy that a pass makes with other operands or of another shape.
        """
        line, name = node.instruction, node.instruction.name.removesuffix(_CLONE)
        home = self._search.before.frames.get(node.frame.number)
        known = None if home is None else home.computation.by_name.get(name)
        if home is None or known is None or known is line or known.opcode != line.opcode:
            return None
        if not line.operands or line.opcode in NO_CLONES or name == line.name:
            return None
        old, new, original = known.shape, line.shape, home.node(known)
        alike = old.element_type == new.element_type and old.element_count is not None
        moved = old.element_count == new.element_count and self._reads_moved(original, node)
        return original if alike and (moved or is_padded_copy(original, node)) else None

    def _reads_moved(self, original: Node, node: Node) -> bool:
        """Return whether the first operands of two nodes are one value, behind what moves it."""
        sides = (self._search.before, original), (self._search.after, node)
        read, now = (read_behind_moves(side, reader) for side, reader in sides)
        known = read is not None and now is not None
        return known and read is not None and node_after(self._search, read) is now

    def _by_readers(self, node: Node, depth: int) -> Node | None:
        line = node.instruction
        if line.opcode in MOVES | BOUNDARIES or not line.operands:
            return None
        reads = self._read_by_originals(node, depth)
        return next((read for read in reads if _is_original(read, node)), None)

    def _read_by_originals(self, node: Node, depth: int) -> Iterator[Node]:
        """Yield what the originals of a new node's readers read, behind what moves the node."""
        for user, position in self._search.after.users.get(node, ()) if depth else ():
            if is_free(user) and user.instruction.opcode in MOVES:
                yield from self._read_by_originals(user, depth - 1)
                continue
            known = user.partner or self._copied(user, depth)
            read = None if known is None else read_at(self._search.before, known, position)
            if read is not None:
                yield read

    def _copied(self, user: Node, depth: int) -> Node | None:
        """Return what a new reader is a copy of."""
        known = self._search.copies.get(user)
        if known is not None:
            return known[0]
        if user not in self._originals:
            self._originals[user] = None  # in case that it reads itself, in a loop
            named = self._cloned_beside(user)
            self._originals[user] = named or self._by_readers(user, depth - 1)
        return self._originals[user]


def _is_original(read: Node, node: Node) -> bool:
    """Return whether a new node does what an old one, which stays, does, in another shape."""
    ours, theirs = read.instruction, node.instruction
    alike = has_same_op(read, node) and same_type(read, node) and _computed(read) == _computed(node)
    moved = ours.shape.dimensions != theirs.shape.dimensions
    return alike and moved and not is_free(read) and len(ours.operands) == len(theirs.operands)


def _computed(node: Node) -> dict[str, str]:
    """Return the attributes that say what an instruction computes."""
    attributes = node.instruction.attributes
    return {name: text for name, text in attributes.items() if name not in _PLACED}
