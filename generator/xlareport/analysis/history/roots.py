"""First and last snapshot: ancestors and descendants of all instructions, in one walk."""

from collections.abc import Callable, Iterator, Mapping
from itertools import repeat

from xlareport.analysis.history.instruction import (
    SnapshotSequence,
    sources_of,
    targets_of,
)
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule

Places = tuple[Place, ...]
Relatives = Mapping[str, Mapping[str, Places]]
"""Places of the snapshot at the other end, by computation and instruction."""
_Follow = Callable[[Matching, Place], Places]


def find_roots(snapshots: SnapshotSequence) -> Relatives:
    """Return the ancestors in the first snapshot of every instruction of the last."""
    places = _own(snapshots.modules[0])
    for number in range(1, len(snapshots.modules)):
        matching = snapshots.into(number)
        if matching is not None:
            old_names = {new: old for old, new in matching.computations.items()}
            sources = dict(_sources(matching))
            places = _carried(matching.before, matching.after, old_names, sources, places)
    return places


def find_descendants(snapshots: SnapshotSequence, follow: _Follow = targets_of) -> Relatives:
    """Return the descendants in the last snapshot of every instruction of the first.

    `follow` returns what an instruction goes on as in the next snapshot.
    """
    places = _own(snapshots.modules[-1])
    for number in range(len(snapshots.modules) - 1, 0, -1):
        matching = snapshots.into(number)
        if matching is not None:
            targets = dict(_targets(matching, follow))
            places = _carried(
                matching.after, matching.before, matching.computations, targets, places
            )
    return places


def _own(module: HloModule) -> Relatives:
    return {
        computation.name: {
            line.name: (Place(computation.name, line.name),) for line in computation.instructions
        }
        for computation in module.computations
    }


def _sources(matching: Matching) -> Iterator[tuple[Place, Places]]:
    """Yield each new place that a pairing covers, with the places that it came from."""
    for pairing in matching.pairings:
        for place in pairing.after:
            yield place, sources_of(matching, place)


def _targets(matching: Matching, follow: _Follow) -> Iterator[tuple[Place, Places]]:
    """Yield each old place that a pairing covers, with the places that do its work afterwards."""
    for pairing in matching.pairings:
        for place in pairing.before:
            yield place, follow(matching, place)


def _carried(
    near: HloModule,
    far: HloModule,
    names: Mapping[str, str],
    new_places: Mapping[Place, Places],
    places: Relatives,
) -> Relatives:
    """Translate the relatives of instructions from snapshot `near` to the adjacent snapshot `far`.

    Unchanged computations are shared. `names` are the names in `near` of renamed computations of
    `far`; `new_places` gives the places in `near` of instructions that a pairing covers.
    """
    carried: dict[str, dict[str, Places]] = {}
    shared: dict[str, Mapping[str, Places]] = {}
    touched = {place.computation for place in new_places}
    for computation in far.computations:
        former_places = places.get(names.get(computation.name, computation.name), {})
        if near.by_name.get(computation.name) is computation and computation.name not in touched:
            shared[computation.name] = former_places
        else:
            names_of_lines = computation.by_name
            former = map(former_places.get, names_of_lines, repeat(()))
            carried[computation.name] = dict(zip(names_of_lines, former, strict=True))
    for place, relatives in new_places.items():
        carried[place.computation][place.instruction] = relatives_of(relatives, places)
    return {**shared, **carried}


def relatives_of(places: Places, relatives: Relatives) -> Places:
    """Return the relatives of several places, each once."""
    if len(places) == 1:
        return relatives[places[0].computation][places[0].instruction]
    every = (relatives[place.computation][place.instruction] for place in places)
    return tuple(dict.fromkeys(relative for some in every for relative in some))
