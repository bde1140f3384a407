"""Instructions that know the line of source that they come from."""

from collections.abc import Callable
from dataclasses import fields

from xlareport.analysis.source.locations import SourcePlace
from xlareport.hlo.model import Instruction


class PlacedInstruction(Instruction):
    """An instruction of a snapshot, which knows the lines of source."""

    __slots__ = ("_source_of",)

    def __init__(
        self, instruction: Instruction, source_of: Callable[[Instruction], SourcePlace | None]
    ) -> None:
        """Take over the fields of the instruction."""
        super().__init__(
            *(getattr(instruction, member.name) for member in fields(Instruction) if member.init),
        )
        self._source_of = source_of

    @property
    def source(self) -> SourcePlace | None:
        """File, line and function of the user's program; None where they are not known."""
        return self._source_of(self)
