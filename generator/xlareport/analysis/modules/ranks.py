"""One program compiled by several processes: the same modules put together, and what differs.

Ranks that run their collectives in different orders wait for each other for ever, so that this is
the first thing to look at in a hang.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from xlareport.analysis.modules.features import CollectiveCall
from xlareport.analysis.modules.processes import Process, Processes, ranks_in_one_folder
from xlareport.analysis.modules.recompilations import Difference, function_name
from xlareport.analysis.modules.summary import ModuleSummary

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RankGroup:
    """One program as each process compiled it."""

    name: str
    modules: tuple[str, ...]
    """Their keys."""
    differences: tuple[Difference, ...]
    """The order of collectives first."""
    collectives: int | None = None
    """How many collectives each of them runs, in one order; None where they do not agree."""


def group_ranks(summaries: Sequence[ModuleSummary], assigned: Processes) -> tuple[RankGroup, ...]:
    """Put together what several processes compiled of one function, and compare it."""
    return tuple(_group(name, members) for name, members in find_rank_groups(summaries, assigned))


def _group(name: str, members: Sequence[ModuleSummary]) -> RankGroup:
    keys = tuple(member.files.key for member in members)
    orders = {member.features.collectives for member in members}
    same = len(members[0].features.collectives) if len(orders) == 1 else None
    return RankGroup(name, keys, tuple(_differences(members)), same)


def find_rank_groups(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield the name and the modules of each function that several processes compiled.

    Its first compilation in one process goes with the first in another: their numbers shift where
    one rank alone logs or saves something. What has neither number nor contents nor source lines
    in common is another function of the same name.
    """
    times: Counter[tuple[Process, str]] = Counter()
    named: dict[tuple[str, int], list[ModuleSummary]] = defaultdict(list)
    for module in summaries:
        process, name = assigned[module.files.key], function_name(module.display_name)
        if process is not None and module.features.content:
            times[process, name] += 1
            named[name, times[process, name]].append(module)
    for (name, _), same in named.items():
        members = [module for module in same if _is_rank_of(module, same[0])]
        if len(members) > 1:
            yield name, members
    yield from _of_one_folder(summaries, assigned)


def _of_one_folder(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield modules of one name and content that ranks wrote into one folder under own numbers."""
    for members in ranks_in_one_folder(summaries, assigned).values():
        alike: dict[tuple[str, str], list[ModuleSummary]] = defaultdict(list)
        for module in members:
            alike[module.display_name, module.features.content].append(module)
        for (name, _), same in alike.items():
            if len(same) > 1:
                yield function_name(name), same


def _is_rank_of(summary: ModuleSummary, first: ModuleSummary) -> bool:
    if summary.features.content == first.features.content:
        return True
    mine, yours = set(summary.features.places), set(first.features.places)
    if mine and yours:
        return 2 * len(mine & yours) >= min(len(mine), len(yours))
    return summary.files.id is not None and summary.files.id == first.files.id


def _differences(members: Sequence[ModuleSummary]) -> Iterator[Difference]:
    yield from _orders([member.features.collectives for member in members])
    for what, values in (
        (
            "what they compute, as they came in",
            _lettered([member.features.content for member in members]),
        ),
        (
            "devices each was partitioned over",
            [str(member.signature.partitions) for member in members],
        ),
        ("instructions left", [str(member.final.instructions) for member in members]),
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
            result = tuple("none" if item is None else str(item) for item in row)
            yield Difference(f"collective {number} in order", result)
