"""Replica groups drawn on the device mesh: a square for each device, one color for each group."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations, product
from math import prod

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.pages.rendering.device_table import DeviceCell, draw_device_table
from xlareport.pages.rendering.environment import prose
from xlareport.records.shardings import MeshRecord
from xlareport.runtime import units
from xlareport.runtime.english import first_few
from xlareport.runtime.grouping import group_by_key

_MOST_DRAWN = 256
"""Limit on devices of a drawn mesh; a larger one is described in words."""
_MOST_PAIRS = 16
_MOST_NAMES = 4
_MOST_KINDS = 40
_MOST_AXES = 6
_MOST_COLUMNS = 16


class GroupsFigure(Struct, frozen=True):
    """One grouping of devices, with the collectives that use it."""

    title: str
    drawing: Markup
    """Empty where the mesh is too large, or the groups are not listed."""
    words: str
    written: str
    is_renamed: bool
    """Whether it has the names that XLA gives the axes of a mesh of its own."""
    used_by: str


def draw_groups(
    rows: Sequence[CollectiveRow], devices: int, mesh: MeshRecord | None = None
) -> tuple[GroupsFigure, ...]:
    """Return a figure for each different grouping, in order of first appearance."""
    layout = _lay_out(rows, devices, mesh)
    users = group_by_key((_groups_key(row), row) for row in rows)
    figures = (
        _figure(number, every, layout, (devices, mesh))
        for number, every in enumerate(list(users.values())[:_MOST_KINDS], 1)
    )
    return tuple(figures)


def label_groups(
    rows: Sequence[CollectiveRow], mesh: MeshRecord | None = None
) -> dict[tuple[str, str], str]:
    """Return the label of each collective's grouping by its place, as in `G1 (data)`."""
    numbers: dict[Hashable, int] = {}
    labels = {}
    for row in rows:
        number = numbers.setdefault(_groups_key(row), len(numbers) + 1)
        axes = find_axes(row, mesh)
        labels[row.collective.key] = f"G{number} ({', '.join(axes)})" if axes else f"G{number}"
    return labels


def find_axes(row: CollectiveRow, mesh: MeshRecord | None) -> tuple[str, ...]:
    """Return the mesh axes along which a collective moves data; empty if none fit."""
    pairs = row.figures.pairs
    return find_pair_axes(pairs, mesh) if pairs else find_group_axes(_group_ids(row), mesh)


def find_group_axes(groups: Sequence[Sequence[int]], mesh: MeshRecord | None) -> tuple[str, ...]:
    """Return the mesh axes along which groups of partition ids extend; empty if none fit.

    Only axes that the framework named count.
    """
    places = _device_places(mesh) if groups else {}
    if mesh is None or not places:
        return ()
    wanted = {frozenset(group) for group in groups}
    axes = [number for number, axis in enumerate(mesh.axes) if axis.size > 1]
    for count in range(1, len(axes) + 1):
        for along in combinations(axes, count):
            if wanted == _groups_along(places, along):
                return tuple(mesh.axes[axis].name for axis in along)
    return ()


def find_pair_axes(pairs: Sequence[tuple[int, int]], mesh: MeshRecord | None) -> tuple[str, ...]:
    """Return the mesh axes in which sender and receiver differ; empty if pairs disagree.

    A pair of a device with itself moves nothing and is left out.
    """
    places = _device_places(mesh)
    if mesh is None or not all(device in places for pair in pairs for device in pair):
        return ()
    differing = {
        tuple(step != other for step, other in zip(places[sender], places[receiver], strict=True))
        for sender, receiver in pairs
        if sender != receiver
    }
    if len(differing) != 1:
        return ()
    (along,) = differing
    return tuple(axis.name for axis, differs in zip(mesh.axes, along, strict=True) if differs)


_Places = Mapping[int, tuple[int, ...]]
"""The place of each device on the axes of a mesh."""


def _device_places(mesh: MeshRecord | None) -> _Places:
    """Return the places of devices on named axes; empty where the mesh does not say them."""
    if mesh is None or not mesh.named or not 0 < len(mesh.axes) <= _MOST_AXES:
        return {}
    sizes = [axis.size for axis in mesh.axes]
    if prod(sizes) != len(mesh.devices):
        return {}
    return dict(zip(mesh.devices, product(*map(range, sizes)), strict=True))


def _groups_along(places: _Places, along: Sequence[int]) -> set[frozenset[int]]:
    """Return the groups of the devices that differ along some axes alone."""
    groups: dict[tuple[int, ...], set[int]] = {}
    for device, place in places.items():
        other_steps = tuple(step for axis, step in enumerate(place) if axis not in along)
        groups.setdefault(other_steps, set()).add(device)
    return {frozenset(group) for group in groups.values()}


def _group_ids(row: CollectiveRow) -> tuple[tuple[int, ...], ...]:
    """Return the groups of partition ids of a collective, pairs aside; empty where not listed."""
    groups = row.figures.groups
    return (groups.groups if groups else None) or ()


def _groups_key(row: CollectiveRow) -> Hashable:
    """Return the key that collectives with the same device groups share.

    Pairs of sender and receiver are no groups; both directions of an exchange are one grouping.
    """
    listed = _device_groups(row)
    if row.figures.pairs:
        return "pairs", frozenset(frozenset(pair) for pair in listed)
    return tuple(sorted(listed)) if listed else row.groups_text


def _device_groups(row: CollectiveRow) -> tuple[tuple[int, ...], ...]:
    figures = row.figures
    return figures.pairs or (figures.groups.groups if figures.groups else None) or ()


def _lay_out(
    rows: Sequence[CollectiveRow], devices: int, mesh: MeshRecord | None
) -> list[list[int]]:
    """Return the devices row by row: those of the program's mesh, else of one that XLA names."""
    order = list(mesh.devices) if mesh is not None and _device_places(mesh) else []
    if mesh is not None and len(order) == devices:
        sizes = [axis.size for axis in mesh.axes if axis.size > 1]
        columns = sizes[-1] if len(sizes) > 1 else min(devices, _MOST_COLUMNS)
    else:
        order, columns = list(range(devices)), _mesh_shape(rows, devices)[1]
    return [order[start : start + columns] for start in range(0, devices, columns)]


def _mesh_shape(rows: Sequence[CollectiveRow], devices: int) -> tuple[int, int]:
    """Return rows and columns: those of the mesh with most axes that a collective names."""
    shapes = [
        tuple(size for size in row.figures.groups.mesh.sizes if size > 1)
        for row in rows
        if row.figures.groups is not None and row.figures.groups.mesh is not None
    ]
    fitting = [shape for shape in shapes if prod(shape) == devices and len(shape) > 1]
    if fitting:
        best = max(fitting, key=len)
        return prod(best[:-1]), best[-1]
    sizes = [row.figures.group_size or 1 for row in rows if not row.figures.pairs]
    across = next((size for size in sizes if 1 < size < devices and devices % size == 0), devices)
    columns = min(across, _MOST_COLUMNS)
    return -(-devices // columns), columns


def _figure(
    number: int,
    rows: Sequence[CollectiveRow],
    layout: Sequence[Sequence[int]],
    place: tuple[int, MeshRecord | None],
) -> GroupsFigure:
    listed, first = _device_groups(rows[0]), rows[0]
    devices, mesh = place
    axes = find_axes(first, mesh)
    pairs = first.figures.pairs
    names = [f"`{row.collective.instruction}`" for row in rows]
    return GroupsFigure(
        title=f"G{number}",
        drawing=_draw_pairs(rows) if pairs else _draw(listed, layout, devices),
        words=_words(first, devices) + (f", along {' and '.join(axes)}" if axes else ""),
        written=first.groups_text[:200] or "{}",
        is_renamed="'axis_" in first.groups_text,
        used_by=prose(first_few(names, _MOST_NAMES)),
    )


def _words(row: CollectiveRow, devices: int) -> str:
    figures = row.figures
    if figures.pairs:
        return f"{units.plural(len(figures.pairs), 'pair')} of sender and receiver"
    if figures.groups is not None:
        return f"{units.plural(figures.groups.count, 'group')} of {figures.groups.size:,} devices"
    if row.collective.kind == "collective-permute" and row.groups_text == "{}":
        return "no pairs: no device sends, and the result is zeros"
    return f"all {devices:,} devices" if row.groups_text in ("", "{}") else "groups not read"


def _draw_pairs(rows: Sequence[CollectiveRow]) -> Markup:
    """Return the pairs of sender and receiver, each direction with the collectives that send so."""
    directions = group_by_key((_device_groups(row), row.collective.instruction) for row in rows)
    return Markup().join(
        Markup('<p class="xr-pairs">{}</p>').format(_pairs_words(pairs, names, len(directions)))
        for pairs, names in directions.items()
    )


def _pairs_words(pairs: Sequence[Sequence[int]], names: Sequence[str], directions: int) -> str:
    shown = " ".join(f"{source}→{target}" for source, target in pairs[:_MOST_PAIRS])
    more = f" and {len(pairs) - _MOST_PAIRS:,} more" if len(pairs) > _MOST_PAIRS else ""
    senders = f"{first_few(names, _MOST_NAMES)}: " if directions > 1 else ""
    return f"{senders}{shown}{more}"


def _draw(groups: Sequence[Sequence[int]], layout: Sequence[Sequence[int]], devices: int) -> Markup:
    """Draw devices row by row as a table, each in the color and with the name of its group."""
    if devices > _MOST_DRAWN or not groups:
        return Markup()
    number_of = {device: number for number, group in enumerate(groups) for device in group}
    return draw_device_table(
        [[_cell(device, number_of.get(device)) for device in line] for line in layout]
    )


def _cell(device: int, number: int | None) -> DeviceCell:
    group = "in no group" if number is None else f"group {number}"
    return DeviceCell(str(device), number, f"device {device}, {group}")
