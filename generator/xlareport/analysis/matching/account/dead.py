"""The instructions that nothing depended on, in each computation and each fusion of a module."""

from collections.abc import Mapping

from xlareport.analysis.matching.search.nodes import is_root
from xlareport.analysis.matching.sides.facts import TRANSPARENT, live_computations
from xlareport.analysis.matching.sides.graph import Frame, Node, element_taken
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.analysis.matching.sides.side import Side

_ELEMENT = "get-tuple-element"
_TUPLE = "tuple"


class DeadLines:
    """The removed instructions on which no remaining one depended."""

    def __init__(self, before: Side, lives: Mapping[Node, bool]) -> None:
        """`lives` says of each differing node whether its value is read after the step."""
        self._before = before
        self._lives = lives
        self._names: dict[Frame, frozenset[str]] = {}

    def of(self, frame: Frame) -> frozenset[str]:
        """Return the names of the dead instructions of a frame."""
        if frame not in self._names:
            self._names[frame] = frozenset()
            self._names[frame] = frozenset(
                self._names_in(frame, called=not self._lost_callers(frame))
            )
        return self._names[frame]

    def had_no_callers(self, frame: Frame) -> bool:
        """Return whether no live instruction called the computation of a frame before the step.

        What dead instructions apply, such as the sum of a dead reduction, goes with them.
        """
        name, graph = frame.computation.name, self._before.graph
        if name not in live_computations(graph.module):
            return True
        sites = graph.call_sites(name)
        return bool(sites) and all(
            call.instruction.opcode not in TRANSPARENT and call.instruction.name in dead_names(home)
            for home, call in sites
        )

    def _lost_callers(self, frame: Frame) -> bool:
        """Return whether all instructions that call the computation of a frame are dead."""
        if frame.caller is not None:
            return frame.caller.instruction.name in self.of(frame.caller.frame)
        sites = self._before.graph.call_sites(frame.computation.name)
        homes = [(self._before.homes.get(home.name), call.instruction.name) for home, call in sites]
        return bool(homes) and all(
            home is not None and name in self.of(home) for home, name in homes
        )

    def _names_in(self, frame: Frame, *, called: bool) -> set[str]:
        computation = frame.computation
        unread, dead = self._unread_outputs(frame), set[str]()
        for line in reversed(computation.instructions):  # XLA prints operands before their users
            node = frame.nodes.get(line.name)
            lost = node is not None and not node.kept and not self._lives.get(node, False)
            if not lost or (line is computation.root and called):
                continue
            readers = {reader.name for reader in computation.users.get(line.name, ())}
            if line.name in unread and computation.root is not None:
                readers.discard(computation.root.name)
            if readers <= dead:
                dead.add(line.name)
        return dead

    def _unread_outputs(self, frame: Frame) -> frozenset[str]:
        """Return the outputs of a fusion of several that only dead instructions read."""
        root, caller = frame.computation.root, frame.caller
        if root is None or root.opcode != _TUPLE or caller is None or is_root(caller):
            return frozenset()
        users = caller.frame.computation.users.get(caller.instruction.name, ())
        if any(user.opcode != _ELEMENT for user in users):
            return frozenset()
        dead = self.of(caller.frame)
        read = {element_taken(user) for user in users if user.name not in dead}
        outputs = [*enumerate(root.operand_names)]
        living = {name for place, name in outputs if (place,) in read}
        return frozenset(name for _, name in outputs) - living
