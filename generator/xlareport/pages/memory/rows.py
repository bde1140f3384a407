"""The static tables of the page on memory: spaces, kinds, layouts, fragmentation, breakdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.knowledge.memory_spaces import space_words
from xlareport.readers.live_range import ScopeShare
from xlareport.runtime import units

_TREE_LINES = 60
_TREE_LEAST = 0.005
"""A line of the breakdown below this part of the peak is left out."""
_FILLS = 12
_SHARES = 12


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """One memory space."""

    name: str
    number: int
    allocated: int
    temp: int | None
    reported: str
    """What the memory usage report says of it."""


@dataclass(frozen=True, slots=True)
class KindRow:
    """The allocations of one kind in one memory space."""

    space: str
    kind: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """What layouts place into one memory space."""

    mark: str
    name: str
    values: int
    bytes: int


@dataclass(frozen=True, slots=True)
class FillRow:
    """How full one allocation gets."""

    allocation: int
    kind: str
    size: int
    used: int
    lost: int
    lost_share: str


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A line of the peak's breakdown."""

    indent: str
    name: str
    total: int
    share: str


def space_rows(backend: str | None, found: MemoryReport) -> list[SpaceRow]:
    """Return the memory spaces, each with what the memory usage report says of it."""
    return [
        SpaceRow(
            name=space_words(backend, one.color),
            number=one.color,
            allocated=one.allocated_bytes,
            temp=one.temp_bytes,
            reported=_reported(found, one.color, one.allocated_bytes),
        )
        for one in found.figures.spaces
    ]


def _reported(found: MemoryReport, color: int, allocated: int) -> str:
    told = found.reported.get(color)
    if found.figures.sources.get("allocated_bytes") == "memory-usage-report":
        return "this is its figure"
    if told is None:
        return "says nothing"
    return "says the same" if told == allocated else f"says {units.count(told)}"


def kind_rows(backend: str | None, found: MemoryReport) -> tuple[KindRow, ...]:
    """Return the allocations by memory space and kind."""
    return tuple(
        KindRow(space_words(backend, one.color), one.kind, one.count, one.size)
        for one in found.kinds
    )


def layout_rows(backend: str | None, found: MemoryReport) -> tuple[LayoutRow, ...]:
    """Return what the layouts place where."""
    return tuple(
        LayoutRow(
            f"S({one.number})",
            space_words(backend, one.number, in_layout=True),
            one.values,
            one.size,
        )
        for one in found.layout_spaces
    )


def named(found: Sequence[Share], nothing: str) -> tuple[Share, ...]:
    """Return the largest shares, each with a name."""
    return tuple(Share(one.name or nothing, one.size, one.count) for one in found[:_SHARES])


def tree_rows(breakdown: Sequence[ScopeShare]) -> list[TreeRow]:
    """Return the lines of the breakdown that matter, in the order of the file."""
    whole = breakdown[0].total if breakdown else 0
    wanted = [one for one in breakdown if whole and one.total / whole >= _TREE_LEAST]
    return [
        TreeRow(
            "\N{NO-BREAK SPACE}" * 4 * one.depth,
            one.name,
            one.total,
            units.share(one.total / whole),
        )
        for one in wanted[:_TREE_LINES]
    ]


def fill_rows(found: MemoryReport) -> list[FillRow]:
    """Return the allocations that lose most."""
    return [
        FillRow(
            allocation=one.allocation.index,
            kind=one.allocation.kind,
            size=one.allocation.size,
            used=one.used,
            lost=one.lost,
            lost_share=units.share(one.lost / one.allocation.size) if one.allocation.size else "0%",
        )
        for one in found.fills[:_FILLS]
        if one.lost
    ]
