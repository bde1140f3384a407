"""Instructions with the source lines that they come from."""

from collections.abc import Callable

from xlareport.analysis.source.locations import SourcePlace
from xlareport.hlo.model import Instruction

SourceOf = Callable[[Instruction], SourcePlace | None]


class PlacedInstruction(Instruction, kw_only=True, eq=False):
    """An instruction of a snapshot, with its source lines."""

    _source_of: SourceOf

    @staticmethod
    def of(instruction: Instruction, source_of: SourceOf) -> "PlacedInstruction":
        """Return the instruction with all its fields, and the source that the function finds."""
        values = (getattr(instruction, name) for name in Instruction.__struct_fields__)
        return PlacedInstruction(*values, _source_of=source_of)

    @property
    def source(self) -> SourcePlace | None:
        """File, line and function of the user's program; None where they are not known."""
        return self._source_of(self)
