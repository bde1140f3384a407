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
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade

Twin = Callable[[Node], Node | None]
"""Returns what does the same work on the other side as a node without a partner."""

_DEEPEST = 100
"""Fusions inside fusions that are looked for as former holders."""
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


class Holders:
    """The fusions of both sides, by what they hold."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._grades = {link.before: link.grade for link in search.links}

    def sources(self, frame: Frame, twin: Twin) -> tuple[Place, ...]:
        """Return where what a frame computes stood; former fusions come before what they held."""
        nodes = [other for _, other in _others(frame, twin)]
        if _computes(frame) and not any(node.instruction.operands for node in nodes):
            return ()  # equal literals tell of no origin
        former = (holder for node in nodes for holder in _former_holders(self._search.before, node))
        return tuple(dict.fromkeys(place_of(node) for node in (*former, *nodes)))

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
        lines = sum(1 for _ in _lines(frame))
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
    return any(_is_work(line) for _, line in _lines(frame))


def _is_work(line: Instruction) -> bool:
    return bool(line.operands) and line.opcode not in BOUNDARIES


def _most(inside: Counter[Place]) -> tuple[Place, ...]:
    return tuple(place for place, _ in inside.most_common(_MOST_FUSIONS))


def _reason(inside: Counter[Place], lines: int) -> str:
    held = max(inside.values(), default=0)
    return f"which holds {held} of its {lines} instructions"


def _others(frame: Frame, twin: Twin) -> Iterator[tuple[Node, Node]]:
    """Yield what a frame computes, nested fusions and calls included, with its like opposite."""
    for home, line in _lines(frame):
        node = home.nodes.get(line.name)
        other = None if node is None else node.partner or twin(node)
        if node is not None and other is not None:
            yield node, other


def _lines(frame: Frame) -> Iterator[tuple[Frame, Instruction]]:
    """Yield what a frame computes, and instead of a nested fusion or call what that computes."""
    for line in frame.computation.instructions:
        inner = frame.callees.get(line.name)
        if inner is not None:
            yield from _lines(inner)
        elif line.opcode not in BOUNDARIES:
            yield frame, line


def _former_holders(side: Side, node: Node) -> list[Node]:
    """Return the fusions without a partner that hold a node, the outermost first."""
    holders: list[Node] = []
    for _ in range(_DEEPEST):
        holder = _fusion_around(side, node)
        if holder is None:
            break
        if holder.partner is None and not holder.kept:
            holders.append(holder)
        node = holder
    return holders[::-1]


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
