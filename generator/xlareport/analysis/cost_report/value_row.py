"""A value in memory as a row of the memory report."""

from msgspec import Struct

from xlareport.analysis.cost.lifetimes import Lifetime
from xlareport.analysis.cost.peak_roles import PeakRole
from xlareport.readers.buffer_assignment import BufferValue


class ValueRow(Struct, frozen=True):
    """A value in memory, with its instruction, its source and the end of its live range."""

    instruction: str
    index: tuple[int, ...]
    """The place in the instruction's tuple; empty for the whole."""
    size: int
    """Bytes."""
    shape: str
    opcode: str
    kind: str
    """Of the allocation: `parameter`, `output`, `temp`, ...; empty where not known."""
    allocation: int | None
    color: int | None
    """The memory space, by the backend's number; None where not known."""
    at_peak: bool | None
    """Whether it is live at the peak; None if unknown.

    The memory of arguments, outputs and constants is reserved at the peak, whether the value is
    live or not.
    """
    lifetime: Lifetime | None
    """None if unknown."""
    scope: str
    source: str
    argument: str = ""
    """The framework's name of an entry parameter; empty for others and where not known."""
    role: PeakRole = PeakRole.OTHER
    """Role at the peak; only set for values to reduce."""
    origin: str = ""
    """The op_name of its computation, looking through copies; only set for the same values."""
    occupant: BufferValue | None = None
    """The value that uses this one's memory, which is held, at the peak; only set for those."""

    @property
    def name(self) -> str:
        """The instruction's name, with the index in its tuple for an element."""
        return element_name(self.instruction, self.index)


def element_name(instruction: str, index: tuple[int, ...]) -> str:
    """Return the name of an instruction, with the index of an element: `while.1{2}`."""
    return f"{instruction}{{{','.join(map(str, index))}}}" if index else instruction
