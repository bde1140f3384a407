"""A rule for loops of one round, which passes replace with what their body does once."""

from collections.abc import Sequence

from xlareport.analysis.matching.graph import Frame, Node, Operand, opened_root
from xlareport.analysis.matching.nodes import is_free
from xlareport.analysis.matching.pairing import Grade
from xlareport.analysis.matching.search import Search
from xlareport.analysis.matching.values import UNKNOWN

_PASSING = frozenset({"get-tuple-element", "parameter", "tuple"})


def done_once(search: Search) -> None:
    """Pair what the body of a former loop computes in its first round with what computes it now."""
    for loop in search.before.open():
        line = loop.instruction
        body = search.before.homes.get(dict(line.called).get("body", ""))
        if line.opcode == "while" and body is not None and body.caller is None:
            search.evaluate()
            _FirstRound(search, loop, body).pair()


class _FirstRound:
    """The values of a body's instructions, where its parameter is what the loop starts from."""

    def __init__(self, search: Search, loop: Node, body: Frame) -> None:
        self._search = search
        self._loop = loop
        self._body = body
        self._tokens: dict[Node, int] = {}
        self._waiting: dict[int, list[Node]] = {}
        for node in search.after.open():
            if node.frame.number == loop.frame.number:
                self._waiting.setdefault(node.token, []).append(node)

    def pair(self) -> None:
        """Pair each instruction with what alone has its value outside."""
        for line in self._body.computation.instructions:
            if line.opcode not in _PASSING:
                node = self._body.node(line)
                self._tokens[node] = self._pair(node)

    def _pair(self, node: Node) -> int:
        """Return the value of a node in the first round, paired if something has it now."""
        read = [self._value(operand) for operand in self._search.before.graph.operands(node)]
        if UNKNOWN in read or opened_root(node) is not None:
            return UNKNOWN
        token = self._search.before.values.find(node, read)
        others = [] if token is None else self._waiting.get(token, [])
        if len(others) == 1 and read and is_free(node) and is_free(others[0]):
            reason = f"the body of %{self._loop.instruction.name}, done once"
            self._search.link(node, others[0], Grade.MATCHED, reason)
        return UNKNOWN if token is None else token

    def _value(self, operand: Operand) -> int:
        node, path = operand
        if node.instruction.opcode == "parameter" and node.frame is self._body:
            return self._start(path)
        if node.frame is self._body:
            return UNKNOWN if path else self._tokens.get(node, UNKNOWN)
        return UNKNOWN if path else self._search.before.values.value_of(node)

    def _start(self, path: Sequence[int]) -> int:
        """Return the value of an element that the loop starts from."""
        operands = self._search.before.graph.operands(self._loop)
        start = operands[0][0] if operands else None
        if start is None or start.instruction.opcode != "tuple" or len(path) != 1:
            return UNKNOWN
        read = self._search.before.values.read(start)
        return read[path[0]] if path[0] < len(read) else UNKNOWN
