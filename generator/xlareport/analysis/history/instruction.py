"""The history of an instruction over the snapshots of its module, in both directions."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from xlareport.analysis.history.change_index import ChangeIndex
from xlareport.analysis.matching.facts import TRANSPARENT, holders_of
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.pairing import Grade, Pairing, Place, Relation
from xlareport.analysis.matching.result import Matching
from xlareport.analysis.steps.differences import Kind, compare
from xlareport.hlo.model import HloModule

_MOST_TRAILS = 8
"""Instructions that became one whose histories are told."""


class Event(StrEnum):
    """What happened to an instruction at a snapshot."""

    FIRST = "in the input"
    ADDED = "added"
    CREATED = "created"
    """A fusion or call, from what it holds."""
    RENAMED = "renamed"
    CHANGED = "changed"
    MOVED = "moved"
    FUSED = "fused"
    ABSORBED = "absorbed"
    INLINED = "inlined"
    REWRITTEN = "rewritten"
    COMBINED = "combined"
    SPLIT = "split"
    ASYNC = "made asynchronous"
    REPLACED = "replaced"
    MERGED = "merged"
    CLONED = "cloned"
    REBUILT = "rebuilt"
    REMOVED = "removed"
    LAST = "in the last snapshot"


class HistoryEvent(NamedTuple):
    """One event in the history of an instruction."""

    stage: int
    """The index of the snapshot in which it is seen."""
    event: Event
    instruction: Place
    """Where the instruction stands then; where it stood, if it is gone."""
    sources: tuple[Place, ...]
    """What it came from, in the snapshot before."""
    targets: tuple[Place, ...]
    """What it became."""
    confidence: Grade
    reason: str


class SnapshotSequence:
    """The snapshots of a module and the matchings between neighbours, each made when needed."""

    def __init__(
        self, modules: Sequence[HloModule], matchings: dict[int, Matching] | None = None
    ) -> None:
        """Keep the modules; `matchings` are those already made, by the index of the one after."""
        self.modules = modules
        self._matchings = matchings if matchings is not None else {}
        self._change_index: ChangeIndex | None = None

    def into(self, stage: int) -> Matching | None:
        """Return the matching that leads to a snapshot; None where nothing changed."""
        before, after = self.modules[stage - 1], self.modules[stage]
        if before is after:
            return None
        if stage not in self._matchings:
            self._matchings[stage] = match(before, after)
        return self._matchings[stage]

    @property
    def change_index(self) -> ChangeIndex:
        """At which steps something can have happened to a place."""
        if self._change_index is None:
            every = ((stage, self.into(stage)) for stage in range(1, len(self.modules)))
            self._change_index = ChangeIndex(
                (stage, matching) for stage, matching in every if matching is not None
            )
        return self._change_index


def history(snapshots: SnapshotSequence, stage: int, place: Place) -> tuple[HistoryEvent, ...]:
    """Return the whole history of what stands at a place in a snapshot; empty if nothing does.

    Of what was merged or combined it is the history of each, the first few of many.
    """
    if snapshots.modules[stage].find(*place) is None:
        return ()
    back = sorted(_back(snapshots, stage, place), key=lambda event: event.stage)
    return (*back, *_forward(snapshots, stage, place))


def descendants(
    snapshots: SnapshotSequence, stage: int, places: Sequence[Place]
) -> tuple[Place, ...]:
    """Return every instruction of the last snapshot that does the work of the given ones."""
    current = list(places)
    for number in range(stage + 1, len(snapshots.modules)):
        matching = snapshots.into(number)
        if matching is not None:
            following = (after for place in current for after in _continued(matching, place))
            current = list(dict.fromkeys(following))
    return tuple(current)


def ancestors(
    snapshots: SnapshotSequence, stage: int, places: Sequence[Place]
) -> tuple[Place, ...]:
    """Return every instruction of the first snapshot whose work the given ones do."""
    current = list(places)
    for number in range(stage, 0, -1):
        matching = snapshots.into(number)
        if matching is not None:
            leading = (before for place in current for before in sources_of(matching, place))
            current = list(dict.fromkeys(leading))
    return tuple(current)


def beginnings(
    snapshots: SnapshotSequence, stage: int, places: Sequence[Place]
) -> Iterator[HistoryEvent]:
    """Yield where trails end that lead back to no instruction of the first snapshot, nearest first.

    Each was added without a source: by the compiler there, or as a guess where a trail is lost.
    """
    waiting = deque((snapshots.change_index.step_to(place, stage), place) for place in places)
    seen = set(waiting)
    while waiting:
        number, place = waiting.popleft()
        matching = snapshots.into(number) if number > 0 else None
        if matching is None:
            continue
        sources = sources_of(matching, place)
        inside = tuple(_new_inside(matching, place))
        for begun in inside if inside or sources else (place,):
            yield _begun(number, begun, matching.said_of_after(begun))
        for source in sources:
            further = (snapshots.change_index.step_to(source, number - 1), source)
            if further not in seen:
                seen.add(further)
                waiting.append(further)


def _new_inside(matching: Matching, place: Place) -> Iterator[Place]:
    """Yield what a new fusion or call holds that comes from nothing."""
    pairing, holder = matching.said_of_after(place), matching.after.find(*place)
    if pairing is None or holder is None or pairing.relation not in _NEW_HOLDER:
        return
    called = holder.called if holder.opcode in TRANSPARENT else ()
    computation = matching.after.by_name.get(called[0][1]) if called else None
    if computation is None:
        return
    for line in computation.instructions:
        held = Place(computation.name, line.name)
        known = matching.said_of_after(held)
        if line.opcode not in _FRAME and known is not None and not known.before:
            yield held


_HOLDING = frozenset({Relation.FUSED, Relation.OUTLINED})
_NEW_HOLDER = _HOLDING | {Relation.ADDED}
_FRAME = frozenset({"get-tuple-element", "parameter", "tuple"})
"""Opcodes that only bring values into a computation and out of it."""


def places_of_op(module: HloModule, op_name: str) -> tuple[Place, ...]:
    """Return where a framework op stands in a snapshot."""
    return tuple(
        Place(computation.name, line.name)
        for computation in module.computations
        for line in computation.instructions
        if line.metadata.op_name == op_name
    )


def _continued(matching: Matching, place: Place) -> tuple[Place, ...]:
    pairing = matching.said_of_before(place)
    if pairing is not None:
        return pairing.after
    same = matching.partner_after(place)
    return () if same is None else (same,)


def sources_of(matching: Matching, place: Place) -> tuple[Place, ...]:
    """Return what an instruction came from, in the snapshot before.

    A fusion or call that holds more than literals comes from none: every module has equal ones.
    """
    pairing = matching.said_of_after(place)
    if pairing is not None:
        held = pairing.before if pairing.relation in _HOLDING else ()
        computing = (source for source in held if not _is_literal(matching.before, source))
        return tuple(computing) or pairing.before
    same = matching.partner_before(place)
    return () if same is None else (same,)


def _is_literal(module: HloModule, place: Place) -> bool:
    line = module.find(*place)
    return line is not None and not line.operands and line.opcode != "parameter"


def _back(snapshots: SnapshotSequence, stage: int, place: Place) -> Iterator[HistoryEvent]:
    """Yield the events that led to a place, the latest of each trail first."""
    change_index = snapshots.change_index
    waiting = deque([(change_index.step_to(place, stage), place)])
    for _ in range(_MOST_TRAILS):
        if not waiting:
            return
        number, place = waiting.popleft()
        while number > 0 and (matching := snapshots.into(number)) is not None:
            pairing = matching.said_of_after(place)
            origin = matching.partner_before(place)
            if origin is None:
                yield _begun(number, place, pairing)
                break
            yield from _event(matching, number, pairing, (origin, place))
            for further in _equals(pairing):
                waiting.append((change_index.step_to(further, number - 1), further))
            place = origin
            number = change_index.step_to(place, number - 1)
        else:
            why = "is in the first snapshot"
            yield HistoryEvent(0, Event.FIRST, place, (), (), Grade.EXACT, why)


def _equals(pairing: Pairing | None) -> tuple[Place, ...]:
    """Return what became one with the partner of an instruction."""
    together = pairing is not None and pairing.relation in (Relation.COMBINED, Relation.MERGED)
    return pairing.before[1:] if pairing is not None and together else ()


def _forward(snapshots: SnapshotSequence, stage: int, place: Place) -> Iterator[HistoryEvent]:
    """Yield what became of a place."""
    last = len(snapshots.modules) - 1
    change_index = snapshots.change_index
    number = change_index.step_from(place, stage)
    while number is not None and (matching := snapshots.into(number)) is not None:
        pairing = matching.said_of_before(place)
        partner = matching.partner_after(place)
        if partner is None:
            yield _removed(number, place, pairing)
            return
        yield from _event(matching, number, pairing, (place, partner))
        place = partner
        number = change_index.step_from(place, number)
    yield HistoryEvent(last, Event.LAST, place, (), (), Grade.EXACT, "is in the last snapshot")


def _begun(stage: int, place: Place, pairing: Pairing | None) -> HistoryEvent:
    if pairing is None:
        return HistoryEvent(stage, Event.ADDED, place, (), (), Grade.GUESSED, "no source was found")
    sources = pairing.before
    event = Event.CREATED if sources else Event.ADDED
    return HistoryEvent(stage, event, place, sources, (), pairing.grade, pairing.reason)


def _removed(stage: int, place: Place, pairing: Pairing | None) -> HistoryEvent:
    if pairing is None:
        return HistoryEvent(
            stage, Event.REMOVED, place, (), (), Grade.GUESSED, "no trace was found"
        )
    event = Event.INLINED if pairing.relation is Relation.INLINED else Event.REMOVED
    return HistoryEvent(stage, event, place, (), pairing.after, pairing.grade, pairing.reason)


_EVENTS = {
    Relation.REPLACED: Event.REPLACED,
    Relation.REWRITTEN: Event.REWRITTEN,
    Relation.COMBINED: Event.COMBINED,
    Relation.SPLIT: Event.SPLIT,
    Relation.ASYNC: Event.ASYNC,
    Relation.ABSORBED: Event.ABSORBED,
    Relation.SWAPPED: Event.MOVED,
    Relation.MERGED: Event.MERGED,
    Relation.CLONED: Event.CLONED,
}


def _event(
    matching: Matching, stage: int, pairing: Pairing | None, places: tuple[Place, Place]
) -> Iterator[HistoryEvent]:
    """Yield what happened between two places that continue each other, if anything did."""
    before, after = places
    if pairing is None:
        return
    left = pairing.relation is Relation.CLONED and pairing.before[0] in pairing.after[1:]
    if left:  # what was replaced stands on without users
        pairing = replace(pairing, after=pairing.after[:1], relation=Relation.REPLACED)
    anew = pairing.relation is Relation.REPLACED and _is_same_opcode(matching, before, after)
    if pairing.relation in _EVENTS and not anew:
        event, message = _EVENTS[pairing.relation], pairing.reason
        sources, targets = pairing.before, pairing.after
    else:
        result = _difference(matching, before, after)
        if result is None:
            return
        event, message = result
        sources, targets = (before,), (after,)
        if anew and event is Event.CHANGED and before.instruction != after.instruction:
            event = Event.REBUILT
    yield HistoryEvent(stage, event, after, sources, targets, pairing.grade, message)


def _is_same_opcode(matching: Matching, before: Place, after: Place) -> bool:
    old, new = matching.before.find(*before), matching.after.find(*after)
    return old is not None and new is not None and old.opcode == new.opcode


def _difference(matching: Matching, before: Place, after: Place) -> tuple[Event, str] | None:
    old, new = matching.before.find(*before), matching.after.find(*after)
    if old is None or new is None:
        return None
    home = matching.computations.get(before.computation, before.computation)
    if home != after.computation:
        return _moved(matching.after, after)
    result = compare(old, new, matching.computations)
    changed = [text for kind, text in result.items() if kind is not Kind.RENAMED]
    if changed:
        return Event.CHANGED, "; ".join(changed)
    return (Event.RENAMED, result[Kind.RENAMED]) if result else None


def _moved(module: HloModule, after: Place) -> tuple[Event, str]:
    holder = holders_of(module).get(after.computation)
    if holder is None:
        return Event.MOVED, f"into %{after.computation}"
    event = Event.FUSED if holder.opcode == "fusion" else Event.MOVED
    return event, f"into %{holder.name}"
