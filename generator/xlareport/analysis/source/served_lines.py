"""The source line of the op that an instruction without a line of its own works for."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from xlareport.analysis.source.locations import SourcePlace, op_name_of, places_of
from xlareport.analysis.source.scopes import split_merged
from xlareport.analysis.source.served_ops import OpShares
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import WRAPPERS
from xlareport.runtime.graphs import nearest_first

_MOST_SEEN = 64
"""Instructions that a search looks at."""
_Placed = tuple[Computation, Instruction]


class ServedLines:
    """The lines of a module's ops, for the instructions that work for them."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._place: Callable[[Instruction], SourcePlace | None] = places_of(module)
        self._wrappers = {
            name: (computation, instruction)
            for computation, instruction in module.placed
            if instruction.opcode in WRAPPERS
            for _, name in instruction.called
        }

    def of(
        self, computation: Computation, instruction: Instruction, op_name: str, ops: OpShares
    ) -> str:
        """Return the line of one of the ops that an instruction works for: `model.py:12`.

        Without a line of its own, that of the nearest operands with the op, else of the nearest
        users; empty if these have several. The line of what was combined is that of one member.
        """
        own = self._place(instruction)
        if own is not None and len(ops) == 1:
            return own.short
        beside = self._beside(computation, instruction, op_name) if op_name else ""
        if beside or own is None or op_name != op_name_of(instruction, self._module):
            return beside
        return own.short

    def _beside(self, computation: Computation, instruction: Instruction, op_name: str) -> str:
        for further in (self._operands, self._users):
            lines = self._nearest((computation, instruction), op_name, further)
            if lines:
                return lines.pop() if len(lines) == 1 else ""
        return ""

    def _nearest(
        self, start: _Placed, op_name: str, further: Callable[[_Placed], Iterator[_Placed]]
    ) -> set[str]:
        """Return the lines of the instructions that have the op_name, the nearest of each path."""

        def beyond(place: _Placed) -> Iterable[_Placed]:
            return further(place) if self._line_of_op(place, op_name) == "" else ()

        near = islice(nearest_first(further(start), beyond), _MOST_SEEN)
        return {*filter(None, (self._line_of_op(place, op_name) for place in near))}

    def _line_of_op(self, place: _Placed, op_name: str) -> str | None:
        """Return the line of an instruction that has the op_name; None of other ops.

        Empty where the way goes on behind it: it has no line, or no op_name at all, or several,
        of which the line may be that of another.
        """
        name, source = op_name_of(place[1], self._module), self._place(place[1])
        names = {*split_merged(name)}
        has_op = op_name in names
        if not name or (has_op and (source is None or len(names) > 1)):
            return ""
        return source.short if has_op and source is not None else None

    def _operands(self, place: _Placed) -> Iterator[_Placed]:
        computation, instruction = place
        wrapper = self._wrappers.get(computation.name)
        if instruction.opcode != "parameter":
            lines = computation.operands(instruction)
            yield from ((computation, line) for line in lines if line is not None)
        elif wrapper is not None and instruction in computation.parameters:
            outside, caller = wrapper
            number = computation.parameters.index(instruction)
            given = outside.operands(caller)[number : number + 1]
            yield from ((outside, line) for line in given if line is not None)

    def _users(self, place: _Placed) -> Iterator[_Placed]:
        computation, instruction = place
        for user in computation.users.get(instruction.name, ()):
            yield computation, user
        wrapper = self._wrappers.get(computation.name)
        if wrapper is not None and instruction is computation.root:
            yield wrapper
