"""What holds between modules, as records: links, retraces, ranks, eager operations."""

from collections.abc import Iterable, Sequence

from xlareport.analysis.modules.eager import EagerFunction
from xlareport.analysis.modules.links import ModuleLink
from xlareport.analysis.modules.ranks import RankGroup
from xlareport.analysis.modules.retraces import Difference, RetraceGroup
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.records.report import (
    DifferenceView,
    EagerFunctionView,
    LinkView,
    RankGroupView,
    RetraceGroupView,
)


def link_views(found: Iterable[ModuleLink]) -> tuple[LinkView, ...]:
    """Return links as records."""
    return tuple(
        LinkView(one.source, one.target, one.grade, one.tensors, one.reason, one.via)
        for one in found
    )


def retrace_views(found: Iterable[RetraceGroup]) -> tuple[RetraceGroupView, ...]:
    """Return retraced functions as records."""
    return tuple(
        RetraceGroupView(
            name=one.name,
            modules=_keys(one.members),
            differences=_differences(one.differences),
            reason=one.reason,
            changed_steps=one.changed_steps,
        )
        for one in found
    )


def rank_views(found: Iterable[RankGroup]) -> tuple[RankGroupView, ...]:
    """Return programs of several processes as records."""
    return tuple(
        RankGroupView(one.name, _keys(one.members), _differences(one.differences), one.collectives)
        for one in found
    )


def eager_views(found: Iterable[EagerFunction]) -> tuple[EagerFunctionView, ...]:
    """Return functions that ran operations one by one as records."""
    return tuple(EagerFunctionView(one.name, one.modules) for one in found)


def group_places(groups: Sequence[RetraceGroup]) -> dict[str, int]:
    """Return the place of each module's retrace group by the module's key."""
    return {one.files.key: place for place, group in enumerate(groups) for one in group.members}


def _keys(members: Iterable[ModuleSummary]) -> tuple[str, ...]:
    return tuple(one.files.key for one in members)


def _differences(found: Iterable[Difference]) -> tuple[DifferenceView, ...]:
    return tuple(DifferenceView(one.what, one.values) for one in found)
