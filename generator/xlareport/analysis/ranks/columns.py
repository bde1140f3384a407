"""Which modules of several processes are one program, and who lacks it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.modules.ranks import is_rank_of
from xlareport.analysis.modules.recompilations import function_name
from xlareport.analysis.modules.summary import ModuleSummary

_ALIKE = 0.5
"""The share of their bytes that two processes have in common which compile one program."""


@dataclass(frozen=True, slots=True)
class RankColumn:
    """One program as the processes compiled it; modules of equal contents are one."""

    name: str
    members: tuple[ModuleSummary, ...]
    """The module of most processes first."""
    ranks: tuple[tuple[int, ...], ...]
    """The processes of each of them."""
    missing: tuple[int, ...] = ()
    """Processes that compiled what the others did, and not this."""

    @property
    def holders(self) -> frozenset[int]:
        """All processes that compiled it."""
        return frozenset(number for some in self.ranks for number in some)


def find_columns(
    summaries: Sequence[ModuleSummary], holders: Mapping[str, Sequence[int]]
) -> tuple[RankColumn, ...]:
    """Put together what processes compiled of one function; what one alone compiled counts too."""
    named: dict[str, list[list[ModuleSummary]]] = defaultdict(list)
    for module in summaries:
        if holders[module.files.key] and module.features.content:
            columns = named[function_name(module.display_name)]
            column = _column_of(module, columns, holders)
            if column is None:
                columns.append([module])
            else:
                column.append(module)
    plain = [
        _column(name, members, holders) for name, columns in named.items() for members in columns
    ]
    return tuple(_with_missing(plain))


def _column_of(
    module: ModuleSummary,
    columns: Sequence[list[ModuleSummary]],
    holders: Mapping[str, Sequence[int]],
) -> list[ModuleSummary] | None:
    """Return the column of a module: of those that its processes are not in, the most alike."""
    mine = set(holders[module.files.key])
    free = [
        column
        for column in columns
        if not any(mine & {*holders[member.files.key]} for member in column)
        and is_rank_of(module, column[0])
    ]
    same = (column for column in free if column[0].features.content == module.features.content)
    return next(same, free[0] if free else None)


def _column(
    name: str, members: Sequence[ModuleSummary], holders: Mapping[str, Sequence[int]]
) -> RankColumn:
    ordered = sorted(members, key=lambda module: -len(holders[module.files.key]))
    ranks = tuple(tuple(holders[module.files.key]) for module in ordered)
    return RankColumn(name, tuple(ordered), ranks)


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
        first = next((known for known in groups if _is_alike(some, known, weights)), some)
        home[some] = first
        groups.setdefault(first, set())
    for number, places in held.items():
        groups[home[frozenset(places)]].add(number)
    return tuple(frozenset(members) for members in groups.values())


def _is_alike(some: frozenset[int], known: frozenset[int], weights: Mapping[int, int]) -> bool:
    shared = sum(weights[at] for at in some & known)
    every = sum(weights[at] for at in some | known)
    return some <= known or shared >= _ALIKE * every
