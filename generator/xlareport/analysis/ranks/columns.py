"""Which modules of several processes are one program, and who lacks it."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.modules.autotuning_pieces import find_autotuning_pieces
from xlareport.analysis.modules.rank_programs import is_rank_of
from xlareport.analysis.modules.recompilations import function_name
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.storage.packed_keys import ChosenValues

_ALIKE = 0.5
"""The share of their bytes that two processes have in common which compile one program."""


class RankColumn(Struct, frozen=True):
    """A program as the processes compiled it; modules with equal contents are merged."""

    name: str
    members: Sequence[ModuleSummary]
    """The module of most processes first."""
    ranks: tuple[tuple[int, ...], ...]
    """The processes of each member."""
    missing: tuple[int, ...] = ()
    """Processes that compiled the other modules, but not this one."""

    @property
    def holders(self) -> frozenset[int]:
        """All processes that compiled it."""
        return frozenset(number for some in self.ranks for number in some)


def find_columns(
    summaries: Sequence[ModuleSummary], holders: Mapping[str, Sequence[int]]
) -> tuple[RankColumn, ...]:
    """Return the modules of each function over all processes, including those of one process.

    Without modules extracted for autotuning: each process numbers its own anew.
    """
    pieces = find_autotuning_pieces(summaries)
    functions = {function_name(module.display_name) for module in summaries if module not in pieces}
    named: dict[str, _Columns] = defaultdict(lambda: _Columns(summaries))
    held = [holders[module.files.key] for module in summaries]
    for place, module in enumerate(summaries):
        name = function_name(module.display_name)
        if held[place] and module.features.content and name in functions:
            named[name].add(place, module, held[place])
    plain = [
        _column(name, ChosenValues(summaries, places), held)
        for name, columns in named.items()
        for places in columns.members
    ]
    return tuple(_with_missing(plain))


class _Columns(Struct):
    """The columns of one name, while they are collected."""

    summaries: Sequence[ModuleSummary]
    members: "list[array[int]]" = field(default_factory=list)
    """The indices of the modules of each column."""
    held: list[set[int]] = field(default_factory=list)
    """The processes of each column."""
    columns_of: Counter[int] = field(default_factory=Counter)
    """In how many columns each process is."""

    def add(self, module_place: int, module: ModuleSummary, numbers: Sequence[int]) -> None:
        """Add the module of some processes to the most similar column, or to a new one."""
        place = self._place_of(module, numbers)
        if place is None:
            place = len(self.members)
            self.members.append(array("q"))
            self.held.append(set())
        self.members[place].append(module_place)
        self.held[place].update(numbers)
        self.columns_of.update(numbers)

    def _place_of(self, module: ModuleSummary, numbers: Sequence[int]) -> int | None:
        """Return the most similar column for a module, among those without its processes."""
        if any(self.columns_of[number] == len(self.members) for number in numbers):
            return None  # as in a dump of one process, which may have thousands of one name
        free = [
            place
            for place, held in enumerate(self.held)
            if held.isdisjoint(numbers) and is_rank_of(module, self._first_summary(place))
        ]
        content = module.features.content
        same = (place for place in free if self._first_summary(place).features.content == content)
        return next(same, free[0] if free else None)

    def _first_summary(self, place: int) -> ModuleSummary:
        return self.summaries[self.members[place][0]]


def _column(
    name: str, members: ChosenValues[ModuleSummary], held: Sequence[Sequence[int]]
) -> RankColumn:
    """Return a column; `held` are the processes of each module of the dump."""
    ordered = sorted(members.places, key=lambda place: -len(held[place]))
    ranks = tuple(tuple(held[place]) for place in ordered)
    return RankColumn(name, ChosenValues(members.values, array("q", ordered)), ranks)


def _with_missing(columns: Sequence[RankColumn]) -> Iterator[RankColumn]:
    """Yield the columns with the processes that lack them, although they run the same program."""
    programs = group_programs(columns)
    for column in columns:
        members = column.holders
        missing = [
            number
            for program in programs
            if 2 * len(members & program) > len(program)
            for number in sorted(program - members)
        ]
        yield RankColumn(column.name, column.members, column.ranks, tuple(missing))


def group_programs(columns: Sequence[RankColumn]) -> tuple[frozenset[int], ...]:
    """Return the processes in groups that compiled, for the most part, the same modules.

    Stages of a pipeline compile other modules and are groups of their own. A process that compiled
    a part of what another one did belongs to it.
    """
    weights = {at: column.members[0].files.bytes for at, column in enumerate(columns)}
    held: dict[int, set[int]] = defaultdict(set)
    for at, column in enumerate(columns):
        for number in column.holders:
            held[number].add(at)
    sets = Counter(frozenset(some) for some in held.values())
    groups: dict[frozenset[int], set[int]] = {}
    home: dict[frozenset[int], frozenset[int]] = {}
    for some in sorted(sets, key=lambda set_: (-len(set_), -sets[set_])):
        first = next((group for group in groups if _is_alike(some, group, weights)), some)
        home[some] = first
        groups.setdefault(first, set())
    for number, places in held.items():
        groups[home[frozenset(places)]].add(number)
    return tuple(frozenset(members) for members in groups.values())


def _is_alike(some: frozenset[int], known: frozenset[int], weights: Mapping[int, int]) -> bool:
    shared = sum(weights[at] for at in some & known)
    every = sum(weights[at] for at in some | known)
    return some <= known or shared >= _ALIKE * every
