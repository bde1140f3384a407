"""Modules of several processes that are one program, found by name, number and contents."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from xlareport.analysis.modules.processes import Process, Processes, ranks_in_one_folder
from xlareport.analysis.modules.recompilations import function_name
from xlareport.analysis.modules.summary import ModuleSummary


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
        members = [module for module in same if is_rank_of(module, same[0])]
        if len(members) > 1:
            yield name, members
    yield from find_ranks_in_one_folder(summaries, assigned)


def find_ranks_in_one_folder(
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


def is_rank_of(summary: ModuleSummary, first: ModuleSummary) -> bool:
    """Return whether modules of one name, of two processes, are one function."""
    if summary.features.content == first.features.content:
        return True
    mine, yours = set(summary.features.places), set(first.features.places)
    if mine and yours:
        return 2 * len(mine & yours) >= min(len(mine), len(yours))
    return summary.files.id is not None and summary.files.id == first.files.id
