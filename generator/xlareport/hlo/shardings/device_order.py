"""Devices in an order: a list, or a count from 0 that is reshaped and transposed (iota)."""

from collections.abc import Iterable
from math import prod

from msgspec import Struct

MOST_DEVICES = 100_000
"""Devices that are listed; orders of more are only counted."""
MOST_DIMENSIONS = 64


class DeviceOrder(Struct, frozen=True):
    """`<=[4,2]T(1,0)`: devices reshaped to sizes, with the dimensions in another order."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    """A permutation of the dimensions, the slowest first."""
    listed: tuple[int, ...] | None = None
    """The devices before they are reshaped; None where they are counted from 0."""

    @staticmethod
    def of(devices: Iterable[int]) -> "DeviceOrder":
        """Return the order of a list."""
        listed = tuple(devices)
        return DeviceOrder((len(listed),), (0,), listed)

    @staticmethod
    def counted(sizes: Iterable[int], order: Iterable[int] = ()) -> "DeviceOrder | None":
        """Return a count over dimensions, transposed if an order is given; None if impossible."""
        dimensions, transposed = tuple(sizes), tuple(order)
        transposed = transposed or tuple(range(len(dimensions)))
        fits = sorted(transposed) == list(range(len(dimensions)))
        if not fits or len(dimensions) > MOST_DIMENSIONS or not all(dimensions):
            return None
        return DeviceOrder(dimensions, transposed)

    @property
    def count(self) -> int:
        """How many devices there are."""
        return prod(self.sizes)

    def devices(self) -> tuple[int, ...] | None:
        """Return the devices in their order; None for more than `MOST_DEVICES`."""
        if self.count > MOST_DEVICES:
            return None
        strides = [prod(self.sizes[number + 1 :]) for number in range(len(self.sizes))]
        places = [0]
        for axis in self.order:
            steps = [step * strides[axis] for step in range(self.sizes[axis])]
            places = [place + step for place in places for step in steps]
        listed = self.listed
        return tuple(places) if listed is None else tuple(listed[place] for place in places)
