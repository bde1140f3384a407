"""A program compiled by several processes: equal modules merged, with differences.

Ranks that run their collectives in different orders wait for each other forever, so this is the
first thing to check in a hang.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.modules.features import CollectiveCall
from xlareport.analysis.modules.rank_programs import find_ranks_in_one_folder
from xlareport.analysis.modules.recompilations import Difference
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks.columns import RankColumn, find_columns
from xlareport.analysis.ranks.difference import gravest_of
from xlareport.analysis.ranks.members import RankTable
from xlareport.analysis.ranks.numbers import RankNumbers, rank_numbers
from xlareport.analysis.ranks.verdicts import RankDifference, RankVerdict

_SHOWN = 5
_NAMED = 8


class RankGroup(Struct, frozen=True):
    """A program as each process compiled it; modules with equal contents are merged."""

    name: str
    modules: tuple[str, ...]
    """Their keys, that of most processes first."""
    differences: tuple[Difference, ...]
    """The order of collectives first."""
    collectives: int | None = None
    """Number of collectives of each module, if their order is equal; else None."""
    ranks: tuple[RankNumbers, ...] = ()
    """The numbers of the processes that compiled each module: `1-16,18`."""
    missing: RankNumbers = RankNumbers()
    """Processes that did not compile it, although they compiled what the others did."""
    verdict: RankVerdict = RankVerdict.SAME
    """The gravest of its modules."""
    first: RankDifference | None = None
    """The first difference of that verdict; None if there is none or none was searched."""
    others: tuple[RankDifference, ...] = ()
    """The differences of the other modules that are not equal."""


def group_ranks(
    summaries: Sequence[ModuleSummary],
    table: RankTable,
    compared: Mapping[str, RankDifference] | None = None,
) -> tuple[RankGroup, ...]:
    """Return the functions that several processes compiled, with their modules merged.

    `compared` are the differences between modules, by the key of the rarer module.
    """
    named = {
        key: _with_rank_names(difference, table) for key, difference in (compared or {}).items()
    }
    every = find_columns(summaries, table.holders) if len(table.names) > 1 else ()
    columns = (
        without_stranger
        for column in every
        for without_stranger in _without_strangers(column, named)
    )
    groups = [
        _of_column(column, named) for column in columns if len(column.holders) > 1 or column.missing
    ]
    for name, members in find_ranks_in_one_folder(summaries, table.assigned):
        groups.append(_group(name, list(members)))
    return tuple(groups)


def _with_rank_names(difference: RankDifference, table: RankTable) -> RankDifference:
    numbers = table.holders[difference.module][:_NAMED]
    return replace(difference, ranks=tuple(table.names[number - 1] for number in numbers))


def _without_strangers(
    column: RankColumn, compared: Mapping[str, RankDifference]
) -> Iterator[RankColumn]:
    """Yield the column, and each of its modules that is another program by itself."""
    members = list(zip(column.members, column.ranks, strict=True))
    inside = [member for member in members if not _is_stranger(member[0], compared)]
    yield replace(
        column,
        members=tuple(module for module, _ in inside),
        ranks=tuple(ranks for _, ranks in inside),
    )
    for module, ranks in members:
        if _is_stranger(module, compared):
            yield RankColumn(column.name, (module,), (ranks,))


def _is_stranger(module: ModuleSummary, compared: Mapping[str, RankDifference]) -> bool:
    difference = compared.get(module.files.key)
    return difference is not None and difference.kind == "stage"


def _of_column(column: RankColumn, compared: Mapping[str, RankDifference]) -> RankGroup:
    differing = [
        compared[member.files.key] for member in column.members if member.files.key in compared
    ]
    first = gravest_of(differing)
    unseen = RankVerdict.SAME if len(column.members) == 1 else RankVerdict.UNKNOWN
    return replace(
        _group(column.name, list(column.members)),
        ranks=tuple(map(rank_numbers, column.ranks)),
        missing=rank_numbers(column.missing),
        verdict=first.verdict if first else unseen,
        first=first,
        others=tuple(name for name in differing if name is not first),
    )


def _group(name: str, members: Sequence[ModuleSummary]) -> RankGroup:
    keys = tuple(member.files.key for member in members)
    orders = {member.features.collectives for member in members}
    same = len(members[0].features.collectives) if len(orders) == 1 else None
    return RankGroup(name, keys, tuple(_differences(members)), same)


def _differences(members: Sequence[ModuleSummary]) -> Iterator[Difference]:
    yield from _orders([member.features.collectives for member in members])
    for what, values in (
        (
            "program before optimizations",
            _lettered([member.features.content for member in members]),
        ),
        (
            "devices each was partitioned over",
            [str(member.signature.partitions) for member in members],
        ),
        (
            "instructions after optimizations",
            [str(member.final.instructions) for member in members],
        ),
    ):
        if len(set(values)) > 1:
            yield Difference(what, tuple(values))


def _lettered(values: Sequence[str]) -> list[str]:
    """Return a name for each value, the same one for the same: `program 1`, `program 2`."""
    different = list(dict.fromkeys(values))
    return [f"program {different.index(value) + 1}" for value in values]


def _orders(calls: Sequence[tuple[CollectiveCall, ...]]) -> Iterator[Difference]:
    """Yield the first places at which not all processes run the same collective."""
    value = 0
    for number, row in enumerate(zip_longest(*calls), 1):
        if len(set(row)) > 1 and value < _SHOWN:
            value += 1
            cells = tuple("none" if item is None else str(item) for item in row)
            yield Difference(f"collective {number} in order", cells)
