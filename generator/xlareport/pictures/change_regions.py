"""Where a step changed something: what changed together, and which spots are alike."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xlareport.analysis.matching.pairing import Place
from xlareport.pictures.side import PictureSide

_HUB = 6
"""What has more changed neighbours holds them together no more: everybody reads it."""

Naming = Callable[[Place], str]
Likeness: TypeAlias = frozenset[tuple[tuple[str, str], int]]
"""How many instructions of each state and opcode there are."""


@dataclass(slots=True)
class ChangeRegion:
    """Instructions that changed and stand next to one another."""

    ids: dict[str, None] = field(default_factory=dict)
    """In the order of the modules, those before first."""
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many there are of each state and opcode."""

    @property
    def is_new(self) -> bool:
        """Whether anything came or went."""
        return any(state != "changed" for state, _ in self.kinds)

    @property
    def likeness(self) -> Likeness:
        """What spots alike have in common."""
        return frozenset(self.kinds.items())


def find_change_regions(sides: Iterable[tuple[PictureSide, Naming]]) -> list[ChangeRegion]:
    """Return the spots of a step; a name is the same before and after.

    Those with most to see come first: where things came or went, of many kinds, and many of them.

    What a computation took in, or gave back, is a spot of its own: a pass that makes fifty fusions
    changed fifty spots, however they hang together.
    """
    sides = tuple(sides)
    links = _links(sides)
    kinds: dict[str, tuple[str, str]] = {}
    for name, kind in _changed(sides):
        kinds.setdefault(name, kind)
    regions = []
    while kinds:
        regions.append(_walk(next(iter(kinds)), links, kinds))
    return sorted(
        regions, key=lambda region: (not region.is_new, -len(region.kinds), -len(region.ids))
    )


def _walk(
    start: str, links: Mapping[str, Iterable[str]], kinds: dict[str, tuple[str, str]]
) -> ChangeRegion:
    """Return the spot around a name, the nearest first, and take it out of `kinds`."""
    region, waiting = ChangeRegion(), deque([start])
    while waiting:
        name = waiting.popleft()
        if name in kinds:
            region.ids[name] = None
            region.kinds[kinds.pop(name)] += 1
            waiting.extend(links.get(name, ()))
    return region


def _links(sides: Sequence[tuple[PictureSide, Naming]]) -> dict[str, list[str]]:
    """Link what changed and stands together, directly or at something that did not change."""
    owners = _owners(sides)
    beside: dict[str, dict[str, None]] = {}
    for side, naming in sides:
        for place in side.states:
            for other in side.neighbours(place):
                beside.setdefault(naming(other), {})[naming(place)] = None
    links: dict[str, list[str]] = {}
    for owner, names in _by_owner(owners).items():
        if owner:
            _link(links, names)
    for name, changed in beside.items():
        if name in owners or len(changed) <= _HUB:
            for names in _by_owner({text: owners[text] for text in changed}).values():
                here = owners.get(name) == owners[names[0]]
                _link(links, [name, *names] if here else names)
    return links


def _link(links: dict[str, list[str]], names: Sequence[str]) -> None:
    """Link the first name with all others."""
    for name in names[1:]:
        links.setdefault(names[0], []).append(name)
        links.setdefault(name, []).append(names[0])


def _owners(sides: Iterable[tuple[PictureSide, Naming]]) -> dict[str, str]:
    """Return the called computation that each changed name belongs to, after or before."""
    owners: dict[str, str] = {}
    for side, naming in sides:
        for place in side.states:
            owners[naming(place)] = side.home(place) or owners.get(naming(place), "")
    return owners


def _by_owner(owners: Mapping[str, str]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for name, owner in owners.items():
        result.setdefault(owner, []).append(name)
    return result


def _changed(sides: Iterable[tuple[PictureSide, Naming]]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the name, and state and opcode, of everything that changed."""
    for side, naming in sides:
        for place, state in side.states.items():
            yield naming(place), (state, side.instruction(place).opcode)
