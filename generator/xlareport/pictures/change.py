"""The picture of a step: what changed, with one ring of what stands around it, before and after.

A box that is there before and after has the same id in both drawings, so that it can keep its
place. What is not drawn is counted in the notes of the drawing after, and named in `left_out`;
some of that has small pictures of its own.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice
from typing import TypeAlias

from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.matching.result import Matching
from xlareport.analysis.steps.differences import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import HloModule
from xlareport.pictures.change_regions import Naming, find_change_regions
from xlareport.pictures.drawing import Arrow, Drawing, State
from xlareport.pictures.excerpt import Found, draw_excerpt, find_shown
from xlareport.pictures.left_out import choose, name_of
from xlareport.pictures.metrics import shorten
from xlareport.pictures.side import PictureSide

_MOST_AROUND = 30
"""Boxes of context that are drawn, and for one changed box at most six."""
_MOST_AROUND_ONE = 6

_GONE = frozenset(
    {Kind.REMOVED, Kind.DEAD, Kind.UNCALLED, Kind.ARGUMENT, Kind.MERGED}
    | {Kind.INLINED, Kind.ABSORBED}
)
_NEW = frozenset({Kind.ADDED, Kind.CLONED, Kind.FUSED, Kind.OUTLINED})
_UNSEEN = frozenset({Kind.METADATA, Kind.REORDERED, Kind.RENAMED})
"""What leaves the graph as it was."""

Partner = Callable[[Place], Place | None]
Sides = Sequence[tuple[PictureSide, Naming]]
Pair: TypeAlias = tuple[Drawing, Drawing]
"""Before and after."""


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """A place that the pictures of a step leave out, in pictures of its own."""

    name: str
    """Of an instruction there, with `%`."""
    line: int
    """The line of `left_out` that names it."""
    pair: Pair


@dataclass(frozen=True, slots=True)
class StepDrawings:
    """What is drawn of a step."""

    pair: Pair
    places: tuple[ChangedPlace, ...] = ()
    """In the order of the lines of `left_out`; without frames, whose names stand in the boxes."""


def change_pictures(
    before: HloModule,
    after: HloModule,
    removed: Iterable[Place],
    added: Iterable[Place],
    changed: Iterable[tuple[Place, Place]],
    *,
    partner: Partner | None = None,
) -> StepDrawings:
    """Draw what a step did; both drawings are empty where nothing that has a box changed.

    `changed` pairs places before and after; `partner` says where anything else that is after was
    before, by default under the same names.
    """
    pairs = {new: old for old, new in changed}
    old = PictureSide(before, _states("removed", removed) | _states("changed", pairs.values()))
    new = PictureSide(after, _states("added", added) | _states("changed", pairs))
    sides = ((old, cache(str)), (new, _naming(before, pairs, partner)))
    choice = choose(find_change_regions(sides))
    places = [(name_of(spot), line, spot.ids) for line, spot in choice.places()]
    shown = [item | _around(sides, item) for item in (choice.chosen, *(ids for *_, ids in places))]
    (first, second), *others = _pairs(sides, shown)
    last = replace(second, notes=(*choice.notes(), *second.notes), left_out=choice.lines())
    return StepDrawings(
        (first, last),
        tuple(
            ChangedPlace(name, line, (_unframed(drawing), _unframed(other)))
            for (name, line, _), (drawing, other) in zip(places, others, strict=True)
        ),
    )


def step_pictures(step: StepChange) -> StepDrawings | None:
    """Draw what a step did; None where it changed nothing that a picture could show."""
    matching = step.matching
    if matching is None:
        return None
    changes = [change for change in step.changes if change.kind not in _UNSEEN]
    pairs = [
        (change.before, change.after)
        for change in changes
        if change.before and change.after and change.kind not in _GONE | _NEW
    ]
    kept = {old for old, _ in pairs}
    gone = {
        change.before for change in changes if change.before and change.kind in _GONE | {Kind.FUSED}
    } - kept
    new = {change.after for change in changes if change.after and change.kind in _NEW}
    pictures = change_pictures(
        matching.before, matching.after, gone, new, pairs, partner=_primary(matching)
    )
    return pictures if any(drawing.nodes for drawing in pictures.pair) else None


def _primary(matching: Matching) -> Partner:
    """Return what a place after was before, if it is the one that this became; no copy of it."""

    def partner(place: Place) -> Place | None:
        origin = matching.partner_before(place)
        return origin if origin and matching.partner_after(origin) == place else None

    return partner


def _states(state: State, places: Iterable[Place]) -> dict[Place, State]:
    return dict.fromkeys(places, state)


def _naming(before: HloModule, pairs: dict[Place, Place], partner: Partner | None) -> Naming:
    """Return how places after are named: as what they were before, else by a name not used."""

    def name(place: Place) -> str:
        origin = pairs.get(place)
        if origin is None:
            origin = partner(place) if partner else _same(before, place)
        if origin is not None:
            return str(origin)
        return f"{place}'" if _same(before, place) else str(place)

    return cache(name)


def _same(before: HloModule, place: Place) -> Place | None:
    """Return the place itself where it is there before, too."""
    computation = before.by_name.get(place.computation)
    return place if computation and place.instruction in computation.by_name else None


def _around(sides: Sides, chosen: dict[str, None]) -> dict[str, None]:
    """Return what stands next to what was chosen, before or after."""
    result: dict[str, None] = {}
    for side, naming in sides:
        for place in side.states:
            if naming(place) in chosen:
                others = (naming(neighbour) for neighbour in side.neighbours(place))
                new = (name for name in others if name not in chosen and name not in result)
                result.update(dict.fromkeys(islice(new, _MOST_AROUND_ONE)))
    return dict(islice(result.items(), _MOST_AROUND))


def _pairs(sides: Sides, shown: Sequence[Collection[str]]) -> list[Pair]:
    """Draw both sides of each of some collections of names; each module is gone through once."""
    every = set(chain.from_iterable(shown))
    computations = set[str]().union(*(side.computations for side, _ in sides))
    result = [(*side, find_shown(*side, every, computations)) for side in sides]
    pairs = []
    for names in shown:
        old, new = (
            draw_excerpt(side, naming, _part(there, names)) for side, naming, there in result
        )
        first, second = _marked(old, new, "removed"), _marked(new, old, "added")
        pairs.append((replace(first, title="before"), replace(second, title="after")))
    return pairs


def _part(value: Found, names: Collection[str]) -> Found:
    """Return what was found under some of the names."""
    parts = (
        (computation, {name: text for name, text in there.items() if name in names})
        for computation, there in value.items()
    )
    return {computation: part for computation, part in parts if part}


def _unframed(drawing: Drawing) -> Drawing:
    """Return a drawing without frames, in which each box says what it stands in."""
    inside = {member: group.title for group in drawing.groups for member in group.members}
    nodes = (
        replace(node, lines=(*node.lines, f"in {shorten(inside[node.id])}"))
        if node.id in inside
        else node
        for node in drawing.nodes
    )
    return replace(drawing, nodes=tuple(nodes), groups=())


def _marked(drawing: Drawing, other: Drawing, state: State) -> Drawing:
    """Give the arrows that the other drawing lacks a state."""
    there = {(edge.source, edge.target) for edge in other.edges}

    def marked(edge: Arrow) -> Arrow:
        kept = (edge.source, edge.target) in there
        return edge if kept else replace(edge, state=state)

    return replace(drawing, edges=tuple(map(marked, drawing.edges)))
