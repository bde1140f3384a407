"""The placement of values in a program for several devices: the shard of each array by device."""

from dataclasses import dataclass

from xlareport.analysis.shardings.moved import IndexBounds


@dataclass(frozen=True, slots=True)
class ValuePlacement:
    """An array and its shard on each device."""

    dimensions: tuple[int, ...]
    """Of the whole array."""
    boxes: tuple[IndexBounds, ...]
    """By device."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The devices of a program, and where its parameters and results are."""

    devices: int
    parameters: tuple[ValuePlacement, ...]
    results: tuple[ValuePlacement, ...]
