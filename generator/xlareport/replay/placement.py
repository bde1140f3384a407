"""Where the values of a program of several devices are: which part of each array a device holds."""

from dataclasses import dataclass

from xlareport.analysis.shardings.moved import IndexBounds


@dataclass(frozen=True, slots=True)
class ValuePlacement:
    """An array and the part of it on each device."""

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
