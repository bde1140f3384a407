"""Sums and products within regrouped ones, in a headline: neither only removed nor only added."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.matching.search.reasons import PartOfRegrouped, RegroupedInto
from xlareport.analysis.steps.group_counts import AFTER, BEFORE, counted
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.phrases import phrase
from xlareport.runtime import english

_SIDES = (Kind.REMOVED, Kind.ADDED)


def headline_phrase(kind: Kind, every: Mapping[Kind, Sequence[ChangeGroup]]) -> str:
    """Return the phrase of a kind for a headline; '' where another phrase says all of it.

    What was removed of a regrouped sum and what was added to it is counted as regrouped, once.
    """
    if kind not in _SIDES:
        return phrase(kind, every)
    former, new = ([*filter(_is_regrouped, every.get(side, ()))] for side in _SIDES)
    if not former or not new:
        return phrase(kind, every)
    others = [group for group in every[kind] if not _is_regrouped(group)]
    parts = [phrase(kind, {**every, kind: others})] if others else []
    return english.listing([*([_regrouped(former, new)] if kind is Kind.REMOVED else []), *parts])


def _regrouped(former: Sequence[ChangeGroup], new: Sequence[ChangeGroup]) -> str:
    """Return `regrouped 2 adds`, or `regrouped 1 subtract as 1 add` where these differ."""
    before, after = counted(former, BEFORE), counted(new, AFTER)
    return f"regrouped {before}" if before == after else f"regrouped {before} as {after}"


def _is_regrouped(group: ChangeGroup) -> bool:
    return isinstance(group.changes[0].reason, PartOfRegrouped | RegroupedInto)
