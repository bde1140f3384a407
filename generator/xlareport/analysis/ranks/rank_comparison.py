"""Has the worker pool compare the modules of ranks that are one program and not the same."""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.modules.processes import places_of
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks.columns import find_columns
from xlareport.analysis.ranks.difference import RankPair, compare_rank_pair
from xlareport.analysis.ranks.members import RankTable
from xlareport.analysis.ranks.verdicts import RankDifference
from xlareport.dump.modules import ModuleFiles
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import guard
from xlareport.runtime.worker_pool import Workers

_MOST_KNOWN = 4
"""Modules of a column that are known to be the same program and are yet parsed to be compared."""
_MOST_MODULES = 1_000
"""Modules that are compared; further ones are not."""
RankComparison = tuple[Mapping[str, RankDifference], tuple[Problem, ...]]


def compare_ranks(
    summaries: Sequence[ModuleSummary],
    table: RankTable,
    modules: Sequence[ModuleFiles],
    workers: Workers,
    originals: Mapping[str, str],
) -> RankComparison:
    """Return, by its key, where each module differs from that of most ranks, and what failed.

    `modules` are the files of the summaries, in their order.

    `originals` are, by the key of a module that repeats another one but for names, that one's.
    """
    pairs = list(_rank_pairs(summaries, table, modules, originals))
    results = list(workers.stream_in_order(_compared, pairs[:_MOST_MODULES], _died))
    compared = [result for result in results if isinstance(result, RankDifference)]
    problems = [result for result in results if isinstance(result, Problem)]
    if len(pairs) > _MOST_MODULES:
        left = f"{len(pairs) - _MOST_MODULES:,} modules of ranks were not compared"
        message = f"{left}: more than {_MOST_MODULES:,}."
        problems.append(Problem(pairs[_MOST_MODULES].module.key, None, message))
    return {difference.module: difference for difference in compared}, tuple(problems)


def _rank_pairs(
    summaries: Sequence[ModuleSummary],
    table: RankTable,
    modules: Sequence[ModuleFiles],
    originals: Mapping[str, str],
) -> Iterator[RankPair]:
    if len(table.names) < 2:
        return
    places = places_of(summaries)
    for column in find_columns(summaries, table.holders):
        reference = modules[places[column.members[0].files.key]]
        program = originals.get(reference.key, reference.key)
        known = 0
        for module in column.members[1:]:
            is_equivalent = originals.get(module.files.key, module.files.key) == program
            known += is_equivalent
            other = modules[places[module.files.key]]
            yield RankPair(reference, other, by_lines=is_equivalent and known > _MOST_KNOWN)


def _compared(pair: RankPair) -> RankDifference | Problem:
    def compared() -> RankDifference | Problem:
        return compare_rank_pair(pair)

    return guard(compared, lambda reason: _failed(pair, reason))


def _died(pair: RankPair) -> RankDifference | Problem:
    return _failed(pair, "the process that compared it died")


def _failed(pair: RankPair, reason: str) -> Problem:
    message = f"It could not be compared with {pair.reference.key} of other ranks: {reason}."
    return Problem(pair.module.key, None, message, is_fault=True)
