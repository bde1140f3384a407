"""Redirected operands that follow from merged duplicates, which are changes of their own."""

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.numbering import same_but_number


def without_merged_operands(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes without redirections from merged operands to what these merged into."""
    rows = list(changes)
    merged = {change.before for change in rows if change.kind is Kind.MERGED and change.before}
    for number, change in enumerate(rows if merged else ()):
        if change.kind is Kind.SHARED and _only_merged(matching, change, merged):
            kinds = change.kinds[1:]
            rows[number] = replace(
                change,
                kind=kinds[0] if kinds else Kind.SHARED,
                kinds=kinds,
                details=change.details[1:],
                numbering=kinds[:1] == (Kind.RENAMED,)
                and same_but_number(change.before, change.after),
            )
    return [change for change in rows if change.kinds]


def _only_merged(matching: Matching, change: Change, merged: Collection[Place]) -> bool:
    """Return whether each operand that another took the place of was merged."""
    places = change.before, change.after
    if places[0] is None or places[1] is None:
        return False
    old, new = matching.before.find(*places[0]), matching.after.find(*places[1])
    if old is None or new is None or len(old.operands) != len(new.operands):
        return False
    home = places[0].computation
    read = (Place(home, name) for name in old.operand_names)
    reads = (Place(places[1].computation, name) for name in new.operand_names)
    return all(
        was in merged or matching.partner_after(was) == now
        for was, now in zip(read, reads, strict=True)
    )
