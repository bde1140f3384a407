"""The schedule on a page: the use of its units over the cycles, and its busiest bundles."""

import heapq
import operator
from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from xlareport.analysis.tpu.core_units import PARTS
from xlareport.llo_files import LloProgram
from xlareport.readers.llo.bundle_operation import without_comments
from xlareport.readers.llo.bundles import Bundle
from xlareport.readers.llo.utilization import Utilization

MOST_CYCLES = 20_000
"""Cycles of a schedule that are shown one by one; the others are left out."""
_MOST_RANGES = 6
_RANGE = 12
"""Bundles of a range that are shown."""
_LONGEST_BUNDLE = 4_000
"""Characters of a bundle that are shown."""


class HotRange(Struct, frozen=True):
    """A stretch of the schedule with many busy slots."""

    begin: int
    share: float
    """Of the slots of all units, 0 to 1."""
    runs: int | None
    """How often its first bundle runs."""
    bundles: tuple[str, ...]
    """As written, without comments."""


class ScheduleView(Struct, frozen=True):
    """A schedule in columns."""

    columns: Mapping[str, bytes]
    """By unit, a byte for each cycle."""
    cycles: int
    """The number of all cycles, even if fewer are shown."""
    counts: tuple[tuple[int, int], ...]
    """(how often it runs, for how many cycles in a row), in order; empty where not known."""
    ranges: tuple[HotRange, ...]


def view_schedule(program: LloProgram, counts: Sequence[int] | None) -> ScheduleView | None:
    """Return the schedule view of a program; None without a utilization table."""
    if program.used is None or not program.used.rows:
        return None
    columns = {unit: column[:MOST_CYCLES] for unit, column in program.used.columns.items()}
    listing = program.schedule
    bundles = listing.bundles if listing and len(listing.bundles) == program.used.rows else ()
    return ScheduleView(
        columns,
        program.used.rows,
        _runs(counts or ()),
        _hot_ranges(program.used, bundles, counts) if bundles else (),
    )


def _runs(counts: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return equal neighbors together."""
    return tuple((count, len([*members])) for count, members in groupby(counts))


def _hot_ranges(
    table: Utilization, bundles: Sequence[Bundle], counts: Sequence[int] | None
) -> tuple[HotRange, ...]:
    """Return the busiest stretches, in the order of the schedule."""
    shares = _shares(table)
    scores = []
    for begin in range(0, len(shares), _RANGE):
        weights = counts[begin : begin + _RANGE] if counts else [1] * _RANGE
        busy = shares[begin : begin + _RANGE]
        scores.append((sum(map(operator.mul, busy, weights)), begin))
    best = sorted(heapq.nlargest(_MOST_RANGES, scores), key=lambda score: score[1])
    return tuple(
        HotRange(
            begin=begin,
            share=sum(shares[begin : begin + _RANGE]) / len(shares[begin : begin + _RANGE]),
            runs=counts[begin] if counts else None,
            bundles=tuple(_bundle_text(bundle) for bundle in bundles[begin : begin + _RANGE]),
        )
        for score, begin in best
        if score
    )


def _shares(table: Utilization) -> list[float]:
    """Return the share of the slots that each cycle uses."""
    units = [unit for unit in table.units if unit not in PARTS]
    total = max(1, sum(table.capacity[unit] for unit in units))
    return [sum(row) / total for row in zip(*(table.columns[unit] for unit in units), strict=True)]


def _bundle_text(bundle: Bundle) -> str:
    return " ".join(without_comments(bundle.text).split())[:_LONGEST_BUNDLE]
