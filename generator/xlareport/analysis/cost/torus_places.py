"""Where the devices of a group are in the torus of a TPU slice.

libtpu numbers the chips of a slice along x first, then y, then z: in a slice of 2x4 chips, devices
0 to 3 are a block of 2x2, not a line. A dump can say which of them run the program's partitions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod

from msgspec import Struct

_TorusLink = tuple[tuple[int, ...], tuple[int, ...]]
"""The coordinates of two neighbors, in the direction of a message."""


class Extent(Struct, frozen=True):
    """A dimension of the torus along which a group lies."""

    count: int
    """Chips of the group along it."""
    stride: int
    """From one to the next: other groups use the links of those in between too."""
    is_whole: bool
    """Whether it reaches from one end of the slice to the other."""


class Slice(Struct, frozen=True):
    """The chips of a slice, and the ids of the devices that run a program there."""

    shape: tuple[int, ...]
    """Chips along each dimension."""
    assignment: tuple[int, ...]
    """Device ids in the order of the program's own numbers; empty if they are these."""

    def holds(self, devices: int) -> bool:
        """Return whether each chip runs one of so many devices."""
        known = not self.assignment or sorted(self.assignment) == list(range(devices))
        return prod(self.shape) == devices and known

    def place(self, device: int) -> tuple[int, ...]:
        """Return the coordinates of a device of the program."""
        number, coordinates = self.assignment[device] if self.assignment else device, []
        for size in self.shape:
            number, coordinate = divmod(number, size)
            coordinates.append(coordinate)
        return tuple(coordinates)

    def extents(self, group: Sequence[int]) -> tuple[Extent, ...]:
        """Return the dimensions along which a group lies; empty unless it is a regular grid."""
        places = {self.place(device) for device in group}
        along = [sorted(set(values)) for values in zip(*places, strict=True)]
        if len(places) != len(group) or prod(map(len, along)) != len(places):
            return ()
        extents = [
            _extent(values, size)
            for values, size in zip(along, self.shape, strict=True)
            if len(values) > 1
        ]
        return tuple(extents) if all(extent.stride for extent in extents) else ()

    def busiest_link(self, pairs: Iterable[tuple[int, int]], closed: Sequence[bool]) -> int:
        """Return how many messages use the same link if each goes along x first, then y, then z.

        `closed` says which dimensions are rings: there a message goes the shorter way.
        """
        loads: Counter[_TorusLink] = Counter()
        for source, target in pairs:
            loads.update(self._route(self.place(source), self.place(target), closed))
        return max(loads.values(), default=0)

    def _route(
        self, here: tuple[int, ...], there: tuple[int, ...], closed: Sequence[bool]
    ) -> list[_TorusLink]:
        links: list[_TorusLink] = []
        for at, (size, is_closed) in enumerate(zip(self.shape, closed, strict=True)):
            ahead = (there[at] - here[at]) % size
            backwards = 2 * ahead > size if is_closed else there[at] < here[at]
            steps = size - ahead if backwards else ahead
            for _ in range(steps):
                step = (here[at] + (-1 if backwards else 1)) % size
                following = (*here[:at], step, *here[at + 1 :])
                links.append((here, following))
                here = following
        return links


def _extent(values: Sequence[int], size: int) -> Extent:
    """Return the extent of a group with these coordinates; its stride is 0 if they differ."""
    strides = {after - before for before, after in pairwise(values)}
    stride = strides.pop() if len(strides) == 1 else 0
    return Extent(len(values), stride, is_whole=len(values) * stride == size)
