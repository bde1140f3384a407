"""The processes of a dump, their names, and which modules each of them compiled."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from os.path import commonpath

from xlareport.analysis.modules.processes import Process, Processes, assign_processes
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.modules import FolderCopy, GroupedDump
from xlareport.dump.rank_folders import natural_order


@dataclass(frozen=True, slots=True)
class RankTable:
    """The processes that wrote a dump, numbered from 1, and who compiled what."""

    names: tuple[str, ...]
    """What tells each process apart: its folder below the one that all have in common."""
    holders: Mapping[str, tuple[int, ...]]
    """By the key of a module, the numbers of the processes that compiled it; empty if unknown."""
    assigned: Processes
    """The first process that compiled each module."""
    orders: tuple[tuple[str, ...], ...] = ()
    """Of each process the keys of the modules that it compiled, in order."""

    @property
    def numbers(self) -> Mapping[str, int | None]:
        """The number of the first process that compiled each module; None where it is unknown."""
        return {key: numbers[0] if numbers else None for key, numbers in self.holders.items()}

    def count(self, summaries: Sequence[ModuleSummary]) -> int | None:
        """Return how many processes compiled modules with snapshots; None where it is unknown."""
        compiled = [self.holders[summary.files.key] for summary in summaries if summary.stages]
        compiled = compiled or list(self.holders.values())
        if not all(compiled):
            return None
        return len({number for some in compiled for number in some})


def list_ranks(summaries: Sequence[ModuleSummary], grouped: GroupedDump) -> RankTable:
    """Return which processes wrote a dump; modules of one content count for all that wrote them."""
    copies = {summary.files.key: _copies(summary, grouped) for summary in summaries}
    assigned = assign_processes([*summaries, *(copy for some in copies.values() for copy in some)])
    processes: dict[str, list[Process]] = {summary.files.key: [] for summary in summaries}
    compiled: dict[Process, list[tuple[int, str]]] = defaultdict(list)
    for summary in summaries:
        key = summary.files.key
        for copy in (summary, *copies[key]):
            for process in _everywhere(assigned[copy.files.key], grouped.folder_copies):
                processes[key].append(process)
                compiled[process].append((copy.files.id or 0, key))
    known = {process for some in processes.values() for process in some}
    ordered = sorted(known, key=lambda process: (natural_order(process[0]), process[1]))
    numbers = {process: number for number, process in enumerate(ordered, 1)}
    return RankTable(
        names=tuple(_names(ordered)),
        holders={
            key: tuple(sorted({numbers[process] for process in some}))
            for key, some in processes.items()
        },
        assigned={summary.files.key: assigned[summary.files.key] for summary in summaries},
        orders=tuple(
            tuple(key for _, key in sorted(compiled[process], key=lambda numbered: numbered[0]))
            for process in ordered
        ),
    )


def _copies(summary: ModuleSummary, grouped: GroupedDump) -> list[ModuleSummary]:
    repeated = grouped.copies.get(summary.files.key, ())
    return [replace(summary, files=files) for files in repeated]


def _everywhere(process: Process | None, copies: Iterable[FolderCopy]) -> Iterator[Process]:
    """Yield a process and those in folders that repeat the one it wrote to."""
    if process is None:
        return
    yield process
    where, number = process
    for copy in copies:
        inside = where.removeprefix(copy.original)
        if where.startswith(copy.original) and (not inside or inside.startswith("/")):
            yield f"{copy.folder}{inside}", number


def _names(processes: Sequence[Process]) -> Iterator[str]:
    """Yield a name for each process, in the order of their folders."""
    shared = commonpath([where.strip("/") for where, _ in processes]) if processes else ""
    for where, some in groupby(processes, key=lambda process: process[0]):
        label = where.strip("/")[len(shared) :].strip("/")
        members = list(some)
        for number, _ in enumerate(members, 1):
            alone = len(members) == 1 and label
            yield label if alone else f"{label} process {number}".strip()


def number_ranges(numbers: Iterable[int]) -> str:
    """Return sorted numbers as ranges: `1-16,18`; empty for none."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)
