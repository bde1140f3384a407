"""What loops that carry other elements now start with, in the place of what they started with."""

from collections.abc import Sequence

from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.elements import KeptElements, kept_elements, loop_given
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.loop_results import loop_side


class LoopStarts:
    """The start values of paired loops, of each loop looked up once."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._known: dict[Node, tuple[KeptElements, Sequence[NodeElement]]] = {}

    def equal_start(self, node: Node) -> Node | None:
        """Return the equal value with which a loop starts the element that began with a node.

        None where the loop carries as many elements as before: places correspond then.
        """
        for user, position in self._search.before.users.get(node, ()):
            loop = loop_given(self._search.before, user)
            now = None if loop is None or _is_result(user) else loop.partner
            if loop is None or now is None or not _carry_others(loop, now):
                continue
            kept, starts = self._looked_up(loop, now)
            first = kept.merged.get(position, position)
            places = (number for number, origin in kept.origins.items() if origin == first)
            for start, path in (starts[number] for number in places if starts):
                if not path and start.token == node.token:
                    return start
        return None

    def _looked_up(self, loop: Node, now: Node) -> tuple[KeptElements, Sequence[NodeElement]]:
        known = self._known.get(loop)
        if known is None:
            kept = kept_elements(self._search, loop, now)
            known = self._known[loop] = kept, loop_side(self._search.after, now).starts
        return known


def _is_result(node: Node) -> bool:
    """Return whether a node is what the body of a loop gives."""
    return node.instruction is node.frame.computation.root


def _carry_others(loop: Node, now: Node) -> bool:
    """Return whether two loops carry different numbers of elements."""
    counts = (len(node.instruction.shape.elements) for node in (loop, now))
    return now.instruction.opcode == "while" and len({*counts}) > 1
