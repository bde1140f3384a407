"""The change regions of a step that are drawn: one of several equal ones; the others are counted.

Of the different ones that are not drawn, the first of each kind have pictures of their own.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import TypeAlias

from msgspec import Struct, field

from xlareport.analysis.matching.search.pairing import Place
from xlareport.pictures.step_side import PictureSide
from xlareport.runtime.english import first_few
from xlareport.runtime.graphs import nearest_first
from xlareport.runtime.grouping import group_by_key
from xlareport.runtime.units import plural

_HUB = 6
"""Number of changed neighbors above which an instruction no longer connects a region."""

Naming = Callable[[Place], str]
Likeness: TypeAlias = frozenset[tuple[tuple[str, str], int]]
"""Number of instructions of each state and opcode."""


class ChangeRegion(Struct):
    """Connected instructions that changed."""

    ids: dict[str, None] = field(default_factory=dict)
    """In the order of the modules, those before first."""
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of instructions of each state and opcode."""

    @property
    def is_new(self) -> bool:
        """Whether an instruction of the region was added or removed, not only changed."""
        return any(state != "changed" for state, _ in self.kinds)

    @property
    def likeness(self) -> Likeness:
        """The key of similar regions."""
        return frozenset(self.kinds.items())


def find_change_regions(sides: Iterable[tuple[PictureSide, Naming]]) -> list[ChangeRegion]:
    """Return the regions of a step; a name is the same before and after.

    Regions with additions and removals, with many kinds and with many instructions come first.

    The instructions that a computation took in or released are a region of their own: a pass that
    makes fifty fusions changed fifty regions, even if they are connected.
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
    """Return the region around a name, the nearest first, and take it out of `kinds`."""
    region = ChangeRegion()
    for name in nearest_first(
        [start], lambda name: filter(kinds.__contains__, links.get(name, ()))
    ):
        region.ids[name] = None
        region.kinds[kinds.pop(name)] += 1
    return region


def _links(sides: Sequence[tuple[PictureSide, Naming]]) -> dict[str, list[str]]:
    """Link changed instructions that are connected, directly or at an unchanged one."""
    owners = _owners(sides)
    links: dict[str, list[str]] = {}
    for owner, names in _by_owner(owners).items():
        if owner:
            _link(links, names)
    for name, changed in _beside(sides).items():
        if len(changed) == 1:  # as most have
            (sole,) = changed
            if owners.get(name) == owners[sole]:
                _link(links, (name, sole))
        elif name in owners or len(changed) <= _HUB:
            for names in _by_owner({text: owners[text] for text in changed}).values():
                here = owners.get(name) == owners[names[0]]
                _link(links, [name, *names] if here else names)
    return links


def _beside(sides: Iterable[tuple[PictureSide, Naming]]) -> dict[str, dict[str, None]]:
    """Return the changed instructions beside each instruction."""
    beside: dict[str, dict[str, None]] = {}
    for side, naming in sides:
        for place in side.states:
            name = naming(place)
            for other in side.neighbors(place):
                beside.setdefault(naming(other), {})[name] = None
    return beside


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
            name = naming(place)
            owners[name] = side.home(place) or owners.get(name, "")
    return owners


def _by_owner(owners: Mapping[str, str]) -> dict[str, list[str]]:
    return group_by_key((owner, name) for name, owner in owners.items())


def _changed(sides: Iterable[tuple[PictureSide, Naming]]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the name, and state and opcode, of everything that changed."""
    for side, naming in sides:
        for place, state in side.states.items():
            yield naming(place), (state, side.instruction(place).opcode)


_MOST_CHANGED = 40
"""Changed boxes that are drawn, before and after together."""

_ENOUGH_CHANGED = 24
_MOST_SPOTS = 4
"""Changed boxes up to which further regions are drawn, and how many regions there are at most."""

_MOST_PLACES = 16
"""Regions with a picture of their own, and none is larger than is drawn together.

On a GPT-2 train step with 50 changed steps these cost 1.3 s of CPU and 256 KB; half as many 1.1 s
and 165 KB.
"""

_MOST_LINES = 60
_MOST_NAMES = 8
_MOST_KINDS = 4


class PictureSelection(Struct):
    """The drawn regions of a step, and the others."""

    chosen: dict[str, None] = field(default_factory=dict)
    """Names of the changed boxes."""
    alike: list[ChangeRegion] = field(default_factory=list)
    """Regions that changed in the same way as one that is drawn."""
    others: list[ChangeRegion] = field(default_factory=list)
    cut: int = 0
    """Changed boxes of the largest region that are left out."""

    def notes(self) -> tuple[str, ...]:
        """Return the number of regions that are not drawn."""
        counts = {
            "{} changed the same way.": plural(len(self.alike), "place"),
            "{} that changed.": plural(len(self.others), "other place"),
            "{} changed together with these.": plural(self.cut, "instruction"),
        }
        there = (self.alike, self.others, self.cut)
        return tuple(
            f"Not drawn: {words.format(count)}"
            for (words, count), some in zip(counts.items(), there, strict=True)
            if some
        )

    def lines(self) -> tuple[str, ...]:
        """Return lines on the regions that are not drawn, similar ones in one, by frequency."""
        result = [*_families(self.alike), *_families(self.others)]
        drawn = {region.likeness for region in self.alike}
        more = len(result) - _MOST_LINES
        return (
            *(_regions_line(regions, drawn) for regions in result[:_MOST_LINES]),
            *([f"{plural(more, 'more kind')} of places"] if more > 0 else []),
        )

    def places(self) -> list[tuple[int, ChangeRegion]]:
        """Return which regions get a picture of their own, each with the line that names it.

        The first of every line come first, then the second ones.
        """
        families = [*_families(self.alike), *_families(self.others)][:_MOST_LINES]
        rows = (
            [(line, region) for region in members[:_MOST_NAMES]]
            for line, members in enumerate(families)
        )
        named = (item for item in chain.from_iterable(zip_longest(*rows)) if item)
        small = (item for item in named if len(item[1].ids) <= _ENOUGH_CHANGED)
        return sorted(islice(small, _MOST_PLACES), key=lambda item: item[0])


def choose(regions: Sequence[ChangeRegion]) -> PictureSelection:
    """Return the regions to draw; `regions` come with the most informative first."""
    picture_selection = PictureSelection()
    drawn: set[Likeness] = set()
    for region in regions:
        if region.likeness in drawn:
            picture_selection.alike.append(region)
        elif not picture_selection.chosen or (
            len(picture_selection.chosen) + len(region.ids) <= _ENOUGH_CHANGED
            and len(drawn) < _MOST_SPOTS
        ):
            picture_selection.chosen.update(islice(region.ids.items(), _MOST_CHANGED))
            drawn.add(region.likeness)
        else:
            picture_selection.others.append(region)
    picture_selection.cut = max(0, len(regions[0].ids) - _MOST_CHANGED) if regions else 0
    return picture_selection


def _families(regions: Sequence[ChangeRegion]) -> list[list[ChangeRegion]]:
    """Return groups of similar regions, the largest first."""
    families = group_by_key((region.likeness, region) for region in regions)
    return sorted(families.values(), key=len, reverse=True)


def _regions_line(members: Sequence[ChangeRegion], drawn: Collection[Likeness]) -> str:
    """Return a line for similar regions: kinds of change, number, places."""
    times = f"{plural(len(members), 'place')}, " if len(members) > 1 else ""
    words = "as drawn" if members[0].likeness in drawn else _kinds(members[0].kinds)
    names = [name_of(member) for member in members[:_MOST_NAMES]]
    return f"{times}{words}: {first_few(names, _MOST_NAMES, len(members))}"


def name_of(region: ChangeRegion) -> str:
    """Return the instruction that a region is named after: `%add.3` for `main/%add.3'`."""
    return f"%{next(iter(region.ids)).rpartition('%')[2].rstrip(chr(39))}"


def _kinds(kinds: Mapping[tuple[str, str], int]) -> str:
    """Return `2 added copy, removed transpose`, the most frequent first."""
    most = Counter(kinds).most_common()
    words = [f"{state} {opcode}" for (state, opcode), _ in most[:_MOST_KINDS]]
    counted = [
        f"{count} {word}" if count > 1 else word
        for word, (_, count) in zip(words, most[:_MOST_KINDS], strict=True)
    ]
    return ", ".join(counted) + (", …" if len(most) > _MOST_KINDS else "")
