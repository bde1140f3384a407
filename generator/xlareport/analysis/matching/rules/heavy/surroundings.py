"""The surroundings of a heavy instruction, looking through everything that is not heavy.

Passes rewrite, move and fuse what is between heavy instructions; the next heavy instructions, and
the arguments and results at the ends, stay.
"""

from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from xlareport.analysis.matching.sides.families import family_of, is_bundle
from xlareport.analysis.matching.sides.graph import Frame, Node, opened_root
from xlareport.analysis.matching.sides.halves import (
    argument,
    dones_of,
    is_done,
    is_start,
    start_of,
    wrapped,
)
from xlareport.analysis.matching.sides.pieces import piece_of, slices_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Instruction

_MOST_VISITED = 100
"""Limit on nodes visited in one direction from one instruction."""

_WITHOUT_MEANING = frozenset(
    {"after-all", "constant", "iota", "partition-id", "replica-id", "rng-get-and-update-state"}
)
"""Opcodes that say nothing about their readers, because every module has many equal ones."""

_READING_FIRST = frozenset({"dynamic-slice", "pad", "reduce", "reduce-window", "slice"})
"""Opcodes whose further operands are only indices or parameters."""

_PASSING = frozenset({"all-reduce-done", "opt-barrier", "while"})
"""Opcodes whose result has the elements of their operand, like `-done` opcodes."""

_SEEN_THROUGH = frozenset({"collective", "while"})
"""Families that passes insert between others; paths continue behind them."""

_BODY = ("while", "body")

_Path = tuple[int, ...]
_Step = tuple[Node, _Path]


class FlowDirection(StrEnum):
    """The direction to a neighbor."""

    ABOVE = "above"
    BELOW = "below"


class Neighbor(NamedTuple):
    """A heavy or already paired instruction, or a place among results, on the way from another."""

    direction: FlowDirection
    node: Node | None
    """None for a result of a computation."""
    path: _Path
    """Which element of a tuple it is."""
    distance: int
    """Number of instructions on the path, including the neighbor."""
    computation: str = ""
    """The computation whose result it is."""


class Surroundings:
    """Finds the neighbors of one side's heavy instructions."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._results: dict[Node, Frame] = {}
        """Frames of the closed computations' roots, including opened callees."""
        for frame in side.graph.frames:
            if frame.caller is None and frame.computation.root is not None:
                result = side.graph.resolve(frame, frame.computation.root.name)
                if result is not None:
                    self._results.setdefault(result[0], frame)
        self._roles: dict[Node, tuple[bool, bool]] = {}
        self._sources: dict[_Step, list[_Step]] = {}
        self._readers: dict[_Step, list[_Step]] = {}

    def of(self, node: Node) -> list[Neighbor]:
        """Return the neighbors of a heavy node in both directions."""
        return [*self._above(node), *self._below(node)]

    def _above(self, start: Node) -> Iterator[Neighbor]:
        first = self._operands(start, ())
        waiting = deque((step, 1) for step in first)
        seen = set(first)
        while waiting and len(seen) < _MOST_VISITED:
            (node, path), distance = waiting.popleft()
            stops, goes_on = self._role(node)
            if stops:
                yield Neighbor(FlowDirection.ABOVE, node, path, distance)
            if goes_on:
                further = [step for step in self._operands(node, path) if step not in seen]
                seen.update(further)
                waiting += [(step, distance + 1) for step in further]

    def _role(self, node: Node) -> tuple[bool, bool]:
        """Return whether a node is a neighbor, and whether the way continues behind it."""
        role = self._roles.get(node)
        if role is None:
            stops = _is_stop(node)
            role = self._roles[node] = (stops, not stops or _is_seen_through(node))
        return role

    def _operands(self, node: Node, path: _Path) -> list[_Step]:
        """Return the operands that the data of an element of a node comes from; found once."""
        step = (node, path)
        known = self._sources.get(step)
        if known is None:
            known = self._sources[step] = self._sources_of(node, path)
        return known

    def _sources_of(self, node: Node, path: _Path) -> list[_Step]:
        opcode = node.instruction.opcode
        if opcode == "parameter":
            return self._arguments(node, path)
        operands = self._side.graph.operands(node)
        piece = piece_of(self._side, node)
        if piece is not None:
            return [piece]
        if is_done(node):
            return [(self._ended(start), path) for start, _ in operands[:1]]
        if path and (is_bundle(node.instruction) or _sends_several(node)):
            operands, path = operands[path[0] : path[0] + 1], path[1:]
        elif opcode in _READING_FIRST:
            operands = operands[:1]
        passed = path if opcode in _PASSING else ()
        known = [step for step in operands if step[0].instruction.opcode not in _WITHOUT_MEANING]
        return [(operand, (*inner, *passed)) for operand, inner in known]

    def _ended(self, start: Node) -> Node:
        """Return the node whose result is available at the end: the wrapped one, or the start."""
        result = wrapped(self._side, start)
        return start if result is None else result

    def _arguments(self, parameter: Node, path: _Path) -> list[_Step]:
        """Return the operands of a loop or asynchronous call for a parameter of its body."""
        given = argument(self._side, parameter)
        steps = [(operand, (*inner, *path)) for operand, inner in given]
        for computation, call in self._side.graph.call_sites(parameter.frame.computation.name):
            home = self._side.homes.get(computation.name)
            if home is not None and call.instruction.opcode == "while":
                steps.append((home.node(call.instruction), path))
        return steps

    def _below(self, start: Node) -> Iterator[Neighbor]:
        waiting: deque[tuple[_Step, int]] = deque([((start, ()), 1)])
        seen: set[_Step] = {(start, ())}
        while waiting and len(seen) < _MOST_VISITED:
            step, distance = waiting.popleft()
            frame = self._results.get(step[0])
            if frame is not None:
                name = frame.computation.name
                yield Neighbor(FlowDirection.BELOW, None, step[1], distance, name)
            for user, path in self._users(*step):
                stops, goes_on = self._role(user)
                if stops:
                    yield Neighbor(FlowDirection.BELOW, user, path, distance)
                if goes_on and (user, path) not in seen:
                    seen.add((user, path))
                    waiting.append(((user, path), distance + 1))

    def _users(self, node: Node, path: _Path) -> list[_Step]:
        """Return the users of an element of a node, with the element's path in each user."""
        step = (node, path)
        known = self._readers.get(step)
        if known is None:
            known = self._readers[step] = list(self._readers_of(node, path))
        return known

    def _readers_of(self, node: Node, path: _Path) -> Iterator[_Step]:
        for user, position in self._side.users.get(node, ()):
            read = self._side.graph.operands(user)[position][1]
            if opened_root(user) is None and read[: len(path)] == path[: len(read)]:
                slices = slices_of(self._side, user, position) if _joins(user) else []
                yield from ((part, ()) for part in slices)
                if slices:
                    continue
                passed = _passed_on(user, position, path[len(read) :])
                yield self._begun(user, position), passed
        yield from ((done, path) for done in self._ends(node))
        yield from ((loop, path) for loop in self._loops(node))
        for line in _kept_users(node):
            yield node.frame.node(line), ()

    def _begun(self, user: Node, position: int) -> Node:
        """Return a user, or the corresponding parameter of the instruction that it wraps."""
        result = wrapped(self._side, user)
        parameters = () if result is None else result.frame.computation.parameters
        if result is None or position >= len(parameters):
            return user
        return result.frame.node(parameters[position])

    def _ends(self, node: Node) -> Iterator[Node]:
        """Yield the `done` nodes of the asynchronous call whose root is `node`."""
        if node.frame.caller is None and node.instruction is node.frame.computation.root:
            start = start_of(self._side, node.frame)
            if start is not None:
                yield from dones_of(self._side, start)

    def _loops(self, node: Node) -> Iterator[Node]:
        """Yield the loops whose body has a node as result."""
        frame = node.frame
        if frame.caller is None and node.instruction is frame.computation.root:
            for computation, call in self._side.graph.call_sites(frame.computation.name):
                home = self._side.homes.get(computation.name)
                if home is not None and (call.instruction.opcode, call.attribute) == _BODY:
                    yield home.node(call.instruction)


def _kept_users(node: Node) -> list[Instruction]:
    """Return the unchanged instructions that read a node by its name."""
    frame = node.frame
    if not frame.kept:
        return []
    users = frame.computation.users.get(node.instruction.name, ())
    return [line for line in users if line in frame.kept]


def _passed_on(user: Node, position: int, path: _Path) -> _Path:
    """Return which element of a user an element that it reads becomes."""
    if is_bundle(user.instruction) or _sends_several(user):
        return (position, *path)
    if is_done(user):
        return path
    return path if user.instruction.opcode in _PASSING else ()


def _joins(node: Node) -> bool:
    return node.instruction.opcode == "concatenate"


def _sends_several(node: Node) -> bool:
    """Whether a node begins to send several operands, each by itself."""
    return is_start(node) and len(node.instruction.operands) > 1


def _is_stop(node: Node) -> bool:
    """Return whether a node is a landmark, or may become one."""
    return node.kept or node.partner is not None or family_of(node.instruction) is not None


def _is_seen_through(node: Node) -> bool:
    free = not node.kept and node.partner is None
    return free and family_of(node.instruction) in _SEEN_THROUGH
