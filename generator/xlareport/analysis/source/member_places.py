"""The source line of each member of a combined collective, and the lines an instruction works for.

Members with one op_name can be of several lines: `transpose(jvp())/dot_general` is the gradient of
each unnamed matmul.
"""

from xlareport.analysis.source.combined_ops import elements_of, is_combined, member_op_names
from xlareport.analysis.source.locations import SourcePlace, op_name_of, places_by_op, places_of
from xlareport.analysis.source.served_ops import OpShares
from xlareport.hlo.model import Computation, HloModule, Instruction

LineShares = tuple[tuple[str, float], ...]
"""Lines, `path:line`, with their shares of an instruction; empty for the part without a line."""


class MemberPlaces:
    """The lines of a module's combined collectives, by member."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._place = places_of(module)
        self._of_op = places_by_op(module)

    def of(
        self, computation: Computation, collective: Instruction
    ) -> tuple[SourcePlace | None, ...]:
        """Return the line of each member, in the order of operands; None where it is not known."""
        names = member_op_names(self._module, computation, collective)
        elements = elements_of(computation, collective)
        operands = computation.operands(collective)
        return tuple(
            self._of_member(name, elements.get(at), operand, collective)
            for at, (name, operand) in enumerate(zip(names, operands, strict=False))
        )

    def _of_member(self, op_name: str, *near: Instruction | None) -> SourcePlace | None:
        """Return the line of the first of these instructions with this op_name, else of the op."""
        if not op_name:
            return None
        named = (line for line in near if line and op_name_of(line, self._module) == op_name)
        return next(filter(None, map(self._place, named)), None) or self._of_op.get(op_name)

    def shares(
        self, computation: Computation, instruction: Instruction, ops: OpShares
    ) -> LineShares:
        """Return the lines that an instruction works for; `ops` are those of `serve_ops`.

        The lines of a combined collective have the shares of their members by bytes.
        """
        if is_combined(instruction) and self._has_members(computation, instruction, ops):
            return self._of_members(computation, instruction)
        if len(ops) > 1:
            return self._of_ops(instruction, ops)
        return ((_text(self._place(instruction)), 1.0),)

    def _has_members(
        self, computation: Computation, collective: Instruction, ops: OpShares
    ) -> bool:
        """Return whether a pass combined several ops, or one of several lines."""
        own, elements = self._place(collective), elements_of(computation, collective)
        places = {self._place(element) for element in elements.values()}
        return len(ops) > 1 or bool(places - {own, None})

    def _of_members(self, computation: Computation, collective: Instruction) -> LineShares:
        operands = computation.operands(collective)
        sizes = [(line.shape.byte_size or 0) if line else 0 for line in operands]
        whole = sum(sizes)
        return tuple(
            (_text(place), size / whole if whole else 1 / len(sizes))
            for place, size in zip(self.of(computation, collective), sizes, strict=True)
        )

    def _of_ops(self, instruction: Instruction, ops: OpShares) -> LineShares:
        own = op_name_of(instruction, self._module)
        places = {op_name: self._of_op.get(op_name) for op_name, _ in ops}
        if own in places:
            places[own] = self._place(instruction) or places[own]
        return tuple((_text(places[op_name]), share) for op_name, share in ops)


def _text(place: SourcePlace | None) -> str:
    return place.text if place is not None else ""
