"""Ops that two programs have in different places: in a loop, in a call, or in neither."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from xlareport.analysis.compare.operations import OperationKey
from xlareport.analysis.steps.heaviness import heaviness
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import HloModule


class Depth(Struct, frozen=True, order=True):
    """The loops and calls around an instruction."""

    loops: int = 0
    calls: int = 0


class GivenOperation(Struct, frozen=True):
    """An op of the program: how many instructions it is, by opcode."""

    key: OperationKey
    opcodes: tuple[tuple[str, int], ...]
    depths: tuple[tuple[Depth, int], ...] = ()
    """The same by depth."""

    @property
    def count(self) -> int:
        """Instructions of any opcode."""
        return sum(count for _, count in self.opcodes)


class Move(Struct, frozen=True):
    """Instructions of an op that are in other loops or calls."""

    op: str
    count: int
    base: Depth
    """Of most of them."""
    head: Depth


def read_depths(module: HloModule) -> Mapping[str, Depth]:
    """Return the depth of the instructions of each computation, the deepest of several calls."""
    depths: dict[str, Depth] = {}
    for computation in reversed(callees_first(module) or ()):
        outer = depths.get(computation.name, Depth())
        for instruction in computation.instructions:
            inner = Depth(
                outer.loops + (instruction.opcode == "while"),
                outer.calls + (instruction.opcode == "call"),
            )
            for _, callee in instruction.called:
                depths[callee] = max(depths.get(callee, Depth()), inner)
    return depths


def find_moves(base: Iterable[GivenOperation], head: Iterable[GivenOperation]) -> tuple[Move, ...]:
    """Return ops that are as many on both sides but not in the same loops, the heaviest first."""
    ours, theirs = _by_op(base), _by_op(head)
    moves = [
        Move(op, gone.total(), _most_frequent(gone), _most_frequent(new))
        for op in ours
        if op in theirs
        and ours[op].total() == theirs[op].total()
        and (gone := ours[op] - theirs[op])
        and (new := theirs[op] - ours[op])
    ]
    weights = {operation.key.op: _weight(operation) for operation in base}
    moves.sort(key=lambda move: (-weights.get(move.op, 0), -move.count, move.op))
    return tuple(moves)


def _by_op(operations: Iterable[GivenOperation]) -> dict[str, Counter[Depth]]:
    counts: dict[str, Counter[Depth]] = {}
    for operation in operations:
        if operation.key.op:
            counts.setdefault(operation.key.op, Counter()).update(dict(operation.depths))
    return counts


def _most_frequent(counts: Counter[Depth]) -> Depth:
    return max(counts, key=lambda depth: (counts[depth], depth))


def _weight(operation: GivenOperation) -> float:
    return max((heaviness(opcode) for opcode, _ in operation.opcodes), default=0)
