"""The processes of a dump, their names, and the modules that each of them compiled."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from os.path import commonpath

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.modules.processes import Process, Processes, assign_in_order, places_of
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.modules import FolderCopy, GroupedDump
from xlareport.dump.rank_folders import natural_order
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults
from xlareport.storage.packed_keys import ChosenValues, KeyedValues, KeyPlaces, PackedStrings
from xlareport.storage.shared_values import SharedValues


class RankTable(Struct, frozen=True):
    """The processes that wrote a dump, numbered from 1, and the modules that each compiled."""

    names: tuple[str, ...]
    """The name of each process: its folder below the common folder."""
    holders: Mapping[str, tuple[int, ...]]
    """By the key of a module, the numbers of the processes that compiled it; empty if unknown."""
    assigned: Processes
    """The first process that compiled each module."""
    orders: Sequence[Sequence[str]] = ()
    """The keys of the modules that each process compiled, in order."""

    @property
    def numbers(self) -> Mapping[str, int | None]:
        """The number of the first process that compiled each module; None where it is unknown."""
        return {key: numbers[0] if numbers else None for key, numbers in self.holders.items()}

    def count(self, summaries: Sequence[ModuleSummary]) -> int | None:
        """Return how many processes compiled modules with snapshots; None where it is unknown."""
        compiled = {self.holders[summary.files.key] for summary in summaries if summary.stages}
        compiled = compiled or set(self.holders.values())
        if not all(compiled):
            return None
        return len({number for some in compiled for number in some})


def rank_table(
    name: str, summaries: Sequence[ModuleSummary], grouped: GroupedDump
) -> tuple[RankTable, Sequence[Problem]]:
    """Return the processes of a dump; not known, with the problem, where that fails."""
    faults = Faults(name)

    def unknown() -> RankTable:
        places = places_of(summaries)
        holders = KeyedValues(places, ((),) * len(summaries))
        return RankTable((), holders, KeyedValues(places, (None,) * len(summaries)))

    table = faults.attempt("The processes", lambda: list_ranks(summaries, grouped), None)
    return table or unknown(), faults.problems


def list_ranks(summaries: Sequence[ModuleSummary], grouped: GroupedDump) -> RankTable:
    """Return the processes that wrote a dump; equal modules count for all their processes."""
    copies = {
        place: _copies(summary, grouped)
        for place, summary in enumerate(summaries)
        if summary.files.key in grouped.copies
    }
    of_copies = [(place, copy) for place, some in copies.items() for copy in some]
    assigned = assign_in_order(chain(summaries, (copy for _, copy in of_copies)))
    compiled: dict[Process, _Compiled] = defaultdict(_Compiled)
    ids = (summary.files.id or 0 for summary in summaries)
    for place, (number, process) in enumerate(zip(ids, assigned, strict=False)):
        for member in _everywhere(process, grouped.folder_copies):
            compiled[member].add(place, number)
    of_further = zip(of_copies, assigned[len(summaries) :], strict=True)
    for (place, copy), process in of_further:
        for member in _everywhere(process, grouped.folder_copies):
            compiled[member].add(place, copy.files.id or 0)
    ordered = sorted(compiled, key=lambda process: (natural_order(process[0]), process[1]))
    places = places_of(summaries)
    keys = places.in_order if isinstance(places, KeyPlaces) else PackedStrings(places)
    return RankTable(
        names=tuple(_names(ordered)),
        holders=KeyedValues(places, _holders(ordered, compiled, len(summaries))),
        assigned=KeyedValues(places, assigned[: len(summaries)]),
        orders=tuple(ChosenValues(keys, compiled[process].in_order()) for process in ordered),
    )


class _Compiled(Struct):
    """The modules that a process compiled, by their places, with the numbers that it gave them."""

    places: "array[int]" = field(default_factory=lambda: array("q"))
    numbers: list[int] = field(default_factory=list)

    def add(self, place: int, number: int) -> None:
        """Take a module."""
        self.places.append(place)
        self.numbers.append(number)

    def in_order(self) -> "array[int]":
        """Return the places of the modules in the order of their numbers, then of their places."""
        some = range(len(self.places))
        ordered = sorted(some, key=lambda at: (self.numbers[at], self.places[at]))
        return array("q", (self.places[at] for at in ordered))


def _holders(
    ordered: Sequence[Process], compiled: Mapping[Process, _Compiled], modules: int
) -> Sequence[tuple[int, ...]]:
    """Return the numbers of the processes that compiled each module."""
    first = array("q", bytes(8 * modules))
    more: dict[int, list[int]] = {}
    for number, process in enumerate(ordered, 1):
        for place in compiled[process].places:
            if not first[place]:
                first[place] = number
            elif number not in (first[place], *more.get(place, ())[-1:]):
                more.setdefault(place, []).append(number)
    share = SharedValues().share
    return [
        share((number, *more.get(place, ()))) if number else ()
        for place, number in enumerate(first)
    ]


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
