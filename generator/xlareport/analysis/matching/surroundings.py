"""What stands around a heavy instruction, seen through everything that is not heavy.

Passes rewrite, move and fuse what lies between heavy instructions; what the next ones are, which
arguments feed them and which results they reach stays.
"""

from collections import deque
from collections.abc import Hashable, Iterator
from enum import StrEnum
from typing import NamedTuple

from xlareport.analysis.matching.families import family_of
from xlareport.analysis.matching.graph import Frame, Node, opened_root
from xlareport.analysis.matching.search import Side

_MOST_VISITED = 160
"""Nodes that are gone through in one direction from one instruction."""

_WITHOUT_MEANING = frozenset(
    {"after-all", "constant", "iota", "partition-id", "replica-id", "rng-get-and-update-state"}
)
"""Opcodes that tell nothing of their readers: every module is full of equal ones."""

_READING_FIRST = frozenset({"dynamic-slice", "pad", "reduce", "reduce-window", "slice"})
"""Opcodes whose further operands only say where or how."""

_SEEN_THROUGH = frozenset({"collective"})
"""Families that passes put between others: the way goes on behind them."""


class Direction(StrEnum):
    """Which way something lies."""

    ABOVE = "above"
    BELOW = "below"


class Neighbor(NamedTuple):
    """A heavy or already paired instruction, or a place among results, on the way from another."""

    direction: Direction
    node: Node | None
    """None for a result of a computation."""
    place: Hashable
    """Which element of a tuple, or which result of which computation."""


class Surroundings:
    """Finds the neighbors of the heavy instructions of one side."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._results: dict[Node, Frame] = {}
        """What closed computations return, as seen through what they call."""
        for frame in side.graph.frames:
            if frame.caller is None and frame.computation.root is not None:
                found = side.graph.resolve(frame, frame.computation.root.name)
                if found is not None:
                    self._results.setdefault(found[0], frame)

    def of(self, node: Node) -> list[Neighbor]:
        """Return the neighbors of a heavy node on both sides of it."""
        return [*self._above(node), *self._below(node)]

    def _above(self, start: Node) -> Iterator[Neighbor]:
        waiting = deque(self._operands(start, ()))
        seen = set(waiting)
        while waiting and len(seen) < _MOST_VISITED:
            node, path = waiting.popleft()
            stops = _is_landmark(node) or _is_heavy(node)
            if stops:
                yield Neighbor(Direction.ABOVE, node, path)
            if not stops or _is_seen_through(node):
                further = [one for one in self._operands(node, path) if one not in seen]
                seen.update(further)
                waiting += further

    def _operands(self, node: Node, path: tuple[int, ...]) -> list[tuple[Node, tuple[int, ...]]]:
        """Return the operands that a node's data comes from."""
        if node.kept:
            return []
        operands = self._side.graph.operands(node)
        if node.instruction.opcode == "tuple" and path:
            operands = operands[path[0] : path[0] + 1]
        elif node.instruction.opcode in _READING_FIRST:
            operands = operands[:1]
        known = [one for one in operands if one[0].instruction.opcode not in _WITHOUT_MEANING]
        passed = path if node.instruction.opcode == "opt-barrier" else ()
        return [(one, (*inner, *passed)) for one, inner in known]

    def _below(self, start: Node) -> Iterator[Neighbor]:
        waiting: deque[tuple[Node, tuple[int, ...]]] = deque([(start, ())])
        seen = set(waiting)
        while waiting and len(seen) < _MOST_VISITED:
            node, path = waiting.popleft()
            if node in self._results:
                yield Neighbor(Direction.BELOW, None, (self._results[node].computation.name, path))
            for user, further in self._users(node, path):
                stops = _is_landmark(user) or _is_heavy(user)
                if stops:
                    yield Neighbor(Direction.BELOW, user, further)
                if (not stops or _is_seen_through(user)) and (user, further) not in seen:
                    seen.add((user, further))
                    waiting.append((user, further))

    def _users(
        self, node: Node, path: tuple[int, ...]
    ) -> Iterator[tuple[Node, tuple[int, ...]]]:
        """Yield what reads an element of a node, and which element of it that becomes."""
        for user, position in self._side.users.get(node, ()):
            read = self._side.graph.operands(user)[position][1]
            if opened_root(user) is None and read[: len(path)] == path[: len(read)]:
                rest = path[len(read) :]
                opcode = user.instruction.opcode
                if opcode == "tuple":
                    yield user, (position, *rest)
                else:
                    yield user, rest if opcode in {"opt-barrier", "while"} else ()


def _is_landmark(node: Node) -> bool:
    return node.kept or node.partner is not None


def _is_heavy(node: Node) -> bool:
    return family_of(node.instruction) is not None


def _is_seen_through(node: Node) -> bool:
    return not node.kept and family_of(node.instruction) in _SEEN_THROUGH
