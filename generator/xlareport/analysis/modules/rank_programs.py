"""Modules of several processes that are one program, found by name, number and contents."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

from xlareport.analysis.modules.processes import Processes, alike_programs, ranks_in_one_folder
from xlareport.analysis.modules.recompilations import function_name, share_lines
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.storage.packed_keys import ChosenValues, digest_number, group_alike


def find_rank_groups(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield name and modules of each function that several processes compiled.

    The first compilation in one process corresponds to the first in another, because numbers shift
    where one rank alone logs or saves something. Modules without common number, content or source
    lines are different functions of the same name.
    """
    yield from _across_processes(summaries, assigned)
    yield from find_ranks_in_one_folder(summaries, assigned)


def _across_processes(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield functions that several processes compiled, if the modules of each process are known."""
    times: Counter[int] = Counter()
    """Of a function in a process, by a digest."""
    functions, counted = array("q"), array("q")
    """The digest of each module's function and its time there, and the place of the module."""
    for place, module in enumerate(summaries):
        process, name = assigned[module.files.key], function_name(module.display_name)
        if process is not None and module.features.content:
            in_process = digest_number((process, name))
            times[in_process] += 1
            functions.append(digest_number((name, times[in_process])))
            counted.append(place)
    for alike in group_alike(functions):
        places = [counted[at] for at in alike]
        name = function_name(summaries[places[0]].display_name)
        first = summaries[places[0]]
        of_rank = [place for place in places if is_rank_of(summaries[place], first)]
        members = ChosenValues(summaries, of_rank)
        if len(members) > 1:
            yield name, members


def find_ranks_in_one_folder(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield equal modules that ranks wrote into one folder under different numbers."""
    for members in ranks_in_one_folder(summaries, assigned).values():
        for same in alike_programs(members):
            yield function_name(same[0].display_name), same


def is_rank_of(summary: ModuleSummary, first: ModuleSummary) -> bool:
    """Return whether modules of the same name in two processes are the same function."""
    if summary.features.content == first.features.content:
        return True
    shared = share_lines(summary, first)
    if shared is not None:
        return shared
    return summary.files.id is not None and summary.files.id == first.files.id
