"""Rules for loops: pairs each while with the most similar one, by body, condition and operands.

Passes create a new while when they drop, add or reorder carried values; the body remains similar.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import product
from typing import TypeVar

from xlareport.analysis.matching.search.nodes import name_in_computation, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.contents import stem
from xlareport.analysis.matching.sides.facts import facts_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Computation
from xlareport.knowledge.grades import Grade

_MOST_PAIRS = 40_000
"""Limit on compared pairs of loops; above it, loops stay unpaired."""
_ENOUGH = 2.0
"""The least likeness of a pair, of up to 6."""
_CLEAR = 0.5
"""Difference in similarity from which a pair is clearly better than its alternatives."""
_Ranked = tuple[float, int, int]
"""Negative similarity of two loops, and their indices."""
_TUPLE = "tuple"
_EXPANDED = frozenset(
    {"gather", "reduce-window", "scatter", "select-and-scatter", "sort", "triangular-solve"}
)
"""Opcodes that some compilers make loops of."""


def clear_loops(search: Search) -> None:
    """Pair the unpaired loops that are by far the most similar to each other."""
    _pair_loops(search, _CLEAR)


def loops(search: Search) -> None:
    """Pair the unpaired loops, the most similar first."""
    _pair_loops(search, 0.0)


def _pair_loops(search: Search, margin: float) -> None:
    """Pair loops that are more similar to each other than to any others by `margin`."""
    old, new = _open_loops(search.before), _open_loops(search.after)
    if not (old and new) or len(old) * len(new) > _MOST_PAIRS:
        return
    search.evaluate()
    compared = _Compared(search, old, new)
    pairs = product(enumerate(old), enumerate(new))
    ranked = sorted(
        (-compared.likeness(node, other), number, place) for (number, node), (place, other) in pairs
    )
    spoilt = _close_to_another(ranked, margin) if margin else frozenset()
    for likeness, number, place in ranked:
        before, after = old[number], new[place]
        free = before.partner is None and after.partner is None
        if -likeness >= _ENOUGH and free and (number, place) not in spoilt:
            search.link(before, after, Grade.MATCHED, "the loop whose body is most alike")


def _close_to_another(ranked: Sequence[_Ranked], margin: float) -> Collection[tuple[int, int]]:
    """Return the pairs of loops that are not the best of both by `margin`."""
    best: tuple[dict[int, list[float]], dict[int, list[float]]] = ({}, {})
    for likeness, number, place in ranked:
        best[0].setdefault(number, []).append(likeness)
        best[1].setdefault(place, []).append(likeness)
    return frozenset(
        (number, place)
        for likeness, number, place in ranked
        for rivals in (best[0][number], best[1][place])
        if likeness > rivals[0] or (len(rivals) > 1 and rivals[1] - likeness < margin)
    )


def expanded(search: Search) -> None:
    """Pair instructions that a pass expanded to a loop, by framework op and first operand."""
    waiting: dict[Hashable, list[Node]] = {}
    for node in search.before.open():
        if node.instruction.opcode in _EXPANDED and origin(node):
            waiting.setdefault((node.frame.number, origin(node)), []).append(node)
    for loop in _open_loops(search.after) if waiting else ():
        nodes = waiting.get((loop.frame.number, origin(loop)), [])
        start = set(_start(search.after, loop))
        fitting = [
            node
            for node in nodes
            if search.before.values.read(node)[0] in start or _follows(search, node, loop)
        ]
        if len(fitting) == 1 and fitting[0].partner is None:
            reason = "a loop of the same framework op over the same values"
            search.link(fitting[0], loop, Grade.MATCHED, reason)


def _follows(search: Search, node: Node, loop: Node) -> bool:
    """Whether a loop starts with what came of what a node reads first, a loop before it."""
    read = [earlier.partner for earlier, _ in search.before.graph.operands(node)[:1]]
    given = search.after.graph.operands(_holder_of_start(search.after, loop))
    return any(source is not None and source in read for source, path in given if path)


def _open_loops(side: Side) -> list[Node]:
    return [node for node in side.open() if node.instruction.opcode == "while"]


_Key = TypeVar("_Key", int, str)


class _Compared:
    """Compares loops of both sides; caches the counts of each loop."""

    def __init__(self, search: Search, before: Sequence[Node], after: Sequence[Node]) -> None:
        self._search = search
        self._starts = {node: Counter(_start(search.before, node)) for node in before}
        self._starts |= {node: Counter(_start(search.after, node)) for node in after}
        self._bodies: dict[Computation, Counter[str]] = {}
        self._known: dict[tuple[str, str], float] = {}

    def likeness(self, node: Node, other: Node) -> float:
        """Return the similarity of two loops: names, framework op, bodies, initial values."""
        same_name = name_in_computation(node) == name_in_computation(other)
        same_origin = bool(origin(node)) and origin(node) == origin(other)
        called = zip(node.instruction.called, other.instruction.called, strict=False)
        bodies = [self._likeness_of_called(old, new) for (_, old), (_, new) in called]
        starts = _share(self._starts[node], self._starts[other])
        return same_name + same_origin + sum(bodies) + starts

    def _likeness_of_called(self, old: str, new: str) -> float:
        """Return the similarity of two bodies or conditions, 0 to 1.5."""
        known = self._known.get((old, new))
        if known is None:
            known = self._known[old, new] = self._compare(old, new)
        return known

    def _compare(self, old: str, new: str) -> float:
        before = self._search.before.graph.module.by_name.get(old)
        after = self._search.after.graph.module.by_name.get(new)
        if before is None or after is None:
            return 0.0
        known = self._search.computations.pairs.get(old, old) == new or stem(old) == stem(new)
        return 0.5 * known + _share(self._body(before), self._body(after))

    def _body(self, computation: Computation) -> Counter[str]:
        """Return counts of the opcodes of a computation, without those that only pass values."""
        counts = self._bodies.get(computation)
        if counts is None:
            opcodes = facts_of(computation).opcodes
            work = (opcode for opcode in opcodes if opcode not in _PASSING)
            counts = self._bodies[computation] = Counter(work)
        return counts


_PASSING = frozenset({"get-tuple-element", "parameter", _TUPLE, "copy", "bitcast"})


def _start(side: Side, loop: Node) -> Iterable[int]:
    """Return the value numbers of a loop's initial values, by element."""
    holder = _holder_of_start(side, loop)
    return (token for token in side.values.read(holder) if token != UNKNOWN)


def _holder_of_start(side: Side, loop: Node) -> Node:
    """Return the tuple that a loop starts with; the loop itself if it reads no such."""
    operands = side.graph.operands(loop)
    is_tuple = len(operands) == 1 and operands[0][0].instruction.opcode == _TUPLE
    return operands[0][0] if is_tuple else loop


def _share(first: Counter[_Key], second: Counter[_Key]) -> float:
    """Return from 0 to 1 how much two counts have in common."""
    every = first.total() + second.total()
    if not every:
        return 0.0
    few, many = (first, second) if len(first) <= len(second) else (second, first)
    return 2 * sum(min(count, many[key]) for key, count in few.items() if key in many) / every
