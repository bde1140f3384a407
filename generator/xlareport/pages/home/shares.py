"""Shares of a whole, as one bar and in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.runtime import units

HUES = 7
"""Colors of parts; the last is for what is not known and for the rest."""


@dataclass(frozen=True, slots=True)
class BarPart:
    """One part of a bar."""

    name: str
    figure: str
    percent: str
    """Width in percent of the whole."""
    hue: int


@dataclass(frozen=True, slots=True)
class SharesBar:
    """A whole that is divided into parts."""

    title: str
    parts: tuple[BarPart, ...]


def shares_bar(title: str, values: Sequence[tuple[str, float]], rest: str) -> SharesBar:
    """Return values as a bar, those beyond its colors together; `rest` names what has no name."""
    whole = sum(value for _, value in values) or 1.0
    named = [(name, value) for name, value in values if name and value > 0]
    unnamed = sum(value for name, value in values if not name)
    shown = named if len(named) < HUES else named[: HUES - 2]
    beyond = sum(value for _, value in named[len(shown) :])
    parts = [_part(name, value / whole, hue) for hue, (name, value) in enumerate(shown)]
    if beyond:
        more = f"{len(named) - len(shown)} more"
        parts.append(_part(more, beyond / whole, HUES - 2))
    if unnamed:
        parts.append(_part(rest, unnamed / whole, HUES - 1))
    return SharesBar(title, tuple(parts))


def _part(name: str, share: float, hue: int) -> BarPart:
    return BarPart(name, units.share(share), f"{share * 100:.2f}", hue)
