"""The events of an instruction's history, derived from matchings."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from msgspec.structs import replace

from xlareport.analysis.history.branch_operands import branch_operands
from xlareport.analysis.history.changed_bodies import changed_body
from xlareport.analysis.history.continued import (
    is_in_continued_computation,
    without_dead_clones,
    without_left,
)
from xlareport.analysis.history.given_results import GivenResult
from xlareport.analysis.history.inserted_work import inserted_before
from xlareport.analysis.history.operand_types import operand_types
from xlareport.analysis.history.regrouped_operands import regrouped_operands
from xlareport.analysis.history.scattered_updates import scattered_updates
from xlareport.analysis.matching.account.fused import outermost
from xlareport.analysis.matching.search.pairing import (
    ChangeCause,
    PairEvidence,
    Pairing,
    Place,
    Relation,
)
from xlareport.analysis.matching.search.reasons import PartialResults, TakenOut
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import holders_of
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.steps.details import Difference
from xlareport.analysis.steps.differences import compare
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.later_operands import with_later_operands
from xlareport.analysis.steps.operands import compare_operands
from xlareport.analysis.steps.summed_dimensions import compare_sums
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import DENSE_PRODUCTS, REARRANGEMENTS
from xlareport.knowledge.grades import Grade, weakest
from xlareport.runtime import units
from xlareport.runtime.english import first_few


class Event(StrEnum):
    """The kind of change of an instruction in a step."""

    FIRST = "in the input"
    ADDED = "added"
    CREATED = "created"
    """A new fusion or call, created from its contents."""
    RENAMED = "renamed"
    CHANGED = "changed"
    MOVED = "moved"
    FUSED = "fused"
    ABSORBED = "absorbed"
    INLINED = "inlined"
    REWRITTEN = "rewritten"
    COMBINED = "combined"
    SPLIT = "split"
    EXPANDED = "expanded"
    ASYNC = "made asynchronous"
    REPLACED = "replaced"
    MERGED = "merged"
    CLONED = "cloned"
    REBUILT = "rebuilt"
    REMOVED = "removed"
    UNTRACED = "not traced"
    """Only before or only after; what it became, or where it comes from, is not known."""
    LAST = "in the last snapshot"


class HistoryEvent(NamedTuple):
    """One event in the history of an instruction."""

    number: int
    """The index of the snapshot."""
    event: Event
    instruction: Place
    """Place of the instruction in the snapshot; its last place if it was removed."""
    sources: tuple[Place, ...]
    """The instructions that it came from, in the previous snapshot."""
    targets: tuple[Place, ...]
    """The instructions that it became."""
    confidence: Grade
    why: str
    """The reason, or the differences, without those of metadata."""
    metadata: str = ""
    """The difference of metadata, which has no effect; empty without one."""

    @property
    def stage(self) -> int:
        """Another name of `number`, until 1.0."""
        return self.number

    @property
    def came_from(self) -> tuple[Place, ...]:
        """The sources that are worth naming: not what goes on under its name.

        A new fusion may have the name of one that it holds.
        """
        if self.event is Event.CREATED:
            return self.sources
        return tuple(place for place in self.sources if place != self.instruction)

    @property
    def became(self) -> tuple[Place, ...]:
        """The targets that were no source: not an original that stays beside its clone."""
        return tuple(target for target in self.targets if target not in self.sources)

    @property
    def reason(self) -> str:
        """The reason with the difference of metadata."""
        return _together(self.why, self.metadata)


def _together(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def taken_from(pairing: Pairing) -> tuple[Place, ...]:
    """Return the joined operation whose result a new slice takes out of the whole, if one does."""
    reason = pairing.reason
    return (Place(reason.computation, reason.member),) if isinstance(reason, TakenOut) else ()


def addition(number: int, place: Place, pairing: Pairing | None) -> HistoryEvent:
    """Return the event of a place that continues none of the snapshot before."""
    if pairing is None:
        return HistoryEvent(
            number, Event.ADDED, place, (), (), Grade.GUESSED, "no source was found"
        )
    if pairing.relation is Relation.EXPANDED:
        reason = f"a constant or index of what %{pairing.before[0].instruction} was expanded into"
        return HistoryEvent(number, Event.ADDED, place, (), (), pairing.grade, reason)
    sources = pairing.before or taken_from(pairing)
    event = Event.CREATED if sources else _UNTRACED.get(pairing.cause, Event.ADDED)
    known = pairing.reason
    why = known.in_full if isinstance(known, PartialResults) else str(known)
    return HistoryEvent(number, event, place, sources, (), pairing.grade, why)


def giving(matching: Matching, number: int, place: Place, given: GivenResult) -> HistoryEvent:
    """Return the event of a new instruction that gives the result of an old one."""
    pairing = matching.pairing_after(place)
    grade = Grade.MATCHED if pairing is None else pairing.grade
    event = Event.ADDED if given.is_moved else Event.REPLACED
    return HistoryEvent(number, event, place, (given.source,), (), grade, given.why)


def removal(number: int, place: Place, pairing: Pairing | None) -> HistoryEvent:
    """Return the event of an instruction without a continuation in the next snapshot."""
    if pairing is None:
        return HistoryEvent(
            number, Event.REMOVED, place, (), (), Grade.GUESSED, "no trace was found"
        )
    inlined = pairing.relation is Relation.INLINED
    event = Event.INLINED if inlined else _UNTRACED.get(pairing.cause, Event.REMOVED)
    return HistoryEvent(number, event, place, (), pairing.after, pairing.grade, str(pairing.reason))


def passing(number: int, place: Place, now: Place, why: str) -> HistoryEvent:
    """Return the event of a removed instruction whose value another has, which is read instead."""
    return HistoryEvent(number, Event.REPLACED, now, (place,), (now,), Grade.MATCHED, why)


_UNTRACED: Mapping[ChangeCause | None, Event] = {ChangeCause.UNTRACED: Event.UNTRACED}
_EVENTS = {
    Relation.REPLACED: Event.REPLACED,
    Relation.REWRITTEN: Event.REWRITTEN,
    Relation.COMBINED: Event.COMBINED,
    Relation.SPLIT: Event.SPLIT,
    Relation.EXPANDED: Event.EXPANDED,
    Relation.ASYNC: Event.ASYNC,
    Relation.ABSORBED: Event.ABSORBED,
    Relation.SWAPPED: Event.MOVED,
    Relation.MERGED: Event.MERGED,
    Relation.CLONED: Event.CLONED,
}


def events_between(
    matching: Matching, number: int, pairing: Pairing | None, places: tuple[Place, Place]
) -> Iterator[HistoryEvent]:
    """Yield the change between two places that continue each other, if there is any."""
    pairing_event = next(_events_between(matching, number, pairing, places), None)
    inserted = inserted_before(matching, places[1]) if pairing is not None else ""
    body = changed_body(matching, *places)
    given = branch_operands(matching, *places) or scattered_updates(matching, *places)
    regrouped = regrouped_operands(matching, *places)
    read = _together(operand_types(matching, *places), given, inserted, body, regrouped)
    also = tuple(matching.taken_over(places[1]))
    if also:
        names = first_few([f"%{place.instruction}" for place in also], _MOST_NAMES)
        read = _together(read, f"does the work of {names} too")
        pairing_event = pairing_event and pairing_event._replace(
            sources=(*pairing_event.sources, *also)
        )
    if read and pairing_event is None:
        is_exact = not (inserted or body or also or regrouped)
        grade = Grade.EXACT if is_exact else Grade.MATCHED
        sources = (*places[:1], *also)
        yield HistoryEvent(number, Event.CHANGED, places[1], sources, places[1:], grade, read)
    elif pairing_event is not None and read:
        event = Event.CHANGED if pairing_event.event is Event.RENAMED else pairing_event.event
        known = weakest(
            (pairing_event.confidence, Grade.MATCHED if body or regrouped else Grade.EXACT)
        )
        why = _together(pairing_event.why, read)
        yield pairing_event._replace(event=event, confidence=known, why=why)
    elif pairing_event is not None:
        yield pairing_event


def _events_between(
    matching: Matching, number: int, pairing: Pairing | None, places: tuple[Place, Place]
) -> Iterator[HistoryEvent]:
    before, after = places
    if pairing is None:
        return
    pairing = without_left(without_dead_clones(matching, pairing, after))
    anew = pairing.relation is Relation.REPLACED and _is_same_opcode(matching, before, after)
    if _is_duplicate(pairing, before) and (anew or pairing.relation is Relation.SWAPPED):
        pairing, anew = replace(pairing, relation=Relation.MERGED), False
    metadata = ""
    if pairing.relation in _EVENTS and not anew:
        event, evidence = _EVENTS[pairing.relation], _evidence(pairing, places)
        grade, message = evidence.grade, str(evidence.reason)
        expands = event is Event.EXPANDED
        targets = expanded_into(matching, pairing) if expands else pairing.after
        sources = pairing.before
        if event is Event.CLONED and after not in sources and before in targets:
            message = _together(message, _STAYS)
        elif event is Event.SPLIT:
            message = _together(_sums_of_part(matching, before, after), message)
    else:
        difference = _difference(matching, before, after)
        if difference is None and pairing.taken_in:
            difference = Event.CHANGED, "", ""
        if difference is None:
            return
        event, message, metadata = difference
        sources, targets = (before,), (after,)
        grade = pairing.known_of(before, after).grade
        if anew and event is Event.CHANGED and before.instruction != after.instruction:
            event = Event.REBUILT
    entry = HistoryEvent(number, event, after, sources, targets, grade, message, metadata)
    yield _with_taken_in(matching, pairing, entry) if after == pairing.after[0] else entry


_STAYS = "the original stays"
"""Of a clone: it is named as what the clone comes from, and goes on as it is."""


def _is_duplicate(pairing: Pairing, before: Place) -> bool:
    """Return whether an instruction is one more than those that a pairing goes on with."""
    return before not in pairing.before[: len(pairing.after)]


def _evidence(pairing: Pairing, places: tuple[Place, Place]) -> PairEvidence:
    """Return how sure a whole pairing is: what is known of two places, if no other is less sure."""
    evidence, weakest = pairing.known_of(*places), pairing.weakest
    return evidence if evidence.grade is weakest.grade else weakest


_TAKING = REARRANGEMENTS | {"dynamic-slice"}


def expanded_into(matching: Matching, pairing: Pairing) -> tuple[Place, ...]:
    """Return the parts that continue an expanded instruction: the one that gives its result.

    If that only moves data, the heavy part continues it too: the loop that a gather became, or the
    all-reduce of what a reduce-scatter became.
    """
    first, *parts = pairing.after
    line = matching.after.find(*first)
    if line is None or line.opcode not in _TAKING:
        return (first,)
    lines = ((place, matching.after.find(*place)) for place in parts)
    return (first, *(place for place, line in lines if line and family_of(line) is not None))


def _with_taken_in(matching: Matching, pairing: Pairing, known: HistoryEvent) -> HistoryEvent:
    """Return the event of a fusion, extended by the instructions that were fused into it."""
    if not pairing.taken_in:
        return known
    taken_in = [f"%{place.instruction}" for place in outermost(matching.before, pairing.taken_in)]
    inside = len(pairing.taken_in) - len(taken_in)
    count = f", with {units.plural(inside, 'instruction')} inside" if inside else ""
    holds = f"also holds {first_few(taken_in, _MOST_NAMES)} now{count}"
    return known._replace(
        event=Event.CHANGED if known.event is Event.RENAMED else known.event,
        sources=(*known.sources, *pairing.taken_in),
        confidence=weakest((known.confidence, pairing.taken_grade)),
        why=_together(known.why, holds),
    )


_MOST_NAMES = 4


def _is_same_opcode(matching: Matching, before: Place, after: Place) -> bool:
    old, new = matching.before.find(*before), matching.after.find(*after)
    return old is not None and new is not None and old.opcode == new.opcode


def _difference(matching: Matching, before: Place, after: Place) -> tuple[Event, str, str] | None:
    """Return the event, the differences, and that of metadata; None where nothing differs."""
    old, new = matching.before.find(*before), matching.after.find(*after)
    if old is None or new is None:
        return None
    diff = compare(old, new, matching.computations)
    diff |= compare_sums(matching, (before, old), (after, new))
    diff = with_later_operands(matching, (before, old), (after, new), diff)
    renamed, metadata = (str(diff.pop(Kind.RENAMED, "")), str(diff.pop(Kind.METADATA, "")))
    operands = _operands(matching, (before, old), (after, new))
    swapped = "operands swapped" if Kind.TURNED in operands else ""
    read = [operands[kind] for kind in _READ if kind in operands and Kind.ATTRIBUTES in diff]
    differences = _together(swapped, *map(str, (*diff.values(), *read)))
    if not is_in_continued_computation(matching, before, after):
        event, way = _move_event(matching, before, after)
        return event, _together(way, differences), ""  # inlining adds the op_name of the call
    if diff or metadata or swapped:
        return Event.CHANGED, differences, metadata
    return (Event.RENAMED, renamed, "") if renamed else None


def _sums_of_part(matching: Matching, before: Place, after: Place) -> str:
    """Return how many elements a part of a split matmul sums over; '' if it is not another."""
    old, new = matching.before.find(*before), matching.after.find(*after)
    if old is None or new is None:
        return ""
    return _together(*map(str, compare_sums(matching, (before, old), (after, new)).values()))


_READ = (Kind.OPERANDS, Kind.REDIRECTED, Kind.REWIRED)


def _operands(
    matching: Matching, before: tuple[Place, Instruction], after: tuple[Place, Instruction]
) -> Mapping[Kind, Difference]:
    """Return the changes of what a matmul or convolution reads; empty of anything else.

    It can take in a transpose of an operand, which its dimension numbers show.
    """
    is_product = before[1].opcode == after[1].opcode in DENSE_PRODUCTS
    return compare_operands(matching, before, after) if is_product else {}


def _move_event(matching: Matching, before: Place, after: Place) -> tuple[Event, str]:
    """Return whether an instruction was fused or moved, out of what and into what."""
    former = holders_of(matching.before).get(before.computation)
    left = f"out of %{former.name} " if former is not None and former.opcode == "while" else ""
    holder = holders_of(matching.after).get(after.computation)
    if holder is None:
        return Event.MOVED, f"{left}into %{after.computation}"
    event = Event.FUSED if holder.opcode == "fusion" else Event.MOVED
    return event, f"{'' if event is Event.FUSED else left}into %{holder.name}"
