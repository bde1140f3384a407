"""Modules that carry a state: they return what they take, updated; others only look at it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from xlareport.analysis.modules.summary import ModuleSummary

_FEW = 4


def count_arguments(summary: ModuleSummary) -> Counter[str]:
    """Count the shapes that a module takes, scalars aside."""
    return Counter(
        argument.shape
        for argument in summary.features.given.arguments
        if "[]" not in argument.shape
    )


def count_results(summary: ModuleSummary) -> Counter[str]:
    """Count the shapes that a module returns, scalars aside."""
    return Counter(
        result.shape for result in summary.features.given.results if "[]" not in result.shape
    )


def updates_state(summary: ModuleSummary) -> bool:
    """Return whether a module returns many of its arguments updated, as a training step does."""
    given = count_arguments(summary)
    back = (given & count_results(summary)).total()
    return back >= 2 and 4 * back >= given.total() and summary.features.operation_count > _FEW


def count_state_arguments(summary: ModuleSummary, other: ModuleSummary) -> int:
    """Count the arguments that one shares with a module that trains, and does not return itself."""
    if not updates_state(other) or updates_state(summary):
        return 0
    mine = count_arguments(summary)
    shared = (mine & count_arguments(other) & count_results(other)).total()
    return shared if shared >= 2 and 2 * shared >= mine.total() else 0


def find_state_readers(summaries: Sequence[ModuleSummary]) -> Mapping[str, frozenset[str]]:
    """Return for each module that trains the keys of those that only look at its state.

    Modules of one signature are compared once: a dump can hold thousands of them.
    """
    alike: dict[_Signature, list[ModuleSummary]] = defaultdict(list)
    for summary in summaries:
        alike[_signature(summary)].append(summary)
    firsts = [(members[0], members) for members in alike.values()]
    steps = [(first, members) for first, members in firsts if updates_state(first)]
    others = [(first, members) for first, members in firsts if not updates_state(first)]
    readers: dict[str, frozenset[str]] = {}
    for step, same in steps:
        watching = [members for summary, members in others if count_state_arguments(summary, step)]
        keys = frozenset(member.files.key for members in watching for member in members)
        readers |= {summary.files.key: keys for summary in same}
    return readers


_Signature = tuple[tuple[str, ...], tuple[str, ...], bool]


def _signature(summary: ModuleSummary) -> _Signature:
    given = summary.features.given
    shapes = (
        tuple(argument.shape for argument in given.arguments),
        tuple(result.shape for result in given.results),
    )
    return (*shapes, summary.features.operation_count > _FEW)
