"""Which spots of a step are drawn, and words on those that are not: of spots alike one is drawn.

Of those that are not, the first of each kind have a picture of their own, which the page opens.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

from xlareport.pictures.change_regions import ChangeRegion, Likeness
from xlareport.runtime.units import plural

_MOST_CHANGED = 40
"""Changed boxes that are drawn, before and after together."""

_ENOUGH_CHANGED = 24
_MOST_SPOTS = 4
"""Changed boxes up to which further spots are drawn, and how many spots there are at most."""

_MOST_PLACES = 16
"""Spots with a picture of their own, and none is larger than is drawn together.

On a GPT-2 train step with 50 changed steps these cost 1.3 s of CPU and 256 KB; half as many 1.1 s
and 165 KB.
"""

_MOST_LINES = 60
_MOST_NAMES = 8
_MOST_KINDS = 4


@dataclass(slots=True)
class PictureSelection:
    """What is drawn of a step and what is not."""

    chosen: dict[str, None] = field(default_factory=dict)
    """Names of the changed boxes."""
    alike: list[ChangeRegion] = field(default_factory=list)
    """Spots that changed in the same way as one that is drawn."""
    others: list[ChangeRegion] = field(default_factory=list)
    cut: int = 0
    """Changed boxes of the largest spot that are left out."""

    def notes(self) -> tuple[str, ...]:
        """Count what is not drawn."""
        counts = {
            "{} that changed in the same way.": plural(len(self.alike), "spot"),
            "{} that changed.": plural(len(self.others), "other spot"),
            "{} that changed together with these.": plural(self.cut, "instruction"),
        }
        there = (self.alike, self.others, self.cut)
        return tuple(
            f"Not drawn: {words.format(count)}"
            for (words, count), some in zip(counts.items(), there, strict=True)
            if some
        )

    def lines(self) -> tuple[str, ...]:
        """Name what is not drawn, spots alike in one line, the most frequent first."""
        result = [*_families(self.alike), *_families(self.others)]
        drawn = {spot.likeness for spot in self.alike}
        more = len(result) - _MOST_LINES
        return (
            *(_line(regions, drawn) for regions in result[:_MOST_LINES]),
            *([f"{plural(more, 'more kind')} of spots"] if more > 0 else []),
        )

    def places(self) -> list[tuple[int, ChangeRegion]]:
        """Return which spots get a picture of their own, each with the line that names it.

        The first of every line come first, then the second ones.
        """
        families = [*_families(self.alike), *_families(self.others)][:_MOST_LINES]
        rows = (
            [(line, spot) for spot in members[:_MOST_NAMES]]
            for line, members in enumerate(families)
        )
        named = (item for item in chain.from_iterable(zip_longest(*rows)) if item)
        small = (item for item in named if len(item[1].ids) <= _ENOUGH_CHANGED)
        return sorted(islice(small, _MOST_PLACES), key=lambda item: item[0])


def choose(spots: Sequence[ChangeRegion]) -> PictureSelection:
    """Choose what to draw of the spots, which come with the most telling first."""
    picture_selection = PictureSelection()
    drawn: set[Likeness] = set()
    for spot in spots:
        if spot.likeness in drawn:
            picture_selection.alike.append(spot)
        elif not picture_selection.chosen or (
            len(picture_selection.chosen) + len(spot.ids) <= _ENOUGH_CHANGED
            and len(drawn) < _MOST_SPOTS
        ):
            picture_selection.chosen.update(islice(spot.ids.items(), _MOST_CHANGED))
            drawn.add(spot.likeness)
        else:
            picture_selection.others.append(spot)
    picture_selection.cut = max(0, len(spots[0].ids) - _MOST_CHANGED) if spots else 0
    return picture_selection


def _families(spots: Sequence[ChangeRegion]) -> list[list[ChangeRegion]]:
    """Return the spots with those alike together, the most frequent first."""
    families: dict[Likeness, list[ChangeRegion]] = {}
    for spot in spots:
        families.setdefault(spot.likeness, []).append(spot)
    return sorted(families.values(), key=len, reverse=True)


def _line(members: Sequence[ChangeRegion], drawn: Collection[Likeness]) -> str:
    """Return a line for spots alike: what changed, how often, where."""
    times = f"{plural(len(members), 'spot')}, " if len(members) > 1 else ""
    words = "as drawn" if members[0].likeness in drawn else _kinds(members[0].kinds)
    names = [name_of(member) for member in members[:_MOST_NAMES]]
    more = f" and {len(members) - _MOST_NAMES} more" if len(members) > _MOST_NAMES else ""
    return f"{times}{words}: {', '.join(names)}{more}"


def name_of(spot: ChangeRegion) -> str:
    """Return the instruction that a spot is named after: `%add.3` for `main/%add.3'`."""
    return f"%{next(iter(spot.ids)).rpartition('%')[2].rstrip(chr(39))}"


def _kinds(kinds: Mapping[tuple[str, str], int]) -> str:
    """Return `2 added copy, removed transpose`, the most frequent first."""
    most = Counter(kinds).most_common()
    words = [f"{state} {opcode}" for (state, opcode), _ in most[:_MOST_KINDS]]
    counted = [
        f"{count} {word}" if count > 1 else word
        for word, (_, count) in zip(words, most[:_MOST_KINDS], strict=True)
    ]
    return ", ".join(counted) + (", …" if len(most) > _MOST_KINDS else "")
