"""The collectives of a module: data, cause and modeled time of each, and what hides it."""

from collections.abc import Sequence

from xlareport.analysis.collectives.collective_events import Passes, list_events
from xlareport.analysis.collectives.collective_figures import (
    CollectiveFigures,
    groups_text,
    measure_collectives,
    sum_hideable,
)
from xlareport.analysis.collectives.collective_rows import (
    CollectiveRow,
    CollectivesReport,
    TrailEvent,
)
from xlareport.analysis.collectives.counted_once import find_loops_counted_once
from xlareport.analysis.collectives.origins import Origins, join_origins
from xlareport.analysis.collectives.remedies import find_remedy, find_scheduler_step, find_sync_step
from xlareport.analysis.collectives.schedule import Schedule
from xlareport.analysis.collectives.trail import CollectiveTrails, Trail
from xlareport.analysis.collectives.updated_arguments import UpdatedArguments
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.interconnect_time import links_of
from xlareport.analysis.cost.wire import count_sent
from xlareport.analysis.cost.work import ModuleCost, name_bound
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.steps.reducers import reducing_opcode

_NO_PASSES = "the dump has no snapshots between the program and the final module"


def report_collectives(
    costed: CostedModule, snapshots: SnapshotSequence | None, boundaries: Sequence[Boundary]
) -> CollectivesReport | None:
    """Return the collectives of the final snapshot; None where it has none.

    `snapshots` is None where no step changed anything.
    """
    hlo, cost, device = costed.hlo, costed.cost, costed.device
    schedule = Schedule(hlo, cost, device)
    every = measure_collectives(schedule)
    if not every:
        return None
    makes = _RowMaker(costed, snapshots, boundaries)
    rows = [makes.row(figures) for figures in every]
    links = links_of(device)
    return CollectivesReport(
        rows=tuple(sorted(rows, key=makes.order)),
        devices=hlo.partition_count * hlo.replica_count,
        is_scheduled=hlo.is_scheduled,
        device_name=device.name,
        bound=_bound(every, cost),
        hideable_seconds=sum_hideable(schedule, every),
        time_name=costed.basis.name,
        interconnect_source=links.source if links else "",
        interconnect_domain=links.domain if links else None,
        sent=count_sent(
            (figures.traffic, figures.counted) for figures in every if figures.traffic is not None
        ),
        counted_once=find_loops_counted_once(hlo, cost, [row.collective.key for row in rows]),
    )


def _bound(every: Sequence[CollectiveFigures], cost: ModuleCost) -> str:
    """Return how the sums over all executions bound the true ones, in the words of `name_bound`."""
    unsure = any(figures.executions is None for figures in every)
    loops = sum(trips.count is None for trips in cost.trip_counts.values()) if unsure else 0
    unknown = sum(figures.wire_bytes is None for figures in every)
    return name_bound(unknown + loops, cost.branches if unsure else 0)


class _RowMaker:
    """Makes the rows of one module."""

    def __init__(
        self,
        costed: CostedModule,
        snapshots: SnapshotSequence | None,
        boundaries: Sequence[Boundary],
    ) -> None:
        module, hlo = costed.module, costed.hlo
        self._costed, self._hlo = costed, hlo
        self._place, self._updates = places_of(hlo), UpdatedArguments(hlo)
        devices = hlo.partition_count * hlo.replica_count
        modules = [snapshot.hlo for snapshot in module.snapshots]
        final = max(number for number, read in enumerate(modules) if read is hlo)
        passes = Passes(module.snapshots, boundaries)
        trails = CollectiveTrails(snapshots, final) if snapshots else None
        self._passes, self._trails = passes, trails
        has_passes = any(snapshot.stage.name == "pass" for snapshot in module.snapshots)
        self._trail_reason = "" if has_passes else _NO_PASSES
        self._scheduler_step = find_scheduler_step(module.snapshots)
        self._sync_step = find_sync_step(module.snapshots)
        self._origins = Origins(module, trails, snapshots, passes, devices)
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
        is_combined = self._origins.has_had_operands(len(members), collective, trail)
        origin, sharding, reason = join_origins(
            members,
            figures.data_bytes,
            reducing_opcode(self._hlo, body),
            is_combined=is_combined,
        )
        where = self._place(body) or self._place(outer)
        # What a pass makes of an all-reduce has no op_name: it serves that of its first snapshot.
        (first,) = members if len(members) == 1 else (None,)
        op_name = op_name_of(body, self._hlo) or op_name_of(outer, self._hlo)
        return CollectiveRow(
            figures=figures,
            shape=body.shape.text,
            groups_text=groups_text(body),
            origin=origin,
            sharding=sharding,
            sharding_reason=reason,
            trail=self._trail_events(trail),
            trail_reason=self._trail_reason,
            members=members if len(members) > 1 else (),
            op_name=op_name or (first.op_name if first else ""),
            source=where.short if where else first.source if first else "",
            remedy=find_remedy(
                origin.cause,
                overlap,
                collective.kind,
                self._costed.backend,
                self._scheduler_step,
                sync_step=self._sync_step,
                flags=self._costed.module.flags,
            ),
            updates=self._updates.of(collective),
        )

    def _trail_events(self, trail: Trail | None) -> tuple[TrailEvent, ...]:
        return tuple(list_events(trail.links, self._passes)) if trail else ()
