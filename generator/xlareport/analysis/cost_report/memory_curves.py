"""The memory in use over the schedule, downsampled, and the values in it."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.cost.occupancy import Occupancy

_CURVE_POINTS = 400
_MOST_LIVING = 3_000


class SpaceCurve(Struct, frozen=True):
    """The bytes of one memory space in use over the schedule."""

    color: int
    curve: tuple[int, ...]
    """Evenly thinned out."""
    held: Mapping[str, int]
    """Bytes held throughout, by kind of allocation: `parameter`, `output`, `constant`."""
    position: int
    """The first at which the most is in use."""
    at: str
    """The instruction scheduled there; empty at the end of the run."""


class LivingValue(Struct, frozen=True):
    """A place of the device memory that is in use for a while."""

    name: str
    size: int
    kind: str
    start: int
    end: int
    """Positions, both included."""
    argument: str
    """The framework's name of an entry parameter; empty for others."""


def thin_curve(curve: tuple[int, ...]) -> tuple[int, ...]:
    """Return a limited number of points, each the maximum of its range, so the peak is kept."""
    stretch = -(-len(curve) // _CURVE_POINTS) or 1
    return tuple(max(curve[at : at + stretch]) for at in range(0, len(curve), stretch))


def find_space_curves(occupancy: Occupancy, schedule: Sequence[str]) -> Iterator[SpaceCurve]:
    """Yield the curve of each memory space, by number."""
    for color, curve in sorted(occupancy.curves.items()):
        position = curve.index(max(curve))
        at = schedule[position] if position < len(schedule) else ""
        yield SpaceCurve(color, thin_curve(curve), occupancy.held.get(color, {}), position, at)


def list_living_values(occupancy: Occupancy, arguments: Mapping[str, str]) -> Iterator[LivingValue]:
    """Yield the largest values in the device memory, each with its live range.

    `arguments` has the names of entry parameters by instruction.
    """
    largest = sorted(occupancy.slots, key=lambda slot: (-slot.size, slot.start, slot.key))
    for slot in largest[:_MOST_LIVING]:
        name, index = slot.key
        whole = f"{name}{{{','.join(map(str, index))}}}" if index else name
        kind, argument = slot.allocation.kind, "" if index else arguments.get(name, "")
        yield LivingValue(whole, slot.size, kind, slot.start, slot.end, argument)
