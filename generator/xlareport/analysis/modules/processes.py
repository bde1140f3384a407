"""Which process compiled a module: folders tell, and numbers that come twice.

A process gives a number only once and counts upwards. Where a folder holds a number twice, several
processes wrote into it; the times at which modules were written then tell which belong together,
unless the processes ran at the same time or the times were lost.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from xlareport.analysis.modules.summary import ModuleSummary

Process = tuple[str, int]
"""The folder, and which of the processes that wrote there."""


def processes(summaries: Iterable[ModuleSummary]) -> Mapping[str, Process | None]:
    """Return the process of each module by its key; None where it cannot be told."""
    folders: dict[str, list[ModuleSummary]] = defaultdict(list)
    for one in summaries:
        folders[folder(one)].append(one)
    found: dict[str, Process | None] = {}
    for where, members in folders.items():
        numbers = _numbers(members)
        for one, number in zip(members, numbers, strict=True):
            found[one.files.key] = None if number is None else (where, number)
    return found


def folder(one: ModuleSummary) -> str:
    """Return the folder that XLA wrote to, above a module's own."""
    path = one.files.artifacts[0].path if one.files.artifacts else ""
    return path.rpartition("/")[0].partition("/module_")[0]


def _numbers(members: Sequence[ModuleSummary]) -> Sequence[int | None]:
    """Return the number of each module's process: in one folder, in the order of time."""
    times = Counter(one.files.id for one in members if one.files.id is not None)
    most = max(times.values(), default=1)
    if most == 1:
        return [0] * len(members)
    stamps = [_written(one) for one in members]
    order = sorted(range(len(members)), key=lambda at: (stamps[at] or 0, members[at].files.id or 0))
    numbers: list[int | None] = [None] * len(members)
    process, last = -1, None
    for at in order:
        number = members[at].files.id
        if number is not None:
            process += last is None or number <= last
            last = number
            numbers[at] = process
    known = all(stamps) and process + 1 == most
    return numbers if known else [None] * len(members)


def _written(one: ModuleSummary) -> float | None:
    """Return when compilation began as far as the dump tells: microseconds, or seconds of files."""
    if one.files.timestamp is not None:
        return float(one.files.timestamp)
    told = [artifact.entry.modified for artifact in one.files.artifacts]
    return min((moment * 1e6 for moment in told if moment is not None), default=None)
