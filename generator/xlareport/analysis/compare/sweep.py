"""Three or more dumps side by side: growth of the main program's figures, and the outlier."""

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct

from xlareport.analysis.compare.causes import Cause
from xlareport.analysis.compare.module_facts import ESTIMATE
from xlareport.analysis.compare.verdict import NO_VERDICT, Verdict

FIGURES = (
    ESTIMATE,
    "flops",
    "bytes_accessed",
    "occupied_peak_bytes",
    "temp_bytes",
    "kernels",
    "collectives",
)
"""The figures that are checked for an outlier."""
_TO_DEVIATION = 1.4826
"""From the median of absolute deviations to the deviation of normal noise."""
_ODD = 4.0
"""Deviations from the median beyond which a dump is an outlier."""
_SMALLEST = 0.05
"""Smallest relative distance from the median of an outlier."""


class Member(Struct, frozen=True):
    """One of the dumps, with the figures of its main program."""

    path: str
    module: str | None
    """The main program's name; None where none is known."""
    figures: Mapping[str, int]
    """The known figures by name."""
    verdict: Verdict = NO_VERDICT
    """Against the first dump."""
    causes: tuple[Cause, ...] = ()
    """The first cause of a difference from the first dump; empty if nothing differs."""


class Outlier(Struct, frozen=True):
    """The outlier among the dumps, with the figure that shows it."""

    place: int
    figure: str
    value: int
    median: float
    """Of all the dumps."""


def find_outlier(members: Sequence[Member]) -> Outlier | None:
    """Return the dump whose figure is farthest from the median, relative to the median.

    None if no figure is off by four deviations and five percent, or if figures only grow or only
    shrink from dump to dump, as in a sweep over sizes.
    """
    odds = [odd for figure in FIGURES if (odd := _outlier_by(members, figure)) is not None]
    return max(odds, key=lambda odd: abs(odd.value - odd.median) / odd.median, default=None)


def _outlier_by(members: Sequence[Member], figure: str) -> Outlier | None:
    values = [member.figures.get(figure) for member in members]
    present = [value for value in values if value]
    if len(present) < len(members) or len(present) < 3:
        return None
    middle = median(present)
    deviations = [abs(value - middle) for value in present]
    noise = max(_TO_DEVIATION * median(deviations) * _ODD, _SMALLEST * middle)
    place = max(range(len(present)), key=deviations.__getitem__)
    if deviations[place] <= noise or _is_ordered(present):
        return None
    return Outlier(place, figure, present[place], middle)


def _is_ordered(values: Sequence[int]) -> bool:
    """Return whether values only grow, or only shrink, as those of a sweep over sizes do."""
    return list(values) in (sorted(values), sorted(values, reverse=True))
