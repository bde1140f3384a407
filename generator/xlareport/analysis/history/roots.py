"""Which instructions of the first snapshot those of the last do the work of, and the reverse.

The same as asking for the ancestors or the descendants of each, in one walk over the snapshots.
"""

from collections.abc import Iterator, Mapping

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.matching.result import Matching
from xlareport.hlo.model import HloModule

Places = tuple[Place, ...]
Relatives = Mapping[str, Mapping[str, Places]]
"""Places of the snapshot at the other end, by computation and instruction."""


def roots(snapshots: SnapshotSequence) -> Relatives:
    """Return the ancestors in the first snapshot of every instruction of the last."""
    found = _own(snapshots.modules[0])
    for number in range(1, len(snapshots.modules)):
        matching = snapshots.into(number)
        if matching is not None:
            old_names = {new: old for old, new in matching.computations.items()}
            told = dict(_sources(matching))
            found = _carried(matching.before, matching.after, old_names, told, found)
    return found


def heirs(snapshots: SnapshotSequence) -> Relatives:
    """Return the descendants in the last snapshot of every instruction of the first."""
    found = _own(snapshots.modules[-1])
    for number in range(len(snapshots.modules) - 1, 0, -1):
        matching = snapshots.into(number)
        if matching is not None:
            told = dict(_targets(matching))
            found = _carried(matching.after, matching.before, matching.computations, told, found)
    return found


def _own(module: HloModule) -> Relatives:
    return {
        one.name: {line.name: (Place(one.name, line.name),) for line in one.instructions}
        for one in module.computations
    }


def _sources(matching: Matching) -> Iterator[tuple[Place, Places]]:
    """Yield what each place after that a pairing speaks of came from."""
    for pairing in matching.pairings:
        for place in pairing.after:
            said = matching.said_of_after(place)
            yield place, said.before if said else ()


def _targets(matching: Matching) -> Iterator[tuple[Place, Places]]:
    """Yield what each place before that a pairing speaks of became."""
    for pairing in matching.pairings:
        for place in pairing.before:
            said = matching.said_of_before(place)
            yield place, said.after if said else ()


def _carried(
    near: HloModule,
    far: HloModule,
    names: Mapping[str, str],
    told: Mapping[Place, Places],
    found: Relatives,
) -> Relatives:
    """Take relatives from the snapshot `near` to its neighbour; what both share keeps its own.

    `names` are computations of `far` that go by another name in `near`, `told` what its places are
    there where pairings speak of them.
    """
    carried: dict[str, dict[str, Places]] = {}
    shared: dict[str, Mapping[str, Places]] = {}
    touched = {place.computation for place in told}
    for one in far.computations:
        kept = found.get(names.get(one.name, one.name), {})
        if near.by_name.get(one.name) is one and one.name not in touched:
            shared[one.name] = kept
        else:
            carried[one.name] = {line.name: kept.get(line.name, ()) for line in one.instructions}
    for place, relatives in told.items():
        carried[place.computation][place.instruction] = _joined(relatives, found)
    return {**shared, **carried}


def _joined(places: Places, found: Relatives) -> Places:
    if len(places) == 1:
        return found[places[0].computation][places[0].instruction]
    every = (found[one.computation][one.instruction] for one in places)
    return tuple(dict.fromkeys(relative for some in every for relative in some))
