"""The page on shardings: the mesh, shards by device, changes of sharding."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.shardings.shardy_texts import ShardyStep
from xlareport.pages.rendering.device_table import DeviceCell, draw_device_table
from xlareport.pages.shardings.tables import tabulate_shardings
from xlareport.pages.tables import PartPage
from xlareport.pages.tabs import ModuleTab
from xlareport.records.report import ModuleRecord
from xlareport.records.shardings import MeshRecord, ShardingRecord, ShardingsRecord
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_MOST_DRAWN = 24


class ShardingFigure(Struct, frozen=True):
    """A sharding with its drawing."""

    words: str
    written: str
    count: str
    drawing: Markup
    """Empty if nothing is divided, or the drawing would be too large."""


class ShardyFile(Struct, frozen=True):
    """One of Shardy's texts."""

    file: str
    words: str
    """What it has, with a period."""


class ShardingsPage(PartPage, frozen=True):
    """Everything on the page."""

    lead: str
    mesh_words: str
    mesh: Markup
    """The devices drawn; empty where the mesh is unknown or too large."""
    figures: tuple[ShardingFigure, ...]
    more_figures: str
    changes: str
    rematerializations: str
    shardy: tuple[ShardyFile, ...]
    """Empty without such texts."""


def shardings_page(module: ModuleRecord, record: ShardingsRecord) -> ShardingsPage:
    """Return the page of one module."""
    more = len(record.shardings) - _MOST_DRAWN
    return ShardingsPage(
        tables=tabulate_shardings(record, module.collectives),
        lead=_lead(record),
        mesh_words=_mesh_words(record.mesh),
        mesh=draw_mesh(record.mesh) if record.mesh is not None else Markup(),
        figures=tuple(map(_figure, record.shardings[:_MOST_DRAWN])),
        more_figures=f"{more:,} more are in the tables." if more > 0 else "",
        changes=_changes_sentence(record),
        rematerializations=_rematerializations(record),
        shardy=tuple(map(_shardy, record.shardy)),
    )


TAB = ModuleTab(
    "shardings", lambda shown: shown.record.shardings, shardings_page, wide=True, place=60
)


def _lead(record: ShardingsRecord) -> str:
    by = f", sharding propagation by {record.partitioner}" if record.partitioner else ""
    held = [(value.bytes, value.part_bytes) for value in record.parameters]
    whole = sum(size or 0 for size, _ in held)
    part = sum(size or 0 for _, size in held)
    sums = (
        f" Parameters: {units.byte_size(whole)} in total, {units.byte_size(part)} on each device."
        if whole
        else ""
    )
    return f"{record.partitions:,} partitions{by}.{sums}"


def _mesh_words(mesh: MeshRecord | None) -> str:
    if mesh is None:
        return "The mesh is not known: no sharding names axes or reshapes the devices."
    axes = ", ".join(f"{axis.name}={axis.size:,}" for axis in mesh.axes)
    named = "" if mesh.named else " The dump does not name the axes."
    return f"{axes}, from {mesh.source}.{named} Numbers are partition ids."


def _figure(sharding: ShardingRecord) -> ShardingFigure:
    return ShardingFigure(
        words=sharding.words,
        written=sharding.sharding,
        count=units.plural(sharding.instructions, "instruction"),
        drawing=draw_holders(sharding),
    )


def _changes_sentence(record: ShardingsRecord) -> str:
    if record.changes is None:
        return f"Not checked: {record.changes_reason}."
    if not record.changes:
        return "No elementwise op, copy or tuple changes the sharding of its operand."
    received = [
        change.received_bytes for change in record.changes if change.received_bytes is not None
    ]
    size = units.byte_size(sum(received))
    total = f" As partitioned, a device receives at least {size}." if any(received) else ""
    if not total and len(received) == len(record.changes):
        total = " Each device already has its new shard."
    return (
        f"{units.plural(len(record.changes), 'change')} of sharding at elementwise ops, copies "
        f"and tuples.{total} Received bytes are the part of the new shard that is not in the old "
        "one, by the shardings alone; loops count once. Passes after the partitioner may remove "
        "some of these collectives. Collectives are matched by op_name and line."
    )


def _shardy(step: ShardyStep) -> ShardyFile:
    meshes = "; ".join(f"mesh {mesh.name}: {mesh.axes}" for mesh in step.meshes) or "no mesh"
    manual = "".join(f"; shard_map over {axes}" for axes in step.manual_axes)
    count = units.plural(step.count, "value with a sharding", "values with shardings")
    return ShardyFile(step.path.rpartition("/")[2], f"{count}; {meshes}{manual}.")


def _rematerializations(record: ShardingsRecord) -> str:
    values = record.rematerializations
    if values is None:
        return f"Not checked: {record.rematerializations_reason}."
    read = f" Read from {record.rematerializations_read}."
    if not values:
        return f"None: no value is gathered whole and then sliced by partition id.{read}"
    count = units.plural(len(values), "value")
    return f"{count} gathered whole and then sliced by partition id.{read}"


_MOST_NAMED = 16
"""Devices that one cell names."""
_MOST_CELLS = 64
"""Limit on rows, and on columns, of one drawing."""
MeshPosition = tuple[int, ...]


def draw_mesh(mesh: MeshRecord) -> Markup:
    """Draw the devices of a mesh: the last axis across, the others down; empty if too many."""
    sizes = [axis.size for axis in mesh.axes]
    if not mesh.devices or not sizes or sizes[-1] > _MOST_CELLS:
        return Markup()
    *down, across = mesh.axes
    outer = list(product(*(range(axis.size) for axis in down)))
    if len(outer) > _MOST_CELLS:
        return Markup()
    heads = [
        " ".join(f"{axis.name}={step}" for axis, step in zip(down, place, strict=True))
        for place in outer
    ]
    columns = [f"{across.name}={step}" for step in range(across.size)]
    width = across.size
    rows = [
        [DeviceCell(str(device)) for device in mesh.devices[number * width : (number + 1) * width]]
        for number in range(len(outer))
    ]
    return draw_device_table(rows, columns, heads if any(heads) else ())


def draw_holders(sharding: ShardingRecord) -> Markup:
    """Draw the parts of an array with the devices that hold each; empty if nothing is cut.

    Of the dimensions that are cut, the last goes across and the others down.
    """
    cut = [number for number, count in enumerate(sharding.tiles) if count > 1]
    if not sharding.holders or not cut:
        return Markup()
    *down, across = cut
    rows = prod(sharding.tiles[number] for number in down)
    if rows > _MOST_CELLS or sharding.tiles[across] > _MOST_CELLS:
        return Markup()
    holders = {holder.tile: holder.devices for holder in sharding.holders}
    heads, cells = [], []
    for place in product(*(range(sharding.tiles[number]) for number in down)):
        heads.append(
            " ".join(f"d{number}:{step}" for number, step in zip(down, place, strict=True))
        )
        fixed = dict(zip(down, place, strict=True))
        cells.append(list(_cells(sharding.tiles, across, fixed, holders)))
    columns = [f"d{across}:{step}" for step in range(sharding.tiles[across])]
    return draw_device_table(cells, columns, heads if any(heads) else ())


def _cells(
    tiles: Sequence[int],
    across: int,
    fixed: Mapping[int, int],
    holders: Mapping[MeshPosition, tuple[int, ...]],
) -> Iterator[DeviceCell]:
    for step in range(tiles[across]):
        place = tuple(
            step if number == across else fixed.get(number, 0) for number in range(len(tiles))
        )
        devices = holders.get(place, ())
        text = first_few([str(device) for device in devices], _MOST_NAMED)
        yield DeviceCell(text, min(devices, default=0))
