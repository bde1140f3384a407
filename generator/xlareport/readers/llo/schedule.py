"""Reads how many bundles a program has: `schedule-analysis_final_bundles`."""

import re

from msgspec import Struct

from xlareport.runtime.errors import Problem

_COUNT = re.compile(
    rb"^[ \t]*+(total|empty|non empty) scheduled bundles:[ \t]++(\d{1,12})", re.MULTILINE
)


class ScheduleCounts(Struct, frozen=True):
    """Bundles of a program."""

    total: int
    empty: int
    """Number of empty bundles."""
    nonempty: int


def read_schedule(data: bytes, path: str) -> tuple[ScheduleCounts | None, list[Problem]]:
    """Return the counts of bundles; None, without a problem, for a program without bundles."""
    counts = {name.decode(): int(count) for name, count in _COUNT.findall(data[:4000])}
    if not counts:
        return None, []
    if len(counts) < 3:
        return None, [Problem(path, None, "Some of its three counts of bundles are missing.")]
    counted = ScheduleCounts(counts["total"], counts["empty"], counts["non empty"])
    if counted.total != counted.empty + counted.nonempty:
        return counted, [Problem(path, None, "Empty and other bundles are not as many as all.")]
    return counted, []
