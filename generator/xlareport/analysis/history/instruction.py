"""The history of an instruction over the snapshots of its module, in both directions."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from xlareport.analysis.history.change_index import ChangeIndex
from xlareport.analysis.history.events import (
    Event,
    HistoryEvent,
    addition,
    events_between,
    expanded_into,
    giving,
    passing,
    removal,
    taken_from,
)
from xlareport.analysis.history.expansion_helpers import is_helper
from xlareport.analysis.history.given_results import given_result
from xlareport.analysis.history.heavy_fusions import is_heavy
from xlareport.analysis.history.read_instead import read_instead
from xlareport.analysis.matching.account.fused import outermost
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import TRANSPARENT
from xlareport.analysis.source.inlined_op_names import whole_op_names
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade

_MOST_TRAILS = 512
"""Limit on merged instructions whose histories are included."""


TrailPoint: TypeAlias = tuple[int, Place]
"""A step of a trail, by the index of the snapshot after it, and a place at its nearer end."""


class TrailLink(NamedTuple):
    """The events of an instruction at a step, and where its trail continues."""

    events: tuple[HistoryEvent, ...]
    following: TrailPoint | None = None
    joined: tuple[TrailPoint, ...] = ()
    """Where the trails of what was merged with it, or split off from it, continue."""


class SnapshotSequence:
    """The snapshots of a module and the matchings between neighbors, each made when needed."""

    def __init__(
        self, modules: Sequence[HloModule], matchings: dict[int, Matching] | None = None
    ) -> None:
        """Keep the modules; `matchings` are existing ones, by the index of the later snapshot."""
        self.modules = modules
        self._matchings = matchings if matchings is not None else {}
        self._change_index: ChangeIndex | None = None
        self._before: dict[TrailPoint, TrailLink] = {}
        self._after: dict[TrailPoint, TrailLink] = {}
        self._events: dict[HistoryEvent, HistoryEvent] = {}
        self.histories: dict[TrailPoint, tuple[HistoryEvent, ...]] = {}
        """Results of `history` by snapshot and place, because many subjects share them."""

    def into(self, number: int) -> Matching | None:
        """Return the matching with the previous snapshot; None if nothing changed."""
        before, after = self.modules[number - 1], self.modules[number]
        if before is after:
            return None
        if number not in self._matchings:
            self._matchings[number] = match(before, after)
        return self._matchings[number]

    @property
    def change_index(self) -> ChangeIndex:
        """The steps at which each place can have changed."""
        if self._change_index is None:
            every = ((number, self.into(number)) for number in range(1, len(self.modules)))
            self._change_index = ChangeIndex(
                (number, matching) for number, matching in every if matching is not None
            )
        return self._change_index

    def link_before(self, point: TrailPoint) -> TrailLink:
        """Return the events that led to a place, at its latest change; cached."""
        link = self._before.get(point)
        if link is None:
            link = self._before[point] = self._shared(_link_before(self, *point))
        return link

    def link_after(self, point: TrailPoint) -> TrailLink:
        """Return the events of a place at its next change; cached."""
        link = self._after.get(point)
        if link is None:
            link = self._after[point] = self._shared(_link_after(self, *point))
        return link

    def _shared(self, link: TrailLink) -> TrailLink:
        return TrailLink(tuple(map(self.share, link.events)), link.following, link.joined)

    def share(self, event: HistoryEvent) -> HistoryEvent:
        """Return the first equal event of this sequence: equal events are identical objects."""
        return self._events.setdefault(event, event)


def _link_before(snapshots: SnapshotSequence, number: int, place: Place) -> TrailLink:
    matching = snapshots.into(number) if number > 0 else None
    if matching is None:
        why = "is in the first snapshot"
        return TrailLink((HistoryEvent(0, Event.FIRST, place, (), (), Grade.EXACT, why),))
    pairing = matching.pairing_after(place)
    origin = matching.partner_before(place)
    step_to = snapshots.change_index.step_to
    if origin is None or is_helper(matching, pairing, place):
        given = given_result(matching, place)
        if given is not None:
            event = giving(matching, number, place, given)
            source = (step_to(given.source, number - 1), given.source)
            # A move goes on by itself: later steps may put other work behind it.
            return TrailLink((event,), None if given.is_moved else source)
        wrapped = _wrapped(matching, place, pairing)
        following = (step_to(wrapped, number - 1), wrapped) if wrapped else None
        return TrailLink((addition(number, place, pairing),), following)
    taken_in = _heavy_taken_in(matching, place, pairing, origin)
    joined = dict.fromkeys((*_equals(pairing), *taken_in, *matching.taken_over(place)))
    return TrailLink(
        tuple(events_between(matching, number, pairing, (origin, place))),
        (step_to(origin, number - 1), origin),
        tuple((step_to(further, number - 1), further) for further in joined),
    )


def _wrapped(matching: Matching, place: Place, pairing: Pairing | None) -> Place | None:
    """Return the only instruction that a new fusion wraps, or whose result a slice takes out.

    Of several, the only heavy one: the matmul that a fusion was made for. Of several heavy ones,
    that which gives the result.
    """
    if pairing is None or pairing.relation is not Relation.FUSED:
        return next(iter(taken_from(pairing)), None) if pairing is not None else None
    computing = [held for held in pairing.before if not _is_literal(matching.before, held)]
    if len(computing) > 1:
        computing = _heavy_of(matching, computing)
    if len(computing) > 1:
        root = _root_of(matching.after, place)
        computing = [held for held in computing if matching.partner_after(held) == root]
    return computing[0] if len(computing) == 1 else None


def _heavy_of(matching: Matching, places: Sequence[Place]) -> list[Place]:
    """Return the old places of heavy work that are in no fusion that is among them."""
    lines = ((place, matching.before.find(*place)) for place in outermost(matching.before, places))
    return [place for place, line in lines if line is not None and is_heavy(matching.before, line)]


def _heavy_taken_in(
    matching: Matching, place: Place, pairing: Pairing | None, origin: Place
) -> list[Place]:
    """Return the heavy work that a fusion took in which held none before."""
    if pairing is None or not pairing.taken_in or place != pairing.after[0]:
        return []
    former = matching.before.find(*origin)
    known = former is not None and is_heavy(matching.before, former)
    return [] if known else _heavy_of(matching, pairing.taken_in)


def _root_of(module: HloModule, fusion: Place) -> Place | None:
    """Return what gives the result of a fusion."""
    line = module.find(*fusion)
    callee = None if line is None else module.callee(line)
    root = None if callee is None else callee.root
    return Place(callee.name, root.name) if callee is not None and root is not None else None


def _link_after(snapshots: SnapshotSequence, number: int, place: Place) -> TrailLink:
    last = len(snapshots.modules) - 1
    matching = snapshots.into(number) if number <= last else None
    if matching is None:
        why = "is in the last snapshot"
        return TrailLink((HistoryEvent(last, Event.LAST, place, (), (), Grade.EXACT, why),))
    pairing = matching.pairing_before(place)
    partner = matching.partner_after(place)

    def following(partner: Place) -> TrailPoint:
        step = snapshots.change_index.step_from(partner, number)
        return (last + 1 if step is None else step, partner)

    if partner is None:
        now = read_instead(matching, place)
        if now is None:
            return TrailLink((removal(number, place, pairing),))
        return TrailLink((passing(number, place, *now),), following(now.place))
    is_split = pairing is not None and pairing.relation is Relation.SPLIT
    parts = pairing.after[1:] if pairing is not None and is_split else ()
    return TrailLink(
        tuple(events_between(matching, number, pairing, (place, partner))),
        following(partner),
        tuple(map(following, parts)),
    )


def _equals(pairing: Pairing | None) -> tuple[Place, ...]:
    """Return the instructions that were merged or combined with the partner of an instruction."""
    together = pairing is not None and pairing.relation in (Relation.COMBINED, Relation.MERGED)
    return pairing.before[1:] if pairing is not None and together else ()


def history(snapshots: SnapshotSequence, number: int, place: Place) -> tuple[HistoryEvent, ...]:
    """Return the history of the instruction at a place; empty if there is none.

    A merged or combined instruction has the history of each source, up to a limit. Events are
    distinct and sorted by snapshot; equal events of a sequence are identical objects.
    """
    events_of_place = snapshots.histories.get((number, place))
    if events_of_place is None:
        if snapshots.modules[number].find(*place) is None:
            return ()
        events = [*_back(snapshots, number, place), *_forward(snapshots, number, place)]
        events_of_place = snapshots.histories[number, place] = order_events(events)
    return events_of_place


def order_events(events: Sequence[HistoryEvent]) -> tuple[HistoryEvent, ...]:
    """Return the distinct events of one sequence, sorted by snapshot."""
    distinct = dict(zip(map(id, events), events, strict=True))
    return tuple(sorted(distinct.values(), key=attrgetter("number")))


def descendants(
    snapshots: SnapshotSequence, number: int, places: Sequence[Place]
) -> tuple[Place, ...]:
    """Return the instructions of the last snapshot that do the work of the given ones."""
    later = range(number + 1, len(snapshots.modules))
    return _followed(places, map(snapshots.into, later), targets_of)


def ancestors(
    snapshots: SnapshotSequence, number: int, places: Sequence[Place]
) -> tuple[Place, ...]:
    """Return the instructions of the first snapshot whose work the given ones do."""
    return _followed(places, map(snapshots.into, range(number, 0, -1)), sources_of)


def _followed(
    places: Sequence[Place],
    matchings: Iterable[Matching | None],
    step: Callable[[Matching, Place], Iterable[Place]],
) -> tuple[Place, ...]:
    """Return where instructions lead from one matching to the next, each place once."""
    current = tuple(places)
    for matching in filter(None, matchings):
        following = (there for place in current for there in step(matching, place))
        current = tuple(dict.fromkeys(following))
    return current


def beginnings(
    snapshots: SnapshotSequence, number: int, places: Sequence[Place]
) -> Iterator[HistoryEvent]:
    """Yield where trails end that lead back to no instruction of the first snapshot, nearest first.

    Each was added without a source: by the compiler there, or as a guess where a trail is lost.
    """
    waiting = deque((snapshots.change_index.step_to(place, number), place) for place in places)
    seen = set(waiting)
    while waiting:
        number, place = waiting.popleft()
        matching = snapshots.into(number) if number > 0 else None
        if matching is None:
            continue
        sources = sources_of(matching, place)
        inside = tuple(_new_inside(matching, place))
        for begun in inside if inside or sources else (place,):
            yield snapshots.share(addition(number, begun, matching.pairing_after(begun)))
        for source in sources:
            further = (snapshots.change_index.step_to(source, number - 1), source)
            if further not in seen:
                seen.add(further)
                waiting.append(further)


def _new_inside(matching: Matching, place: Place) -> Iterator[Place]:
    """Yield the instructions in a new fusion or call that have no source."""
    pairing, holder = matching.pairing_after(place), matching.after.find(*place)
    if pairing is None or holder is None or pairing.relation not in _NEW_HOLDER:
        return
    computation = matching.after.callee(holder) if holder.opcode in TRANSPARENT else None
    if computation is None:
        return
    for line in computation.instructions:
        held = Place(computation.name, line.name)
        held_pairing = matching.pairing_after(held)
        if line.opcode not in BOUNDARIES and held_pairing is not None and not held_pairing.before:
            yield held


_HOLDING = frozenset({Relation.FUSED, Relation.OUTLINED})
_NEW_HOLDER = _HOLDING | {Relation.ADDED}


def places_of_op(module: HloModule, op_name: str) -> tuple[Place, ...]:
    """Return where a framework op is in a snapshot; its name is that which inlining makes."""
    return tuple(
        Place(computation.name, line.name)
        for computation, line in module.placed
        if line.metadata.op_name
        and op_name in (line.metadata.op_name, *whole_op_names(module, computation, line))
    )


def targets_of(matching: Matching, place: Place) -> tuple[Place, ...]:
    """Return what does the work of an instruction in the next snapshot, or has its value there."""
    targets = continuing(matching, place)
    now = None if targets else read_instead(matching, place)
    return targets if now is None else (now.place,)


def continuing(matching: Matching, place: Place) -> tuple[Place, ...]:
    """Return the instructions that continue an instruction in the next snapshot."""
    pairing = matching.pairing_before(place)
    if pairing is not None:
        return continuations(matching, pairing)
    same = matching.partner_after(place)
    return () if same is None else (same,)


def continuations(matching: Matching, pairing: Pairing) -> tuple[Place, ...]:
    """Return the instructions that do the work of the pairing's old instructions.

    For an inlined call this is all but literals, if there are others.
    """
    if pairing.relation is Relation.EXPANDED:
        return expanded_into(matching, pairing)
    if pairing.relation is not Relation.INLINED:
        return pairing.after
    computing = (place for place in pairing.after if not _is_literal(matching.after, place))
    return tuple(computing) or pairing.after


def sources_of(matching: Matching, place: Place) -> tuple[Place, ...]:
    """Return the instructions that an instruction came from, in the previous snapshot.

    Literals in a fusion or call are left out if it has other sources: every module has equal ones.
    Iotas are none: a device's part of one is computed.
    """
    pairing = matching.pairing_after(place)
    if is_helper(matching, pairing, place):
        return ()
    given = given_result(matching, place)
    if given is not None and not given.is_moved:
        return (given.source,)
    if pairing is not None:
        held = pairing.before if pairing.relation in _HOLDING else ()
        computing = (source for source in held if not _is_constant(matching.before, source))
        taken_in = pairing.taken_in if place == pairing.after[0] else ()
        further = (*taken_in, *taken_from(pairing), *matching.taken_over(place))
        return tuple(computing) or (*pairing.before, *further)
    same = matching.partner_before(place)
    return () if same is None else (same,)


def _is_literal(module: HloModule, place: Place) -> bool:
    line = module.find(*place)
    return line is not None and not line.operands and line.opcode != "parameter"


def _is_constant(module: HloModule, place: Place) -> bool:
    line = module.find(*place)
    return _is_literal(module, place) and line is not None and line.opcode != "iota"


def _back(snapshots: SnapshotSequence, number: int, place: Place) -> Iterator[HistoryEvent]:
    """Return the events that led to a place, the latest of each trail first."""
    start = (snapshots.change_index.step_to(place, number), place)
    return _events_along(start, snapshots.link_before)


def _forward(snapshots: SnapshotSequence, number: int, place: Place) -> Iterator[HistoryEvent]:
    """Return the events after a snapshot of an instruction, and of each part that it becomes."""
    first = snapshots.change_index.step_from(place, number)
    start = (len(snapshots.modules) if first is None else first, place)
    return _events_along(start, snapshots.link_after)


def _events_along(
    start: TrailPoint, link_of: Callable[[TrailPoint], TrailLink]
) -> Iterator[HistoryEvent]:
    """Yield the events of a trail, then of those that are joined with it."""
    waiting = deque([start])
    for _ in range(_MOST_TRAILS):
        if not waiting:
            return
        at: TrailPoint | None = waiting.popleft()
        while at is not None:
            link = link_of(at)
            yield from link.events
            waiting.extend(link.joined)
            at = link.following
