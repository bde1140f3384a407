"""A rule for loops of which a pass put a copy of the first iteration before the loop."""

from collections.abc import Hashable, Mapping

from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.reasons import FirstIteration
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement
from xlareport.hlo.model import Instruction
from xlareport.runtime.grouping import group_by_key

_LEAST_SHARE = 2
"""The half of a body, at least, is in its first iteration too."""

_READ_THROUGH = frozenset({"constant", "get-tuple-element", "parameter"})
"""Opcodes that are compared where they are read."""


def peeled(search: Search) -> None:
    """Note what stands before a loop and does what its body does as copies of the body's lines."""
    loops = [link for link in search.links if link.before.instruction.opcode == "while"]
    homes = group_by_key((node.frame, node) for node in search.after.open() if loops)
    for link in loops:
        body = _body(search, link.before)
        nodes = homes.get(link.after.frame, [])
        if body is not None and _LEAST_SHARE * len(nodes) >= len(_lines(body)):
            free = [node for node in nodes if is_free(node) and node not in search.copies]
            _Iteration(search, link.before, body).note(
                group_by_key((_computed_value(search, node), node) for node in free)
            )


def _lines(body: Frame) -> list[Instruction]:
    """Return the lines of a body of which copies are looked for."""
    lines = body.computation.instructions
    return [line for line in lines if line.opcode not in _READ_THROUGH]


def _computed_value(search: Search, node: Node) -> Hashable:
    """Return what a new node computes, of which values."""
    operands = search.after.graph.operands(node)
    return search.forms.of(node.instruction), *map(_read, operands)


def _read(operand: NodeElement) -> Hashable:
    """Return an operand; of a constant its value, which other constants have too."""
    line = operand[0].instruction
    return literal_of(line) if line.opcode == "constant" else operand


def _body(search: Search, loop: Node) -> Frame | None:
    """Return the frame of the body of a loop that nothing else runs."""
    name = dict(loop.instruction.called).get("body", "")
    computation = search.before.graph.module.by_name.get(name)
    if computation is None or len(search.before.graph.call_sites(name)) != 1:
        return None
    return search.before.graph.home(computation)


class _Iteration:
    """The lines of a loop's body, with what does their work in the first iteration."""

    def __init__(self, search: Search, loop: Node, body: Frame) -> None:
        self._search = search
        self._loop = loop
        self._body = body
        self._copies: dict[Node, Node] = {}
        self._taken: set[Node] = set()

    def note(self, free: Mapping[Hashable, list[Node]]) -> None:
        """Note the copies, if the larger part of the body has one."""
        lines = _lines(self._body)
        for line in lines:
            node = self._body.node(line)
            operands = [self._image(operand) for operand in self._operands(node)]
            if None not in operands:
                key = self._search.forms.of(line), *operands
                copy = next((other for other in free.get(key, ()) if self._is_new(other)), None)
                if copy is not None:
                    self._copies[node] = copy
                    self._taken.add(copy)
        if _LEAST_SHARE * len(self._copies) >= len(lines):
            for node, copy in self._copies.items():
                self._note(node, copy)

    def _is_new(self, other: Node) -> bool:
        return other not in self._search.copies and other not in self._taken

    def _operands(self, node: Node) -> tuple[NodeElement, ...]:
        return self._search.before.graph.operands(node)

    def _image(self, operand: NodeElement) -> Hashable:
        """Return what the first iteration reads where the body reads an operand."""
        node, path = operand
        if node.instruction.opcode == "constant":
            return literal_of(node.instruction)
        if node in self._copies:
            return self._copies[node], path
        return self._start(path) if node.instruction.opcode == "parameter" else None

    def _start(self, path: tuple[int, ...]) -> Hashable:
        """Return the node that has the initial value of an element of the loop now."""
        operands = self._operands(self._loop)
        given = operands[0][0] if len(operands) == 1 else None
        if given is None or given.instruction.opcode != "tuple" or not path:
            return None
        elements = self._operands(given)
        if path[0] >= len(elements):
            return None
        node, inner = elements[path[0]]
        if node.instruction.opcode == "constant":
            return literal_of(node.instruction)
        now = node_after(self._search, node)
        return None if now is None else (now, (*inner, *path[1:]))

    def _note(self, node: Node, copy: Node) -> None:
        """Note a copy, and those of the constants that it reads."""
        reason = FirstIteration(self._loop.instruction.name)
        self._search.copies[copy] = node, reason
        read, now = self._operands(node), self._search.after.graph.operands(copy)
        for (constant, _), (other, _) in zip(read, now, strict=True):
            if other.instruction.opcode == "constant" and is_free(other):
                self._search.copies.setdefault(other, (constant, reason))
