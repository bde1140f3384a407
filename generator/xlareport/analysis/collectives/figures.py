"""The figures of collectives: bytes, groups, executions, modeled time, and what hides them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.analysis.collectives.find import Collective, find_collectives
from xlareport.analysis.collectives.schedule import Overlap, Schedule
from xlareport.analysis.collectives.time_model import CollectiveTraffic, ModeledTime, model_time
from xlareport.analysis.cost.site import Site
from xlareport.analysis.cost.wire import (
    count_data_bytes,
    group_size,
    read_partition_count,
    read_replica_count,
    wire_share,
)
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shardings.device_groups import DeviceGroups, parse_pairs
from xlareport.knowledge.devices import Device

_SLICE = re.compile(r"slice-shape=(\d{1,6})x(\d{1,6})x(\d{1,6})")


@dataclass(frozen=True, slots=True)
class CollectiveFigures:
    """One collective of a snapshot in figures: those of one execution on one device."""

    collective: Collective
    data_bytes: int | None
    """The full logical array: the larger of operands and result; None where a shape is unknown."""
    wire_bytes: int | None
    """What one device sends by a ring algorithm; None where the group or the data are not known."""
    group_size: int | None
    groups: DeviceGroups | None
    """None where all take part, for pairs, and where the form is not known."""
    pairs: tuple[tuple[int, int], ...]
    """Who sends to whom, of a collective-permute."""
    executions: int | None
    """Per execution of the module, loops multiplied by trip count; None where not known."""
    counted: int
    """How often the totals count it."""
    time: ModeledTime
    overlap: Overlap

    @property
    def exposed_seconds(self) -> float:
        """Of all executions that the totals count; 0 where it is not known."""
        return (self.overlap.exposed_seconds or 0.0) * self.counted


def measure_collectives(
    module: HloModule, cost: ModuleCost, device: Device, device_words: str = ""
) -> tuple[CollectiveFigures, ...]:
    """Return the figures of all collectives; `device_words` may tell the shape of a slice."""
    every = find_collectives(module)
    if not every:
        return ()
    shape = _SLICE.search(device_words)
    sizes = tuple(map(int, shape.groups())) if shape else ()
    schedule = Schedule(module, cost, device)
    return tuple(_figures(module, each, every, schedule, sizes) for each in every)


def _figures(
    module: HloModule,
    collective: Collective,
    every: Sequence[Collective],
    schedule: Schedule,
    slice_shape: Sequence[int],
) -> CollectiveFigures:
    home = module.by_name[collective.body[0]]
    body = home.by_name[collective.body[1]]
    data = count_body_bytes(module, collective)
    size, groups = group_size(module, body.opcode.removesuffix("-start"), body)
    pairs = parse_pairs(body.attributes.get("source_target_pairs", "")) or ()
    wire = None if data is None or size is None else int(data * wire_share(collective.kind, size))
    time = ModeledTime(None, "the bytes or the group are not known")
    if data is not None and wire is not None and size is not None:
        listed = pairs or (groups.groups if groups and groups.groups else ())
        devices = read_partition_count(module) * read_replica_count(module)
        traffic = CollectiveTraffic(collective.kind, data, wire, size, listed, devices)
        time = model_time(traffic, schedule.device, slice_shape)
    known = schedule.cost.instructions.get(collective.key)
    return CollectiveFigures(
        collective=collective,
        data_bytes=data,
        wire_bytes=wire,
        group_size=size,
        groups=groups,
        pairs=pairs,
        executions=known.executions if known else None,
        counted=known.counted if known else 0,
        time=time,
        overlap=schedule.overlap(collective, time.seconds, every),
    )


def count_body_bytes(module: HloModule, collective: Collective) -> int | None:
    """Return the bytes of the larger of operands and result; None where a shape is not known."""
    home = module.by_name.get(collective.body[0])
    body = home.by_name.get(collective.body[1]) if home else None
    if home is None or body is None:
        return None
    operands = (home.by_name.get(name) for name in body.operand_names)
    shapes = {each.name: each.shape for each in operands if each is not None}
    return count_data_bytes(Site(body, shapes))


def groups_text(body: Instruction) -> str:
    """Return the groups as written; of a collective-permute its pairs."""
    attributes = body.attributes
    return attributes.get("replica_groups") or attributes.get("source_target_pairs", "")
