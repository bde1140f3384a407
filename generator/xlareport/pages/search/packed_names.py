"""Names of one kind and the snapshots that have them, as the search index stores them.

Names are stored as stems with their numbers, because `fusion` has thousands.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xlareport.analysis.cost_report.source_lines import SourceLine
from xlareport.pages.pictures.snapshot_graph import Interned

SnapshotSpan = tuple[int, int]
"""Numbers of the first and the last snapshot."""
_MOST_VALUES = 400_000
"""Limit on values of one kind in one module; the rest is left out, as the search says."""
_DIGITS = 9


def sorted_names(names: Iterable[str]) -> Sequence[str]:
    """Return names in the order in which they are stored, as many as are."""
    return sorted(names, key=_parted)[:_MOST_VALUES]


def _parted(name: str) -> tuple[str, int]:
    """Return a name without its number, and the number: -1 where it has none that reads back."""
    stem, dot, number = name.rpartition(".")
    plain = number.isascii() and number.isdigit() and len(number) <= _DIGITS
    if dot and plain and (number == "0" or not number.startswith("0")):
        return stem, int(number)
    return name, -1


def pack_names(
    names: Sequence[str], value: Mapping[str, SnapshotSpan], spans: Interned
) -> dict[str, Any]:
    """Write names as stems, how many names each has, and distances between their numbers."""
    stems: dict[str, int] = {}
    numbers: list[int] = []
    last = -1
    for name in names:
        stem, number = _parted(name)
        if stem not in stems:
            stems[stem], last = 0, -2
        stems[stem] += 1
        numbers.append(number - last)
        last = number
    return {
        "stems": list(stems),
        "counts": list(stems.values()),
        "numbers": numbers,
        "spans": [spans.number(value[name]) for name in names],
    }


def pack_values(places: Mapping[str, SnapshotSpan], spans: Interned) -> dict[str, Any]:
    """Write values in order, each with its snapshots."""
    values = sorted(places)[:_MOST_VALUES]
    return {"values": values, "spans": [spans.number(places[value]) for value in values]}


def pack_functions(
    places: Mapping[str, SnapshotSpan], lines: Iterable[SourceLine], spans: Interned
) -> dict[str, Any]:
    """Write functions, each with the number of source lines that are in it or called from it."""
    counts = Counter(
        name for line in lines for name in {line.place.function, *line.callers} if name
    )
    packed = pack_values(places, spans)
    return packed | {"lines": [counts[name] for name in packed["values"]]}
