"""A rule for loops of one iteration and for decided conditionals: their bodies were inlined."""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.contents import stem
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement, opened_root
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade

_BRANCHES = 2
"""Of a conditional that selects by a predicate."""


def inlined(search: Search) -> None:
    """Pair the instructions of a former loop or conditional with those that replace them."""
    done: dict[Node, _Once] = {}
    for holder in search.before.open():
        if holder.instruction.opcode in ("conditional", "while"):
            search.evaluate()
            inlined = [
                _Once(search, holder, body, start, done) for body, start in _bodies(search, holder)
            ]
            for once in inlined:
                once.pair()
                if holder.instruction.opcode == "while" and holder in search.inlined:
                    done[holder] = once
            if holder.instruction.opcode == "conditional" and len(inlined) == _BRANCHES:
                _name_selected(search, holder, *inlined)


def _name_selected(search: Search, holder: Node, true: "_Once", false: "_Once") -> None:
    """Let the results of a conditional be the selects between those of its inlined branches.

    XLA computes both branches and selects by the predicate where that costs little.
    """
    values, graph = search.after.values, search.after.graph
    predicate = search.before.graph.operands(holder)[0][0]
    selects: dict[tuple[int, ...], list[Node]] = {}
    for node in search.after.open():
        if node.instruction.opcode == "select" and true.may_hold(node):
            selects.setdefault(tuple(values.read(node)[1:]), []).append(node)
    for number in range(len(holder.instruction.shape.elements)):
        results = true.result(number), false.result(number)
        for select in selects.get(results, ()) if UNKNOWN not in results else ():
            condition = graph.operands(select)[0][0]
            sources = (condition, *(node for node, _ in graph.operands(condition)))
            if any(source.token == predicate.token for source in sources):
                search.before.values.name_element(holder, (number,), select.token)
                search.inlined.setdefault(holder, []).append(select)
                search.selected[holder] = search.selected.get(holder, 0) + 1
                break


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
        self._homes = number, home
        for node in search.after.open():
            if self.may_hold(node):
                self._waiting.setdefault(node.token, []).append(node)

    def may_hold(self, node: Node) -> bool:
        """Return whether a new node is where the loop or conditional was."""
        number, home = self._homes
        return node.frame.number == number or node.frame.computation.name == home

    def pair(self) -> None:
        """Pair each instruction with the only free node outside that has its value.

        Dead ones are left out: what is live outside does the work of another one of that value.
        """
        dead = dead_names(self._body.computation)
        for line in self._body.computation.instructions:
            if line.opcode not in BOUNDARIES and line.name not in dead:
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
        other = self._next_of(node, others)
        if other is not None and read and node.partner is None:
            self._link(node, other)
        return UNKNOWN if token is None else token

    def _next_of(self, node: Node, others: Sequence[Node]) -> Node | None:
        """Return the first free one of equal values, of which each loop may have left its own.

        Of more, as the branches of a conditional may leave, it is the first of its own op.
        """
        if len(others) > max(self._loops, 1):
            others = [other for other in others if _has_op_of(node, other)]
        return next(filter(is_free, others), None)

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


def _has_op_of(node: Node, other: Node) -> bool:
    """Return whether a new node has the op_name and the name of an old one but for its number."""
    line, copy = node.instruction, other.instruction
    same_stem = stem(line.name) == stem(copy.name)
    return same_stem and line.metadata.op_name == copy.metadata.op_name
