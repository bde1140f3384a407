"""One of the two modules of a search: its graph, value numbers, differing nodes and their users."""

from collections.abc import Hashable, Mapping
from functools import cached_property

from xlareport.analysis.matching.sides.depths import Depths, depths_of_products, further_depths
from xlareport.analysis.matching.sides.graph import Frame, Graph, Node, NodeElement
from xlareport.analysis.matching.sides.repeats import own_values
from xlareport.analysis.matching.sides.values import Values


class Side:
    """One of the two modules: its graph, value numbers, differing nodes and their users."""

    def __init__(self, graph: Graph, values: Values) -> None:
        self.graph = graph
        self.values = values
        self.nodes = [
            frame.node(line)
            for frame in graph.frames
            for line in frame.computation.instructions
            if line not in frame.kept
        ]
        self._closed = 0
        """Number of leading nodes known to have a partner, which they keep."""
        values.prepare(self.nodes)
        self.users: dict[Node, list[tuple[Node, int]]] = {}
        for node in values.order:
            for position, (operand, _) in enumerate(graph.operands(node)):
                self.users.setdefault(operand, []).append((node, position))
        self.homes = {frame.computation.name: frame for frame in reversed(graph.frames)}
        self.frames: dict[int, Frame] = {}
        for frame in graph.frames:
            self.frames.setdefault(frame.number, frame)

    @cached_property
    def own_values(self) -> Mapping[Node, Hashable]:
        """The value number of each differing node, computed from this side alone."""
        return own_values(self.graph, self.values)

    @cached_property
    def depths(self) -> Depths:
        """The most products above and below each differing node."""
        return depths_of_products(self.graph, self.values.order)

    @cached_property
    def further_depths(self) -> Mapping[str, Depths]:
        """The most permutes, and reads and writes by index, above and below each node."""
        return further_depths(self.graph, self.values.order)

    def itself(self, kept: Node) -> Node | None:
        """Return the node on this side of an instruction that the step kept as it is."""
        frame = self.frames.get(kept.frame.number)
        line = None if frame is None else frame.computation.by_name.get(kept.instruction.name)
        return None if frame is None or line is None else frame.node(line)

    def counterpart(self, node: Node) -> Node | None:
        """Return the node on this side that a node of the other is paired with, or kept as."""
        return self.itself(node) if node.kept else node.partner

    def is_called(self, node: Node) -> bool:
        """Whether anything calls the computation of a node, or it is the entry."""
        computation = node.frame.computation
        entry = computation is self.graph.module.entry
        return entry or bool(self.graph.call_sites(computation.name))

    def value_of(self, operand: NodeElement) -> int:
        """Return the value number of an operand, which may be kept, or an element of a result."""
        self.values.value_of(operand[0])
        return self.values.element(*operand)

    def has_one_user(self, node: Node) -> bool:
        """Whether a single operand of a differing node is this node."""
        return len(self.users.get(node, ())) == 1

    def has_open(self) -> bool:
        """Whether a differing node has no partner yet."""
        while self._closed < len(self.nodes) and self.nodes[self._closed].partner is not None:
            self._closed += 1
        return self._closed < len(self.nodes)

    def open(self) -> list[Node]:
        """Return the differing nodes that have no partner yet, in order."""
        return [node for node in self.nodes if node.partner is None]
