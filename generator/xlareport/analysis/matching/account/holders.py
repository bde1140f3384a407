"""The contents of fusions and calls, and where they are on the other side."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeGuard

from msgspec import Struct

from xlareport.analysis.matching.search.nodes import place_of
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.families import family_of, is_mark
from xlareport.analysis.matching.sides.graph import Frame, Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES, REARRANGEMENTS, TUPLES
from xlareport.knowledge.grades import Grade

Twin = Callable[[Node], Node | None]
"""Function that returns the node that does the same work on the other side, or None."""

_DEEPEST = 100
"""Fusions inside fusions that are looked for as former holders."""
_MOST_FUSIONS = 20
"""Limit on fusions that are named as the new holders of another's contents."""


class HolderContents(Struct, frozen=True):
    """The new places of a former fusion's or call's contents."""

    outside: tuple[Place, ...]
    """Outside of fusions."""
    fusions: tuple[Place, ...]
    """Fusions with the larger part of the contents, the one with the most first; else empty."""
    grade: Grade
    """EXACT if the fusions contain every instruction of it."""
    reason: str
    mostly: bool = False
    """Whether one of the fusions has more than half of it."""


class Holders:
    """The fusions of both sides and their contents."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._grades = {link.before: link.grade for link in search.links}

    def sources(self, frame: Frame, twin: Twin) -> tuple[Place, ...]:
        """Return the old places of a frame's contents; old fusions precede their contents."""
        nodes = [other for _, other in _others(frame, twin)]
        if _computes(frame) and not any(node.instruction.operands for node in nodes):
            return ()  # equal literals tell of no origin
        former = (holder for node in nodes for holder in _former_holders(self._search.before, node))
        return tuple(dict.fromkeys(place_of(node) for node in (*former, *nodes)))

    def contents(self, frame: Frame, twin: Twin) -> HolderContents:
        """Return the new places of a frame's contents."""
        others = list(_others(frame, twin))
        holders = [_fusion_beside(self._search.after, frame, other) for _, other in others]
        inside = Counter(place_of(holder) for holder in holders if holder is not None)
        outside = [
            place_of(other)
            for (_, other), holder in zip(others, holders, strict=True)
            if holder is None
        ]
        lines = sum(1 for _ in _lines(frame))
        passing = (place_of(other) for other in _passing(self._search.after, frame, twin))
        return HolderContents(
            outside=tuple(dict.fromkeys((*outside, *passing))),
            fusions=_most_common(inside) if inside.total() >= max(len(outside), 1) else (),
            grade=Grade.EXACT if self._are_exact(others, lines) else Grade.MATCHED,
            reason=reason_of_holding(inside.values(), lines),
            mostly=2 * max(inside.values(), default=0) > lines,
        )

    def unrolled(self, loop: Node, twin: Twin) -> HolderContents | None:
        """Return the new places of a loop body, if most of it is in the loop's computation now.

        None otherwise.
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
    """Return whether a frame contains more than literals."""
    return any(_is_work(line) for _, line in _lines(frame))


def _is_work(line: Instruction) -> bool:
    return bool(line.operands) and line.opcode not in BOUNDARIES


def _most_common(inside: Counter[Place]) -> tuple[Place, ...]:
    return tuple(place for place, _ in inside.most_common(_MOST_FUSIONS))


def reason_of_holding(counts: Iterable[int], lines: int) -> str:
    """Return of how many of a fusion's instructions the one that has most of them has a copy."""
    return f"holds {max(counts, default=0)} of its {lines} instructions"


def _others(frame: Frame, twin: Twin) -> Iterator[tuple[Node, Node]]:
    """Yield the instructions of a frame, nested fusions included, with their counterparts."""
    for home, line in _lines(frame):
        node = home.nodes.get(line.name)
        other = None if node is None else node.partner or twin(node)
        if node is not None and other is not None:
            yield node, other


def _lines(frame: Frame) -> Iterator[tuple[Frame, Instruction]]:
    """Yield the instructions of a frame, with nested fusions and calls expanded."""
    for line in frame.computation.instructions:
        inner = frame.callees.get(line.name)
        if inner is not None:
            yield from _lines(inner)
        elif line.opcode not in BOUNDARIES:
            yield frame, line


def _passing(side: Side, frame: Frame, twin: Twin) -> Iterator[Node]:
    """Yield the counterparts, outside of fusions, of what groups values in a called computation."""
    for home, line in _grouping(frame):
        node = home.nodes.get(line.name)
        other = None if node is None else node.partner or twin(node)
        if other is not None and _fusion_beside(side, frame, other) is None:
            yield other


def _grouping(frame: Frame) -> Iterator[tuple[Frame, Instruction]]:
    """Yield the tuples and tuple elements of a called computation, those of nested calls too."""
    if frame.caller is None or frame.caller.instruction.opcode != "call":
        return
    for line in frame.computation.instructions:
        inner = frame.callees.get(line.name)
        if inner is not None:
            yield from _grouping(inner)
        elif line.opcode in TUPLES:
            yield frame, line


def _fusion_beside(side: Side, frame: Frame, other: Node) -> Node | None:
    """Return the fusion around a node that stands where the holder of a frame stood.

    That is not a fusion nested in it; where none stands there, the innermost.
    """
    innermost = holder = _fusion_around(side, other)
    for _ in range(_DEEPEST):
        if holder is None or frame.caller is None:
            break
        if holder.frame.number == frame.caller.frame.number:
            return holder
        holder = _fusion_around(side, holder)
    return innermost


def _former_holders(side: Side, node: Node) -> list[Node]:
    """Return the unpaired fusions that contain a node, the outermost first."""
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
    """Return the fusion that contains a node; None if it is outside of fusions."""
    frame = node.frame
    if frame.caller is not None:
        return frame.caller if frame.caller.instruction.opcode == "fusion" else None
    sites = side.graph.call_sites(frame.computation.name)
    if not sites or sites[0][1].instruction.opcode != "fusion":
        return None
    home = side.homes.get(sites[0][0].name)
    return None if home is None else home.node(sites[0][1].instruction)


_MOVING = REARRANGEMENTS | {"parameter"}
_REPEATING = frozenset({"broadcast", "constant"})
_LIGHT = _MOVING | {"constant", "slice"}


def holds_no_old_work(search: Search, frame: Frame) -> bool:
    """Return whether a fusion or call only moves or repeats data, or holds heavy work that is new.

    That is of families of which no instruction before is without a counterpart.
    """
    lines = frame.computation.instructions
    if all(line.opcode in _MOVING | _REPEATING for line in lines):
        return True
    work = [line for line in lines if line.opcode not in _LIGHT and not is_mark(line)]
    families = {family_of(line) for line in work}
    left = {family_of(node.instruction) for node in search.before.open()}
    return bool(families) and None not in families and families.isdisjoint(left)


def may_hold(holder: Node | None, search: Search) -> TypeGuard[Node]:
    """Return whether a pass may have made or removed it; in two programs no call is inlined."""
    if holder is None or holder.partner is not None or holder.kept:
        return False
    return search.parted is None or holder.instruction.opcode != "call"


def is_called_again(search: Search, call: Node, places: Collection[Place]) -> bool:
    """Return whether a new call is a further one of the computation that held all places."""
    if call.instruction.opcode != "call":
        return False
    name = call.frame.callees[call.instruction.name].computation.name
    former = search.computations.partners.get(name, name)
    return {place.computation for place in places} == {former}
