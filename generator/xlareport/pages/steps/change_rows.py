"""The rows of a step's changes: the first few of a group with it, the others on demand."""

from collections.abc import Iterator, Sequence
from typing import Any

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps import wording
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.clauses import computation_of
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.mentions import MOST_MEMBERS, places_after, places_before
from xlareport.storage.payloads import Payload, make_payload

_MOST_ROWS = 500
"""Of one payload, which the page draws at once."""

_Chunk = list[tuple[int, Sequence[Change]]]
"""Numbers of groups, each with changes of the group, which share a payload."""


def row(change: Change) -> dict[str, Any]:
    """Return a change as the page script takes it."""
    return {
        "before": _names(places_before(change), change),
        "after": _names(places_after(change), change),
        "where": wording.short(computation_of(change)),
        "reason": _reason(change),
        "grade": str(change.grade),
    }


def further_rows(groups: Sequence[ChangeGroup], key: str) -> Iterator[Payload]:
    """Yield the payloads with the rows that are not in the payload of the step itself."""
    for number, chunk in enumerate(_chunks(groups)):
        yield make_payload(_rows_key(key, number), [[*map(row, changes)] for _, changes in chunk])


def row_places(groups: Sequence[ChangeGroup], key: str) -> list[list[tuple[str, int]]]:
    """Return where the further rows of each group are: keys of payloads, and places in these."""
    places: list[list[tuple[str, int]]] = [[] for _ in groups]
    for number, chunk in enumerate(_chunks(groups)):
        for place, (group, _) in enumerate(chunk):
            places[group].append((_rows_key(key, number), place))
    return places


def _rows_key(key: str, number: int) -> str:
    return f"{key}-rows-{number}"


def _chunks(groups: Sequence[ChangeGroup]) -> list[_Chunk]:
    chunks: list[_Chunk] = []
    room = 0
    for number, group in enumerate(groups):
        left = group.changes[len(group.examples) :]
        while left:
            if not room:
                chunks.append([])
                room = _MOST_ROWS
            chunks[-1].append((number, left[:room]))
            left, room = left[room:], max(room - len(left), 0)
    return chunks


def _reason(change: Change) -> str:
    """Return the reason and the differences; what the reason has already is left out."""
    details = [str(detail) for detail in change.details]
    reason = str(change.reason)
    return "; ".join(filter(None, (reason, *(text for text in details if text not in reason))))


def _names(places: Sequence[Place], change: Change) -> str | list[str | int] | None:
    """Return the instruction's name; of a fusion or an inlined call, the names of its members.

    A number at the end counts the names that are not listed.
    """
    if places is change.members and places:
        shown: list[str | int] = [f"%{place.instruction}" for place in places[:MOST_MEMBERS]]
        more = len(places) - MOST_MEMBERS
        return [*shown, more] if more > 0 else shown
    return f"%{places[0].instruction}" if places else None
