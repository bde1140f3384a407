"""The collectives of a module: data, cause and modeled time of each, and what hides it."""

from collections.abc import Sequence

from msgspec import Struct

from xlareport.analysis.collectives.events import Passes, list_events
from xlareport.analysis.collectives.figures import (
    CollectiveFigures,
    groups_text,
    measure_collectives,
    sum_hideable,
)
from xlareport.analysis.collectives.origins import Origins
from xlareport.analysis.collectives.remedies import (
    find_remedy,
    find_scheduler_step,
    find_sync_step,
)
from xlareport.analysis.collectives.rows import CollectiveRow, CollectivesReport, TrailEvent
from xlareport.analysis.collectives.schedule import Schedule
from xlareport.analysis.collectives.trail import CollectiveTrails, Trail
from xlareport.analysis.collectives.updated_arguments import UpdatedArguments
from xlareport.analysis.cost.interconnect_time import links_of
from xlareport.analysis.cost.options import CostOptions, choose_device
from xlareport.analysis.cost.sent import count_sent
from xlareport.analysis.cost.time_basis import choose_basis
from xlareport.analysis.cost.wire import read_partition_count, read_replica_count
from xlareport.analysis.cost.work import ModuleCost, name_bound
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.hlo.model import HloModule
from xlareport.program import ParsedModule

_NO_PASSES = "the dump has no snapshots between the program and the final module"


class CollectivesInput(Struct, frozen=True):
    """The inputs of the analysis of a module's collectives."""

    module: ParsedModule
    cost: ModuleCost | None
    """None where no snapshot could be counted."""
    cost_options: CostOptions
    backend: str | None
    snapshots: SnapshotSequence | None
    """None where no step changed anything."""
    boundaries: Sequence[Boundary]


def report_collectives(given: CollectivesInput) -> CollectivesReport | None:
    """Return the collectives of the final snapshot; None where it has none."""
    final, words = given.module.final, given.module.device_words
    if final is None or given.cost is None:
        return None
    hlo = final.hlo
    device, _ = choose_device(words, given.backend, given.cost_options)
    every = measure_collectives(hlo, given.cost, device)
    if not every:
        return None
    makes = _RowMaker(given, hlo)
    rows = [makes.row(figures) for figures in every]
    links = links_of(device)
    return CollectivesReport(
        rows=tuple(sorted(rows, key=makes.order)),
        devices=read_partition_count(hlo) * read_replica_count(hlo),
        is_scheduled=hlo.is_scheduled,
        device_name=device.name,
        bound=_bound(every, given.cost),
        hideable_seconds=sum_hideable(Schedule(hlo, given.cost, device), every),
        time_name=choose_basis(given.cost, device).name,
        interconnect_source=links.source if links else "",
        sent=count_sent(
            (figures.traffic, figures.counted) for figures in every if figures.traffic is not None
        ),
    )


def _bound(every: Sequence[CollectiveFigures], cost: ModuleCost) -> str:
    """Return how the sums over all executions bound the true ones, in the words of `name_bound`."""
    unsure = any(figures.executions is None for figures in every)
    loops = sum(trips.count is None for trips in cost.trip_counts.values()) if unsure else 0
    unknown = sum(figures.wire_bytes is None for figures in every)
    return name_bound(unknown + loops, cost.branches if unsure else 0)


class _RowMaker:
    """Makes the rows of one module."""

    def __init__(self, given: CollectivesInput, hlo: HloModule) -> None:
        self._given, self._hlo = given, hlo
        self._place, self._updates = places_of(hlo), UpdatedArguments(hlo)
        devices = read_partition_count(hlo) * read_replica_count(hlo)
        modules = [snapshot.hlo for snapshot in given.module.snapshots]
        final = max(number for number, module in enumerate(modules) if module is hlo)
        passes = Passes(given.module.snapshots, given.boundaries)
        trails = CollectiveTrails(given.snapshots, final) if given.snapshots else None
        self._passes, self._trails = passes, trails
        self._scheduler_step = find_scheduler_step(given.module.snapshots)
        self._sync_step = find_sync_step(given.module.snapshots)
        self._origins = Origins(given.module, trails, given.snapshots, passes, devices)
        self._order = {
            (computation.name, instruction.name): (number, place)
            for number, computation in enumerate(hlo.computations)
            for place, instruction in enumerate(computation.instructions)
        }

    def order(self, row: CollectiveRow) -> tuple[int, int]:
        """Return the place of a row in the schedule."""
        return self._order.get(row.collective.key, (0, 0))

    def row(self, figures: CollectiveFigures) -> CollectiveRow:
        """Return the row of one collective."""
        collective, overlap = figures.collective, figures.overlap
        body = self._hlo.by_name[collective.body[0]].by_name[collective.body[1]]
        outer = self._hlo.by_name[collective.computation].by_name[collective.instruction]
        trail = self._trails.trail(collective) if self._trails else None
        members = self._origins.members(collective, trail)
        origin, sharding, reason = self._origins.of_row(members)
        where = self._place(body) or self._place(outer)
        return CollectiveRow(
            figures=figures,
            shape=body.shape.text,
            groups_text=groups_text(body),
            origin=origin,
            sharding=sharding,
            sharding_reason=reason,
            trail=self._events(trail),
            trail_reason="" if self._has_passes() else _NO_PASSES,
            members=members if len(members) > 1 else (),
            op_name=op_name_of(body, self._hlo) or op_name_of(outer, self._hlo),
            source=where.short if where else "",
            remedy=find_remedy(
                origin.cause,
                overlap,
                collective.kind,
                self._given.backend,
                self._scheduler_step,
                sync_step=self._sync_step,
                flags=self._given.module.flags,
            ),
            updates=self._updates.of(collective),
        )

    def _has_passes(self) -> bool:
        return any(snapshot.stage.name == "pass" for snapshot in self._given.module.snapshots)

    def _events(self, trail: Trail | None) -> tuple[TrailEvent, ...]:
        return tuple(list_events(trail.links, self._passes)) if trail else ()
