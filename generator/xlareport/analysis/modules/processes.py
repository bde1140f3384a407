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
Processes = Mapping[str, Process | None]
"""The process of each module by its key; None where it is not known."""


def assign_processes(summaries: Iterable[ModuleSummary]) -> Processes:
    """Return the process of each module by its key; None where it is not known."""
    assigned: dict[str, Process | None] = {}
    for where, members in group_by_folder(summaries).items():
        for module, number in zip(members, _numbers(members), strict=True):
            assigned[module.files.key] = None if number is None else (where, number)
    return assigned


def ranks_in_one_folder(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Mapping[str, Sequence[ModuleSummary]]:
    """Return, by folder, the modules of ranks that cannot be told apart by number and time.

    That they are ranks of one program shows in modules of one name and one content under several
    numbers, which a process compiles once; folders without any are those of unrelated programs.
    """
    unknown = [
        summary
        for summary in summaries
        if assigned[summary.files.key] is None and summary.features.content
    ]
    return {
        where: members
        for where, members in group_by_folder(unknown).items()
        if len({_program(member) for member in members}) < len(members)
    }


def select_programs(members: Sequence[ModuleSummary]) -> Sequence[ModuleSummary]:
    """Return each program of ranks in one folder once, in the order of the one that has most.

    A rank that compiles more than the others gives its modules the higher numbers.
    """
    last = {_program(member): member for member in sorted(members, key=_number)}
    return sorted(last.values(), key=_number)


def _program(module: ModuleSummary) -> tuple[str, str]:
    return module.display_name, module.features.content


def _number(module: ModuleSummary) -> int:
    return module.files.id or 0


def group_by_folder(summaries: Iterable[ModuleSummary]) -> Mapping[str, list[ModuleSummary]]:
    """Return the modules of each folder that processes wrote to, in their order."""
    folders: dict[str, list[ModuleSummary]] = defaultdict(list)
    for module in summaries:
        folders[name_folder(module)].append(module)
    return folders


def name_folder(module: ModuleSummary) -> str:
    """Return the folder that XLA wrote to, with the process where that has a folder of its own."""
    return module.files.figures.process_folder or module.files.folder


def _numbers(members: Sequence[ModuleSummary]) -> Sequence[int | None]:
    """Return the number of each module's process: in one folder, in the order of time.

    Files beside the snapshots bear no timestamp, so that those of several processes are one.
    """
    compiled = [at for at, member in enumerate(members) if member.stages]
    most = max(Counter(_ids(members[at] for at in compiled)).values(), default=1)
    if most == 1:
        return [0] * len(members)
    numbers: list[int | None] = [None] * len(members)
    in_time = sorted(
        compiled, key=lambda at: (_written(members[at]) or 0, members[at].files.id or 0)
    )
    process, last = -1, None
    for at in in_time:
        number = members[at].files.id
        if number is not None:
            process += last is None or number <= last
            last = number
            numbers[at] = process
    known = all(_written(members[at]) for at in compiled) and process + 1 == most
    if not known or _repeats((numbers[at], members[at]) for at in compiled):
        return [None] * len(members)
    return numbers


def _repeats(modules: Iterable[tuple[int | None, ModuleSummary]]) -> bool:
    """Return whether one process would have compiled a program twice: then ranks ran side by side.

    Programs of one form differ in their constants, as static arguments do.
    """
    programs = (
        (process, _program(module), module.features.scalars)
        for process, module in modules
        if module.features.content
    )
    return max(Counter(programs).values(), default=1) > 1


def _ids(members: Iterable[ModuleSummary]) -> Iterable[int]:
    return (member.files.id for member in members if member.files.id is not None)


def _written(module: ModuleSummary) -> float | None:
    """Return when compilation began as far as the dump tells: microseconds, or seconds of files."""
    if module.files.timestamp is not None:
        return float(module.files.timestamp)
    written = module.files.figures.written
    return None if written is None else written * 1e6
