"""The shardings of a module, in report.json and on its page."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.shardings.meshes import ModuleMesh
from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.sharding_changes import ShardingChange
from xlareport.analysis.shardings.sharding_report import ShardedEntryValue, ShardingReport
from xlareport.analysis.shardings.sharding_words import describe_sharding, words_of
from xlareport.analysis.shardings.shardy_texts import ShardyStep
from xlareport.hlo.shardings.device_order import DeviceOrder
from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.sharding import Sharding, tiles_of_devices
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.readers.partitioner_log import PartitionerWarning

_MOST_VALUES = 1_000
"""Parameters, results and changes."""
_MOST_SHARDINGS = 100
MOST_DEVICES = 256
"""Devices of which each is listed with what it holds."""
_NO_STEP = "the dump lacks the snapshot after sharding propagation (--xla_dump_hlo_pass_re=.*)"
_NO_AFTER = "the dump lacks a snapshot before SPMD partitioning, or one after it"
_READ_FRESH = "the snapshot right after SPMD partitioning"
_READ_FINAL = "the final module, with the shardings of the program"


class AxisRecord(Struct, frozen=True):
    """An axis of the mesh."""

    name: str
    size: int


class MeshRecord(Struct, frozen=True):
    """The device mesh."""

    axes: tuple[AxisRecord, ...]
    """The slowest first."""
    devices: tuple[int, ...]
    """Partition ids in the order of the mesh; empty for more than 256."""
    source: str
    named: bool
    """Whether the framework named the axes."""


class HolderRecord(Struct, frozen=True):
    """A part of an array, with the devices that hold it."""

    tile: tuple[int, ...]
    """Its number along each dimension."""
    devices: tuple[int, ...]


class ShardingRecord(Struct, frozen=True):
    """A sharding of the module."""

    sharding: str
    """As the snapshot writes it."""
    words: str
    instructions: int
    """Number of instructions with it, before SPMD partitioning."""
    tiles: tuple[int, ...]
    """In how many parts each dimension is cut; empty where none is."""
    holders: tuple[HolderRecord, ...]
    """Empty for more than 256 devices, or if nothing is divided."""


class ShardingsRecord(Struct, frozen=True):
    """The shardings of a module of several partitions."""

    partitions: int
    partitioner: str
    """`Shardy` or `GSPMD`; empty where neither shows."""
    mesh: MeshRecord | None
    shardings: tuple[ShardingRecord, ...]
    parameters: tuple[ShardedEntryValue, ...]
    results: tuple[ShardedEntryValue, ...]
    changes: tuple[ShardingChange, ...] | None
    """Where a value changes its sharding; None where that was not checked."""
    changes_reason: str
    """Why it was not."""
    rematerializations: tuple[Rematerialization, ...] | None
    """None where that was not checked."""
    rematerializations_reason: str
    rematerializations_read: str
    """The snapshot in which they were searched.

    After SPMD partitioning, or the final module, where later passes hide some of them.
    """
    shardy: tuple[ShardyStep, ...] = ()
    """Shardy's own texts (`shardy/`); empty where they were not dumped."""
    warnings: tuple[PartitionerWarning, ...] = ()
    """Warnings of the partitioner in a log in the dump."""


def shardings_record(report: ShardingReport | None) -> ShardingsRecord | None:
    """Return the record; None for a module of one partition."""
    if report is None:
        return None
    mesh = report.mesh.mesh if report.mesh is not None else None
    changes, values = report.changes, report.rematerializations
    return ShardingsRecord(
        partitions=report.partitions,
        partitioner=report.partitioner,
        mesh=mesh_record(report.mesh) if report.mesh is not None else None,
        shardings=tuple(_shardings(report.uses[:_MOST_SHARDINGS], mesh)),
        parameters=report.parameters[:_MOST_VALUES],
        results=report.results[:_MOST_VALUES],
        changes=None if changes is None else changes[:_MOST_VALUES],
        changes_reason=_NO_STEP if changes is None else "",
        rematerializations=None if values is None else values[:_MOST_VALUES],
        rematerializations_reason=_NO_AFTER if values is None else "",
        rematerializations_read=_read(report),
        shardy=report.shardy,
        warnings=report.warnings[:_MOST_VALUES],
    )


def _read(report: ShardingReport) -> str:
    if report.rematerializations is None:
        return ""
    return _READ_FRESH if report.is_read_fresh else _READ_FINAL


def mesh_record(mesh: ModuleMesh) -> MeshRecord:
    """Return the record of a mesh."""
    devices = mesh.mesh.devices
    return MeshRecord(
        axes=tuple(AxisRecord(name, size) for name, size in mesh.mesh.axes),
        devices=(devices.devices() or ()) if devices.count <= MOST_DEVICES else (),
        source=mesh.source,
        named=mesh.is_named,
    )


def _shardings(uses: Sequence[tuple[str, int]], mesh: Mesh | None) -> Iterator[ShardingRecord]:
    for text, count in uses:
        sharding = parse_sharding(text)
        if sharding is not None:
            yield ShardingRecord(
                sharding=text,
                words=describe_sharding(sharding, mesh),
                instructions=count,
                tiles=sharding.tiles,
                holders=tuple(_holders(sharding)),
            )


def _holders(sharding: Sharding) -> Iterator[HolderRecord]:
    if (sharding.device_count or 0) > MOST_DEVICES:
        return
    holders: dict[tuple[int, ...], list[int]] = {}
    for device, tile in (tiles_of_devices(sharding) or {}).items():
        holders.setdefault(tile, []).append(device)
    for tile, devices in sorted(holders.items()):
        yield HolderRecord(tile, tuple(sorted(devices)))


def words_along(text: str, record: MeshRecord | None, *, explained: bool = True) -> str:
    """Return in words what a sharding is, along the axes of a mesh of at most 256 devices."""
    mesh = None
    if record is not None and record.devices:
        axes = tuple((axis.name, axis.size) for axis in record.axes)
        mesh = Mesh(axes, DeviceOrder.of(record.devices))
    return words_of(text, mesh, explained=explained)
