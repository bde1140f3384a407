"""Modules that a compiler cut out of another one, to compile or to time them alone."""

from collections.abc import Iterable, Iterator, Sequence

from xlareport.analysis.modules.summary import ModuleSummary

_STAGES = 4


def find_autotuning_pieces(summaries: Sequence[ModuleSummary]) -> frozenset[str]:
    """Return the keys of modules without the beginning of a compilation that others have."""
    if not any(map(_has_beginning, summaries)):
        return frozenset()
    return frozenset(_keys(summaries))


def _keys(summaries: Iterable[ModuleSummary]) -> Iterator[str]:
    for summary in summaries:
        if not _has_beginning(summary) and len(summary.stages) <= _STAGES:
            yield summary.files.key


def _has_beginning(summary: ModuleSummary) -> bool:
    return any(stage.stage.name.startswith("before_optimization") for stage in summary.stages)
