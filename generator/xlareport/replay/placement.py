"""The placement of values in a program for several devices: the shard of each array by device."""

from msgspec import Struct

from xlareport.analysis.shardings.moved import IndexBounds


class ValuePlacement(Struct, frozen=True):
    """An array and its shard on each device."""

    dimensions: tuple[int, ...]
    """Of the whole array."""
    boxes: tuple[IndexBounds, ...]
    """By device."""


class Placement(Struct, frozen=True):
    """The devices of a program, and where its parameters and results are."""

    devices: int
    parameters: tuple[ValuePlacement, ...]
    results: tuple[ValuePlacement, ...]
