"""Modules that a compiler cut out of another one, to compile or to time them alone."""

from collections.abc import Iterable

from msgspec import Struct

from xlareport.analysis.modules.summary import ModuleSummary

_STAGES = 4


class AutotuningPieces(Struct, frozen=True):
    """The modules without first snapshots, in a dump where other modules have them."""

    others: bool
    """Whether others have first snapshots; if not, no module is such a piece."""

    def __contains__(self, summary: ModuleSummary) -> bool:
        return self.others and len(summary.stages) <= _STAGES and not _has_beginning(summary)


def find_autotuning_pieces(summaries: Iterable[ModuleSummary]) -> AutotuningPieces:
    """Return the set of modules without the first snapshot that other modules have."""
    return AutotuningPieces(any(map(_has_beginning, summaries)))


def _has_beginning(summary: ModuleSummary) -> bool:
    return any(stage.stage.name.startswith("before_optimization") for stage in summary.stages)
