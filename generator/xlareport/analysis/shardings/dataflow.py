"""Where a value of a partitioned module comes from, through moves of data and into fusions."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import reachable

_MOVES = frozenset({"reshape", "bitcast", "transpose", "slice", "pad", "all-gather-done"})
"""Opcodes that rearrange gathered data; `copy` is excluded, as constraints become copies."""
_COPIES = frozenset({"copy", "copy-start", "copy-done"})
_MOST_STEPS = 200
LocatedInstruction = tuple[Computation, Instruction]


class DataFlow(Struct, frozen=True, dict=True):
    """A module's data flow. A fusion's parameters lead to its operands."""

    module: HloModule

    @cached_property
    def _fusions(self) -> Mapping[str, LocatedInstruction]:
        """The fusion that runs a computation; the last of several."""
        return {
            called: (computation, instruction)
            for computation, instruction in self.module.placed
            if instruction.opcode == "fusion"
            for _, called in instruction.called
        }

    def operand(self, place: LocatedInstruction, number: int) -> LocatedInstruction | None:
        """Return where an operand is made; None where it is not known."""
        computation, instruction = place
        names = instruction.operand_names
        producer = computation.by_name.get(names[number]) if number < len(names) else None
        return self._outside((computation, producer)) if producer is not None else None

    def _outside(self, place: LocatedInstruction) -> LocatedInstruction:
        """Lead a parameter of a fusion to the operand that it represents."""
        for _ in range(_MOST_STEPS):
            computation, instruction = place
            fusion = self._fusions.get(computation.name)
            if instruction.opcode != "parameter" or fusion is None:
                return place
            number = computation.parameters.index(instruction)
            names = fusion[1].operand_names
            producer = fusion[0].by_name.get(names[number]) if number < len(names) else None
            if producer is None:
                return place
            place = fusion[0], producer
        return place

    def through_moves(
        self, place: LocatedInstruction, *, copies: bool = False
    ) -> LocatedInstruction:
        """Return the instruction behind data movement, optionally behind copies too."""
        passed = _MOVES | _COPIES if copies else _MOVES
        for _ in range(_MOST_STEPS):
            inside = next(self._parameters_read(place), None) if copies else None
            if inside is not None:
                place = inside
            if place[1].opcode not in passed:
                return place
            before = self.operand(place, 0)
            if before is None:
                return place
            place = before
        return place

    def depends_on(self, place: LocatedInstruction, opcode: str) -> bool:
        """Return whether a value depends on an instruction of an opcode, as far as is read."""
        return any(instruction.opcode == opcode for _, instruction in self._behind(place))

    def _behind(self, start: LocatedInstruction) -> Iterator[LocatedInstruction]:
        return islice(reachable([start], self._sources), _MOST_STEPS)

    def _sources(self, place: LocatedInstruction) -> Iterator[LocatedInstruction]:
        """Yield the operands of an instruction, and the roots of its fused computations."""
        for number in range(len(place[1].operands)):
            operand = self.operand(place, number)
            if operand is not None:
                yield operand
        yield from self._parameters_read(place)

    def _parameters_read(self, place: LocatedInstruction) -> Iterator[LocatedInstruction]:
        if place[1].opcode != "fusion":
            return
        for _, called in place[1].called:
            computation = self.module.by_name.get(called)
            if computation is not None and computation.root is not None:
                yield computation, computation.root
