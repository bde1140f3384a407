"""What holds between modules, as records: links, retraces, ranks, eager operations."""

from collections.abc import Iterable, Sequence

from xlareport.analysis.modules.ranks import RankGroup
from xlareport.analysis.modules.retraces import RetraceGroup
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.records.report import (
    RankGroupView,
    RetraceGroupView,
)


def retrace_views(found: Iterable[RetraceGroup]) -> tuple[RetraceGroupView, ...]:
    """Return retraced functions as records."""
    return tuple(
        RetraceGroupView(
            name=one.name,
            modules=_keys(one.members),
            differences=one.differences,
            reason=one.reason,
            changed_steps=one.changed_steps,
        )
        for one in found
    )


def rank_views(found: Iterable[RankGroup]) -> tuple[RankGroupView, ...]:
    """Return programs of several processes as records."""
    return tuple(
        RankGroupView(one.name, _keys(one.members), one.differences, one.collectives)
        for one in found
    )


def group_places(groups: Sequence[RetraceGroup]) -> dict[str, int]:
    """Return the place of each module's retrace group by the module's key."""
    return {one.files.key: place for place, group in enumerate(groups) for one in group.members}


def _keys(members: Iterable[ModuleSummary]) -> tuple[str, ...]:
    return tuple(one.files.key for one in members)
