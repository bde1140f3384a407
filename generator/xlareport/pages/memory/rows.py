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
class AllocationKindRow:
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


def space_rows(backend: str | None, memory: MemoryReport) -> list[SpaceRow]:
    """Return the memory spaces, each with what the memory usage report says of it."""
    return [
        SpaceRow(
            name=space_words(backend, space.color),
            number=space.color,
            allocated=space.allocated_bytes,
            temp=space.temp_bytes,
            reported=_reported(memory, space.color, space.allocated_bytes),
        )
        for space in memory.figures.spaces
    ]


def _reported(memory: MemoryReport, color: int, allocated: int) -> str:
    number = memory.reported.get(color)
    if memory.figures.sources.get("allocated_bytes") == "memory-usage-report":
        return "this is its figure"
    if number is None:
        return "says nothing"
    return "says the same" if number == allocated else f"says {units.count(number)}"


def kind_rows(backend: str | None, memory: MemoryReport) -> tuple[AllocationKindRow, ...]:
    """Return the allocations by memory space and kind."""
    return tuple(
        AllocationKindRow(space_words(backend, kind.color), kind.kind, kind.count, kind.size)
        for kind in memory.kinds
    )


def layout_rows(backend: str | None, memory: MemoryReport) -> tuple[LayoutRow, ...]:
    """Return what the layouts place where."""
    return tuple(
        LayoutRow(
            f"S({layout_space.number})",
            space_words(backend, layout_space.number, in_layout=True),
            layout_space.values,
            layout_space.size,
        )
        for layout_space in memory.layout_spaces
    )


def named(shares: Sequence[Share], nothing: str) -> tuple[Share, ...]:
    """Return the largest shares, each with a name."""
    return tuple(
        Share(share.name or nothing, share.size, share.count) for share in shares[:_SHARES]
    )


def tree_rows(breakdown: Sequence[ScopeShare]) -> list[TreeRow]:
    """Return the lines of the breakdown that matter, in the order of the file."""
    whole = breakdown[0].total if breakdown else 0
    wanted = [
        scope_share
        for scope_share in breakdown
        if whole and scope_share.total / whole >= _TREE_LEAST
    ]
    return [
        TreeRow(
            "\N{NO-BREAK SPACE}" * 4 * scope_share.depth,
            scope_share.name,
            scope_share.total,
            units.share(scope_share.total / whole),
        )
        for scope_share in wanted[:_TREE_LINES]
    ]


def fill_rows(memory: MemoryReport) -> list[FillRow]:
    """Return the allocations that lose most."""
    return [
        FillRow(
            allocation=fill.allocation.index,
            kind=fill.allocation.kind,
            size=fill.allocation.size,
            used=fill.used,
            lost=fill.lost,
            lost_share=units.share(fill.lost / fill.allocation.size)
            if fill.allocation.size
            else "0%",
        )
        for fill in memory.fills[:_FILLS]
        if fill.lost
    ]
