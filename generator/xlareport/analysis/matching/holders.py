"""What fusions and calls hold: where it is on the other side, in which fusion or in none."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xlareport.analysis.matching.graph import Frame, Node
from xlareport.analysis.matching.nodes import place_of
from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.matching.search import Search
from xlareport.analysis.matching.side import Side
from xlareport.hlo.model import Instruction
from xlareport.knowledge.grades import Grade, weakest

Twin = Callable[[Node], Node | None]
"""Returns what does the same work on the other side as a node without a partner."""

_FRAME_LINES = frozenset({"get-tuple-element", "parameter", "tuple"})
"""Opcodes that only bring values into a computation and out of it."""
_MOST_FUSIONS = 20
"""Fusions that are named as holders of what another one held."""


@dataclass(frozen=True, slots=True)
class HolderContents:
    """Where what a former fusion or call held is now."""

    outside: tuple[Place, ...]
    """Outside of fusions."""
    fusions: tuple[Place, ...]
    """Those that hold the larger part of it, the one with most of it first; else empty."""
    grade: Grade
    """EXACT where the fusions hold every instruction of it."""
    reason: str


@dataclass(frozen=True, slots=True)
class Sources:
    """Where what a new fusion or call holds stood."""

    places: tuple[Place, ...]
    count: int
    """How many they are, a former fusion and what it held counted once."""
    grade: Grade
    """No surer than the pairing of any that computes."""


class Holders:
    """The fusions of both sides, by what they hold."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._grades = {link.before: link.grade for link in search.links}

    def sources(self, frame: Frame, twin: Twin) -> Sources:
        """Return where what a frame computes stood; former fusions come before what they held."""
        nodes = [other for _, other in _others(frame, twin)]
        if _computes(frame) and not any(node.instruction.operands for node in nodes):
            nodes = []  # equal literals tell of no origin
        holders = [_former_holder(self._search.before, node) for node in nodes]
        former = [holder for holder in holders if holder is not None]
        free = [node for node, holder in zip(nodes, holders, strict=True) if holder is None]
        places = tuple(dict.fromkeys(place_of(node) for node in (*former, *nodes)))
        count = len({place_of(node) for node in (*former, *free)})
        grades = {self._grades.get(node, Grade.EXACT) for node in nodes if not node.constant}
        return Sources(places, count, weakest(grades))

    def contents(self, frame: Frame, twin: Twin) -> HolderContents:
        """Return where what a frame computed is now."""
        others = list(_others(frame, twin))
        holders = [_fusion_around(self._search.after, other) for _, other in others]
        inside = Counter(place_of(holder) for holder in holders if holder is not None)
        outside = [
            place_of(other)
            for (_, other), holder in zip(others, holders, strict=True)
            if holder is None
        ]
        lines = sum(line.opcode not in _FRAME_LINES for line in frame.computation.instructions)
        return HolderContents(
            outside=tuple(dict.fromkeys(outside)),
            fusions=_most(inside) if inside.total() >= max(len(outside), 1) else (),
            grade=Grade.EXACT if self._are_exact(others, lines) else Grade.MATCHED,
            reason=_reason(inside, lines),
        )

    def unrolled(self, loop: Node, twin: Twin) -> HolderContents | None:
        """Return where the body of a former loop is, if most of it is where the loop did.

        None where it does not.
        """
        line, search = loop.instruction, self._search
        frame = search.before.homes.get(dict(line.called).get("body", ""))
        if frame is None:
            return None
        home = search.computations.pairs.get(loop.frame.computation.name)
        places = [place_of(other) for node, other in _others(frame, twin) if node.inputs]
        outside = tuple(dict.fromkeys(place for place in places if place.computation == home))
        lines = sum(map(_is_work, frame.computation.instructions))
        if 2 * len(outside) <= lines:
            return None
        reason = f"unrolled: {len(outside)} of the {lines} operations of its body take its place"
        return HolderContents(outside, (), Grade.MATCHED, reason)

    def _are_exact(self, others: list[tuple[Node, Node]], lines: int) -> bool:
        grades = (self._grades.get(node, Grade.EXACT) for node, _ in others)
        return len(others) == lines and all(grade is Grade.EXACT for grade in grades)


def _computes(frame: Frame) -> bool:
    """Whether a frame holds more than literals."""
    return any(map(_is_work, frame.computation.instructions))


def _is_work(line: Instruction) -> bool:
    return bool(line.operands) and line.opcode not in _FRAME_LINES


def _most(inside: Counter[Place]) -> tuple[Place, ...]:
    return tuple(place for place, _ in inside.most_common(_MOST_FUSIONS))


def _reason(inside: Counter[Place], lines: int) -> str:
    held = max(inside.values(), default=0)
    return f"which holds {held} of its {lines} instructions"


def _others(frame: Frame, twin: Twin) -> Iterator[tuple[Node, Node]]:
    """Yield what a frame computes with its like on the other side."""
    for line in frame.computation.instructions:
        node = frame.nodes.get(line.name)
        if node is not None and line.opcode not in _FRAME_LINES:
            other = node.partner or twin(node)
            if other is not None:
                yield node, other
            elif line.opcode == "call" and line.name in frame.callees:
                yield from _others(frame.callees[line.name], twin)


def _former_holder(side: Side, node: Node) -> Node | None:
    """Return the fusion without a partner that holds a node; None where none does."""
    holder = _fusion_around(side, node)
    gone = holder is not None and holder.partner is None and not holder.kept
    return holder if gone else None


def _fusion_around(side: Side, node: Node) -> Node | None:
    """Return the fusion that calls the computation of a node; None where it stands outside."""
    frame = node.frame
    if frame.caller is not None:
        return frame.caller if frame.caller.instruction.opcode == "fusion" else None
    sites = side.graph.call_sites(frame.computation.name)
    if not sites or sites[0][1].instruction.opcode != "fusion":
        return None
    home = side.homes.get(sites[0][0].name)
    return None if home is None else home.node(sites[0][1].instruction)
