"""The picture of a step: changed instructions with their direct neighbors, before and after.

A box in both drawings has the same id in both, so that it keeps its position. Omitted changes are
counted in the notes of the second drawing, and named in `left_out`; some of them have small
pictures of their own.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain, islice
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import Computation, HloModule
from xlareport.pictures.assembly import assemble
from xlareport.pictures.boxes import frame_title
from xlareport.pictures.drawing import Arrow, Drawing, Group, State
from xlareport.pictures.left_out import Naming, choose, find_change_regions, name_of
from xlareport.pictures.metrics import shorten
from xlareport.pictures.operand_uses import Item
from xlareport.pictures.scene import Instance
from xlareport.pictures.step_side import PictureSide
from xlareport.runtime.grouping import group_by_key

Found: TypeAlias = Mapping[str, Mapping[str, str]]
"""The instructions of each computation by their names, callers before callees."""


def find_shown(
    side: PictureSide, naming: Naming, shown: Collection[str], computations: Collection[str]
) -> Found:
    """Return the instructions in some computations whose names are shown."""
    ends = {end for name in shown for end in _ends(name)}
    return {
        computation.name: chosen
        for computation in reversed(side.module.computations)
        if computation.name in computations
        and (chosen := _choose(side, computation, naming, shown, ends))
    }


def _choose(
    side: PictureSide,
    computation: Computation,
    naming: Naming,
    shown: Collection[str],
    ends: AbstractSet[str],
) -> dict[str, str]:
    """Return the drawn instructions of a computation, without duplicates.

    Only those are named that may be shown: of a name's end, or with a partner of another name.
    """
    result: dict[str, str] = {}
    home = computation.name
    may_be = ends | side.renamed.get(home, set())
    for text in [line.name for line in computation.instructions if line.name in may_be]:
        name = naming(Place(home, text))
        if name in shown:
            result.setdefault(name, text)
    return result


def _ends(name: str) -> Iterator[str]:
    """Yield what may be the instruction in the name of a place: all after a `%`."""
    while name:
        name = name.partition("%")[2]
        yield name
        yield name.removesuffix("'")


class _Excerpt:
    """Collects instances, frames and items, callers before callees."""

    def __init__(self, side: PictureSide, naming: Naming, value: Found) -> None:
        self._side = side
        self._naming = naming
        self._instances: dict[str, Instance] = {}
        self._frames: dict[str, Group] = {}
        self._chosen = {computation: [*names.values()] for computation, names in value.items()}

    def drawing(self) -> Drawing:
        """Return the drawing."""
        for name in self._chosen:
            self._instance(name)
        items = [item for name in self._chosen for item in self._items(name)]
        frames = tuple(self._frames.values())
        return assemble(self._side.module, "", items, frames, excerpt=True)

    def _instance(self, name: str) -> Instance:
        """Return a computation in the place of its caller where that is shown, else by itself."""
        if name in self._instances:
            return self._instances[name]
        computation, caller = self._side.module.by_name[name], self._side.caller(name)
        folding = self._side.folding_without(name, self._chosen.get(name, ()))
        instance = self._instances[name] = Instance(folding)
        if computation.is_entry:
            return instance
        frame = Group(name, name, "computation", ())
        if caller is not None:
            outer = self._instance(caller.computation)
            instance.outer, instance.caller = outer, self._side.instruction(caller)
            outer.opened[caller.instruction] = instance
            frame = self._in_place_of(caller)
        taken = {frame.id for frame in self._frames.values()}
        while frame.id in taken:
            frame = replace(frame, id=f"{frame.id}'")
        self._frames[name] = frame
        return instance

    def _in_place_of(self, caller: Place) -> Group:
        """Return the frame that replaces a caller."""
        instruction, around = self._side.instruction(caller), self._frames.get(caller.computation)
        return Group(
            self._naming(caller),
            frame_title(instruction, None),
            "computation",
            (),
            around.id if around else None,
            self._state(caller),
            f"i={instruction.name}",
        )

    def _state(self, place: Place) -> State:
        return self._side.states.get(place, "context")

    def _items(self, name: str) -> list[Item]:
        """Return the items of a computation that are drawn closed."""
        instance, frame = self._instances[name], self._frames.get(name)
        return [
            Item(
                instance,
                instance.computation.by_name[text],
                frame.id if frame else None,
                self._naming(Place(name, text)),
                self._state(Place(name, text)),
            )
            for text in self._chosen[name]
            if text not in instance.opened
        ]


_MOST_AROUND = 30
"""Boxes of context that are drawn, and for one changed box at most six."""
_MOST_AROUND_ONE = 6

_GONE = frozenset(
    {
        Kind.REMOVED,
        Kind.DEAD,
        Kind.UNAPPLIED,
        Kind.UNCALLED,
        Kind.ARGUMENT,
        Kind.MERGED,
        Kind.UNIFIED,
    }
    | {Kind.INLINED, Kind.ABSORBED, Kind.UNTRACED}
)
_NEW = frozenset(
    {Kind.ADDED, Kind.CLONED, Kind.COPIED, Kind.DEFINED, Kind.FUSED, Kind.LEFTOVER, Kind.OUTLINED}
    | {Kind.UNTRACED, Kind.UNUSED}
)
_UNSEEN = frozenset({Kind.METADATA, Kind.REORDERED, Kind.RENAMED})
"""Kinds of change that leave the graph the same."""

Partner = Callable[[Place], Place | None]
Sides = Sequence[tuple[PictureSide, Naming]]
Pair: TypeAlias = tuple[Drawing, Drawing]
"""Before and after."""


class ChangedPlace(Struct, frozen=True):
    """A place that the pictures of a step leave out, in pictures of its own."""

    name: str
    """Of an instruction there, with `%`."""
    line: int
    """The line of `left_out` that names it."""
    pair: Pair


class StepDrawings(Struct, frozen=True):
    """The drawings of a step."""

    pair: Pair
    places: tuple[ChangedPlace, ...] = ()
    """In the order of the lines of `left_out`; without frames, whose names are in the boxes."""


def change_pictures(
    before: HloModule,
    after: HloModule,
    removed: Iterable[Place],
    added: Iterable[Place],
    changed: Iterable[tuple[Place, Place]],
    *,
    partner: Partner | None = None,
    paired: Collection[tuple[str, str]] = (),
) -> StepDrawings:
    """Return the drawings of a step; both are empty if nothing with a box changed.

    `changed` pairs old and new places; `partner` returns the old place of any other new one, by
    default the place with the same name. That has another name only for the places in `paired`.
    """
    pairs = {new: old for old, new in changed}
    old = PictureSide(before, _states("removed", removed) | _states("changed", pairs.values()))
    renamed = {*pairs, *paired}
    new = PictureSide(after, _states("added", added) | _states("changed", pairs), renamed)
    sides = ((old, cache(str)), (new, _naming(before, pairs, partner)))
    choice = choose(find_change_regions(sides))
    places = [(name_of(region), line, region.ids) for line, region in choice.places()]
    named = [_by_name(side) for side in sides]
    chosen = (choice.chosen, *(ids for *_, ids in places))
    shown = [item | _around(sides, named, item) for item in chosen]
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
        *(matching.before, matching.after, gone, new, pairs),
        partner=_primary(matching),
        paired=matching.spoken_of_after,
    )
    return pictures if any(drawing.nodes for drawing in pictures.pair) else None


def _primary(matching: Matching) -> Partner:
    """Return a function from a new place to its primary predecessor; None for copies."""

    def partner(place: Place) -> Place | None:
        origin = matching.partner_before(place)
        return origin if origin and matching.partner_after(origin) == place else None

    return partner


def _states(state: State, places: Iterable[Place]) -> dict[Place, State]:
    return dict.fromkeys(places, state)


def _naming(before: HloModule, pairs: dict[Place, Place], partner: Partner | None) -> Naming:
    """Return names for new places: those of their predecessors, else unused names."""

    def name(place: Place) -> str:
        origin = pairs.get(place)
        if origin is None:
            origin = partner(place) if partner else _same(before, place)
        if origin is not None:
            return str(origin)
        return f"{place}'" if _same(before, place) else str(place)

    return cache(name)


def _same(before: HloModule, place: Place) -> Place | None:
    """Return the place itself if it also exists before the step."""
    computation = before.by_name.get(place.computation)
    return place if computation and place.instruction in computation.by_name else None


def _by_name(part: tuple[PictureSide, Naming]) -> Mapping[str, Sequence[tuple[int, Place]]]:
    """Return the changed places of a side by their names, with their indices."""
    side, naming = part
    return group_by_key(
        (naming(place), (number, place)) for number, place in enumerate(side.states)
    )


def _around(
    sides: Sides,
    named: Sequence[Mapping[str, Sequence[tuple[int, Place]]]],
    chosen: dict[str, None],
) -> dict[str, None]:
    """Return the neighbors of the chosen instructions, before or after."""
    result: dict[str, None] = {}
    for (side, naming), places in zip(sides, named, strict=True):
        for _, place in sorted(chain.from_iterable(places.get(name, ()) for name in chosen)):
            others = (naming(neighbor) for neighbor in side.neighbors(place))
            new = (name for name in others if name not in chosen and name not in result)
            result.update(dict.fromkeys(islice(new, _MOST_AROUND_ONE)))
    return dict(islice(result.items(), _MOST_AROUND))


def _pairs(sides: Sides, shown: Sequence[Collection[str]]) -> list[Pair]:
    """Return drawings of both sides for each collection of names, in one pass over the modules."""
    every = set(chain.from_iterable(shown))
    computations = set[str]().union(*(side.computations for side, _ in sides))
    result = [(*side, find_shown(*side, every, computations)) for side in sides]
    pairs = []
    for names in shown:
        old, new = (
            _Excerpt(side, naming, _restricted(there, names)).drawing()
            for side, naming, there in result
        )
        first, second = _marked(old, new, "removed"), _marked(new, old, "added")
        pairs.append((replace(first, title="before"), replace(second, title="after")))
    return pairs


def _restricted(value: Found, names: Collection[str]) -> Found:
    """Return the part of the instructions with certain names."""
    parts = (
        (computation, {name: text for name, text in there.items() if name in names})
        for computation, there in value.items()
    )
    return {computation: part for computation, part in parts if part}


def _unframed(drawing: Drawing) -> Drawing:
    """Return a drawing without frames, in which each box names its frame."""
    inside = {member: group.title for group in drawing.groups for member in group.members}
    nodes = (
        node._replace(lines=(*node.lines, f"in {shorten(inside[node.id])}"))
        if node.id in inside
        else node
        for node in drawing.nodes
    )
    return replace(drawing, nodes=tuple(nodes), groups=())


def _marked(drawing: Drawing, other: Drawing, state: State) -> Drawing:
    """Return the drawing with a state on arrows that the other drawing lacks."""
    there = {(edge.source, edge.target) for edge in other.edges}

    def marked(edge: Arrow) -> Arrow:
        kept = (edge.source, edge.target) in there
        return edge if kept else edge._replace(state=state)

    return replace(drawing, edges=tuple(map(marked, drawing.edges)))
