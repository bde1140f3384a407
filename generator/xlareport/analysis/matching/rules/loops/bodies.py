"""A rule for loops of one iteration and for decided conditionals: their bodies were inlined."""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement, opened_root
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade


def inlined(search: Search) -> None:
    """Pair the instructions of a former loop or conditional with those that replace them."""
    done: dict[Node, _Once] = {}
    for holder in search.before.open():
        if holder.instruction.opcode in ("conditional", "while"):
            search.evaluate()
            for body, start in _bodies(search, holder):
                once = _Once(search, holder, body, start, done)
                once.pair()
                if holder.instruction.opcode == "while" and holder in search.inlined:
                    done[holder] = once


def moved_out(search: Search, holder: Node) -> list[Node]:
    """Return the nodes that do once what a former loop or conditional did, its constants too."""
    inlined = search.inlined[holder]
    homes = {node.frame for node in inlined}
    called = {name for _, name in holder.instruction.called}
    # Constants have no operands; they were paired with what their readers read now.
    paired = [
        link.after
        for link in search.links
        if link.before.frame.computation.name in called and link.after.frame in homes
    ]
    return [*inlined, *paired]


def _bodies(search: Search, holder: Node) -> Iterator[tuple[Frame, NodeElement]]:
    """Yield the frame of each computation that a loop or conditional calls, and its operand."""
    graph = search.before.graph
    operands = graph.operands(holder)
    if holder.instruction.opcode == "while":
        names = [name for attribute, name in holder.instruction.called if attribute == "body"]
        starts = operands
    else:
        names = [name for _, name in holder.instruction.called]
        starts = operands[1:]
    for name, start in zip(names, starts, strict=False):
        computation = graph.module.by_name.get(name)
        if computation is not None and len(graph.call_sites(name)) == 1:
            yield graph.home(computation), start


class _Once:
    """Values of an inlined body, computed with the initial operand in place of its parameter."""

    def __init__(
        self,
        search: Search,
        holder: Node,
        body: Frame,
        start: NodeElement,
        done: Mapping[Node, "_Once"],
    ) -> None:
        self._search = search
        self._holder = holder
        self._body = body
        self._start = start
        self._done = done
        """The loops before this one, of which this one may start with a result."""
        self._tokens: dict[Node, int] = {}
        self._waiting: dict[int, list[Node]] = {}
        self._loops = sum(
            node.instruction.opcode == "while" and node.frame is holder.frame
            for node in search.before.open()
        )
        number, name = holder.frame.number, holder.frame.computation.name
        home = search.computations.pairs.get(name)  # of a loop that was made anew around this one
        for node in search.after.open():
            if node.frame.number == number or node.frame.computation.name == home:
                self._waiting.setdefault(node.token, []).append(node)

    def pair(self) -> None:
        """Pair each instruction with the only free node outside that has its value."""
        for line in self._body.computation.instructions:
            if line.opcode not in BOUNDARIES:
                node = self._body.node(line)
                self._tokens[node] = self._pair(node)

    def result(self, number: int) -> int:
        """Return the value number of an element of what the body gives."""
        root = self._body.computation.root
        operands = () if root is None else self._search.before.graph.operands(self._body.node(root))
        if root is None or root.opcode != "tuple" or number >= len(operands):
            return UNKNOWN
        node, path = operands[number]
        if node.partner is not None and not path:
            return self._search.after.values.value_of(node.partner)
        return self._value((node, path))

    def _pair(self, node: Node) -> int:
        """Return the value number of a node; pair it if exactly one free node has the value."""
        values = self._search.before.values
        operands = self._search.before.graph.operands(node)
        read = [self._value(operand) for operand in operands]
        if UNKNOWN in read or opened_root(node) is not None:
            return UNKNOWN
        token = values.find(node, read)
        others = [] if token is None else self._waiting.get(token, [])
        other = self._next_of(others)
        if other is not None and read and node.partner is None:
            self._link(node, other)
        return UNKNOWN if token is None else token

    def _next_of(self, others: Sequence[Node]) -> Node | None:
        """Return the first free one of equal values, of which each loop may have left its own."""
        most = max(self._loops, 1)
        return next(filter(is_free, others), None) if len(others) <= most else None

    def _link(self, node: Node, other: Node) -> None:
        """Pair `node` of the inlined body with `other`.

        If the old computation still exists, `other` continues the line that is kept there.
        """
        reason = f"what %{self._holder.instruction.name} did, done once"
        if node.kept:
            self._search.copy(node, other, Grade.MATCHED, reason)
        elif not self._search.link(node, other, Grade.MATCHED, reason):
            return
        self._search.inlined.setdefault(self._holder, []).append(other)

    def _value(self, operand: NodeElement) -> int:
        node, path = operand
        values = self._search.before.values
        if node.frame is not self._body:
            return UNKNOWN if path else values.value_of(node)
        if node.instruction.opcode != "parameter":
            return UNKNOWN if path else self._tokens.get(node, UNKNOWN)
        return self._started((self._start[0], (*self._start[1], *path)))

    def _started(self, operand: NodeElement) -> int:
        """Return the value number of a tuple element that the body's parameter has initially."""
        node, path = operand
        before = self._search.before
        if path and node.instruction.opcode == "tuple":
            operands = before.graph.operands(node)
            if path[0] >= len(operands):
                return UNKNOWN
            node, inner = operands[path[0]]
            path = (*inner, *path[1:])
        if node in self._done and len(path) == 1:
            return self._done[node].result(path[0])
        if before.values.value_of(node) == UNKNOWN:
            return UNKNOWN
        return before.values.element(node, path)
