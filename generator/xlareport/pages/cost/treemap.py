"""The cost of each framework scope as areas, in two levels; the same figures in words."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

import squarify
from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.analysis.source.scopes import (
    RECOMPUTED,
    numbered_opcode,
    phase_of,
    split_path,
    untransformed,
)
from xlareport.pages.charts import svg_chart
from xlareport.pictures.layout import Rectangle
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_WIDTH, _HEIGHT = 760, 280
_HEAD = 17
_FOOT = 22
"""Height of the line below the areas: the name of the area under the pointer or in focus."""
_MOST_LETTERS = 90
"""Of that name, the last ones."""
_MOST_GROUPS = 12
_MOST_TILES = 20
_LEAST_WIDTH, _LEAST_HEIGHT = 20, 16
_NO_SCOPE = "(no op_name)"
_MADE = "(made by XLA)"
"""Of op_names such as `broadcast.53`, which XLA gives to instructions that its passes insert."""
_MOST_NAMES = 3
"""Such op_names that a tooltip names."""
_NAMED = 3
_CHECKPOINTED = " with checkpoint"


class _Tile(Struct, frozen=True):
    """A name and its share of the whole."""

    name: str
    share: float
    is_rest: bool = False
    """Whether it is the rest of many: they have no op_name in common."""
    members: tuple[str, ...] = ()
    """The op_names that XLA numbered, `broadcast.53`, of which it is the sum."""


class _Group(Struct, frozen=True):
    """A scope with its direct scopes or operations."""

    name: str
    tiles: tuple[_Tile, ...]
    is_rest: bool = False
    """Whether it is the rest of many groups, which are its tiles."""

    @property
    def share(self) -> float:
        """Share of the whole."""
        return sum(tile.share for tile in self.tiles)


def treemap(parts: Sequence[CostPart], page: str = "") -> str:
    """Draw the time of scopes as nested areas; empty where fewer than two take any.

    An area leads to its instructions, with their op_names, in the table at the address `page`.
    """
    groups = _groups(parts)
    if sum(len(group.tiles) for group in groups) < 2:
        return ""
    boxes = _layout([group.share for group in groups], Rectangle(0, 0, _WIDTH, _HEIGHT))
    titled = zip(groups, boxes, _titles(groups), strict=True)
    inside = "".join(_group(group, box, page, title) for group, box, title in titled)
    return svg_chart(treemap_words(parts), inside, _HEIGHT + _FOOT, "xr-treemap")


def treemap_words(parts: Sequence[CostPart]) -> str:
    """Return the treemap's summary in words: the largest areas."""
    groups = _groups(parts)
    named = [
        f"{title} {units.share(group.share)}"
        for title, group in list(zip(_titles(groups), groups, strict=True))[:_NAMED]
    ]
    return f"Time by op_name scope; largest: {', '.join(named)}" if named else ""


def _groups(parts: Sequence[CostPart]) -> list[_Group]:
    """Return scopes grouped by the first level in which they differ, most expensive first."""
    timed = [(tuple(split_path(part.name)), part.seconds) for part in parts if part.seconds > 0]
    whole = sum(seconds for _, seconds in timed)
    common = _common([levels for levels, _ in timed if len(levels) > 1])
    shares: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for levels, seconds in timed:
        own_levels = levels[common:] or levels[-1:]
        depth = _group_depth(own_levels)
        group = "/".join(own_levels[:depth]) or _NO_SCOPE
        opcode = numbered_opcode(own_levels[-1])
        group = _MADE if opcode and len(own_levels) == 1 else group
        tile = "/".join((*own_levels[depth:-1], opcode)) if opcode else "/".join(own_levels[depth:])
        shares[group][tile or group] += seconds / whole
        if opcode:
            members[group, tile].append(own_levels[-1])
    groups = [
        _Group(
            name,
            tuple(
                replace(tile, members=tuple(members.get((name, tile.name), ())))
                for tile in _largest(tiles, _MOST_TILES)
            ),
        )
        for name, tiles in shares.items()
    ]
    groups.sort(key=lambda group: -group.share)
    return _merged(groups)


def _group_depth(levels: Sequence[str]) -> int:
    """Return how many levels name a group: of a transformation of nothing, the next one too.

    In a scan, JAX writes `transpose(jvp())/while/body/closed_call/mlp/dot_general`.
    """
    depth = 1
    if not untransformed(levels[0]) and levels[0]:
        depth += 1 + (levels[1:2] == (RECOMPUTED,))
    return depth if len(levels) > depth else 1


def _common(paths: Sequence[Sequence[str]]) -> int:
    """Return the number of leading levels that all paths share, without the last of each."""
    depth = 0
    while paths and all(len(path) > depth + 1 and path[depth] == paths[0][depth] for path in paths):
        depth += 1
    return depth


def _largest(shares: Mapping[str, float], most: int) -> tuple[_Tile, ...]:
    """Return the largest tiles, the rest as one."""
    tiles = [_Tile(name, share) for name, share in shares.items()]
    tiles.sort(key=lambda tile: -tile.share)
    if len(tiles) <= most:
        return tuple(tiles)
    small = tiles[most - 1 :]
    whole = sum(tile.share for tile in small)
    return (*tiles[: most - 1], _Tile(f"{len(small)} more", whole, is_rest=True))


def _merged(groups: Sequence[_Group]) -> list[_Group]:
    """Return the largest groups, the rest as one."""
    if len(groups) <= _MOST_GROUPS:
        return list(groups)
    small = groups[_MOST_GROUPS - 1 :]
    shares = {group.name: group.share for group in small}
    tiles = _largest(shares, _MOST_TILES)
    return [*groups[: _MOST_GROUPS - 1], _Group(f"{len(small)} more", tiles, is_rest=True)]


def _layout(shares: Sequence[float], box: Rectangle) -> list[Rectangle]:
    """Divide a box by shares, largest first, into rectangles as square as can be."""
    sizes = squarify.normalize_sizes(shares, box.width, box.height)
    boxes = squarify.squarify(sizes, box.x, box.y, box.width, box.height)
    return [Rectangle(item["x"], item["y"], item["dx"], item["dy"]) for item in boxes]


def _titles(groups: Sequence[_Group]) -> list[str]:
    """Return a name for each group, with what tells groups of one name apart."""
    plain = [_telling(group.name) for group in groups]
    marked = [
        f"{title}{_CHECKPOINTED * (plain.count(title) > 1 and _is_checkpointed(group))}"
        for title, group in zip(plain, groups, strict=True)
    ]
    return [
        group.name if marked.count(title) > 1 else title
        for title, group in zip(marked, groups, strict=True)
    ]


def _is_checkpointed(group: _Group) -> bool:
    return any(RECOMPUTED in split_path(tile.name) for tile in group.tiles)


def _group(group: _Group, box: Rectangle, page: str, title: str) -> str:
    """Draw one scope: its name over its parts, or one area where it has no parts."""
    has_head = len(group.tiles) > 1 and box.height > 3 * _HEAD and box.width > _LEAST_WIDTH
    if len(group.tiles) == 1:
        only = _tile(replace(group.tiles[0], name=_only_name(group)), box, _whole_name(group))
        return _linked(only, _whole_name(group), page) + _outline(box)
    top = _HEAD if has_head else 0
    inner = Rectangle(box.x, box.y + top, box.width, box.height - top)
    boxes = _layout([tile.share for tile in group.tiles], inner)
    drawn = "".join(
        _linked(
            _tile(tile, place, f"{group.name}/{tile.name}"),
            _path(group, tile),
            "" if tile.is_rest else page,
        )
        for tile, place in zip(group.tiles, boxes, strict=True)
    )
    head = _label(title, group.share, Rectangle(box.x, box.y, box.width, _HEAD)) if has_head else ""
    return f"{drawn}{_linked(head, group.name, '' if group.is_rest else page)}{_outline(box)}"


def _path(group: _Group, tile: _Tile) -> str:
    """Return the levels of an area; those of the rest of many groups are groups themselves."""
    if tile.name == group.name or group.is_rest:
        return tile.name
    return f"{group.name}/{tile.name}"


def _linked(drawn: str, path: str, page: str) -> str:
    """Link an area to the instructions whose op_names have all levels of a path.

    Without a page it stays as it is.
    """
    levels = [f"/{level}" for level in split_path(path) if level]
    if not page or not drawn or path.startswith((_NO_SCOPE, _MADE)):
        return drawn
    wanted = quote(" ".join(levels), safe="")
    label = escape(f"Instructions of {path}")
    return f'<a href="{escape(page)}&amp;q={wanted}" aria-label="{label}">{drawn}</a>'


def _only_name(group: _Group) -> str:
    """Return the label of a group of one tile: of XLA's own or no scope, the opcode says more."""
    is_unnamed = group.name == _MADE or not untransformed(group.name)
    return group.tiles[0].name if is_unnamed else group.name


def _whole_name(group: _Group) -> str:
    only = group.tiles[0].name
    return group.name if only == group.name else f"{group.name}/{only}"


def _telling(name: str) -> str:
    """Return a path in fewer words: of `transpose(jvp(layer_3))`, `layer_3 backward`."""
    levels = split_path(name)
    bare = [untransformed(level) for level in levels if level != RECOMPUTED]
    if bare == levels:
        return name
    phase = phase_of(f"{name}/")
    return " ".join(filter(None, ("/".join(filter(None, bare)) or "(no scope)", phase)))


def _tile(tile: _Tile, box: Rectangle, whole: str) -> str:
    label = _label(_telling(tile.name), tile.share, box) if box.height >= _LEAST_HEIGHT else ""
    members = f" ({first_few(tile.members, _MOST_NAMES)})" if tile.members else ""
    words = f"{whole}: {units.share(tile.share)}{members}"
    short = (
        words if len(words) <= _MOST_LETTERS else f"\N{HORIZONTAL ELLIPSIS}{words[-_MOST_LETTERS:]}"
    )
    return (
        f'<g><title>{escape(words)}</title><rect class="xr-tile" {_box_attributes(box)}/>{label}'
        f'<text class="xr-tick xr-tile-name" x="2" y="{_HEIGHT + _FOOT - 6}">{escape(short)}</text>'
        "</g>"
    )


def _outline(box: Rectangle) -> str:
    return f'<rect class="xr-tiles" {_box_attributes(box)}/>'


def _box_attributes(box: Rectangle) -> str:
    place = f'x="{box.x:.1f}" y="{box.y:.1f}"'
    return f'{place} width="{box.width:.1f}" height="{box.height:.1f}"'


def _label(name: str, share: float, box: Rectangle) -> str:
    """Return name and share, which the style sheet shortens or drops where a box is too narrow."""
    if box.width < _LEAST_WIDTH:
        return ""
    place = _box_attributes(Rectangle(box.x + 3, box.y + 1, box.width - 4, _HEAD - 1))
    words = f"<span>{escape(name)}</span><span>{units.share(share)}</span>"
    return (
        f'<foreignObject {place}><div class="xr-tick xr-tile-label">{words}</div></foreignObject>'
    )
