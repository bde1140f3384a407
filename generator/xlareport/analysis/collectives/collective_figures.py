"""Figures of collectives: bytes, groups, executions, modeled time, hidden and exposed time."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations

from msgspec import Struct

from xlareport.analysis.collectives.counted_once import count_per_iteration
from xlareport.analysis.collectives.find import Collective, find_collectives
from xlareport.analysis.collectives.joint_overlap import Waiting, most_hidden_later
from xlareport.analysis.collectives.schedule import Overlap, Schedule, names_after, names_before
from xlareport.analysis.cost.interconnect_time import ModeledTime, model_time
from xlareport.analysis.cost.site import Site
from xlareport.analysis.cost.wire import (
    CollectiveTraffic,
    count_data_bytes,
    group_size,
    name_algorithm,
    traffic_of_kind,
)
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shardings.device_groups import DeviceGroups, parse_pairs
from xlareport.runtime.grouping import group_by_key

_MOST_PAIRED = 20
"""Collectives of a computation, the longest, whose order is looked at in pairs."""


class CollectiveFigures(Struct, frozen=True):
    """Figures of one collective of a snapshot, for one execution on one device."""

    collective: Collective
    data_bytes: int | None
    """The full logical array: the larger of operands and result; None where a shape is unknown."""
    wire_bytes: int | None
    """Bytes that a device sends, of those that send; None if group or data size is unknown."""
    senders: int | None
    """How many devices send; None where `wire_bytes` is."""
    algorithm: str
    """By which the bytes count: `ring`, unless the config of the collective names another."""
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
    traffic: CollectiveTraffic | None
    """None if group or data size is unknown."""
    is_left_out: bool = False
    """Whether the totals count none of its executions: a costlier branch counts in its place."""
    per_iteration: int | None = None
    """Executions per iteration of the innermost loop around it of unknown trip count; None outside
    of such loops, and where it is not known."""

    @property
    def sent_bytes(self) -> int:
        """Bytes that a sender sends in all counted executions; 0 where it is not known."""
        return (self.wire_bytes or 0) * self.counted

    @property
    def exposed_seconds(self) -> float:
        """Of all executions that the totals count; 0 where it is not known."""
        return (self.overlap.exposed_seconds or 0.0) * self.counted

    @property
    def hideable_seconds(self) -> float:
        """Upper bound of what overlap hides in all counted executions; 0 where it is not known."""
        return (self.overlap.hideable_seconds or 0.0) * self.counted


def measure_collectives(schedule: Schedule) -> tuple[CollectiveFigures, ...]:
    """Return the figures of all collectives, in the order of their computations."""
    every = find_collectives(schedule.module)
    return tuple(_figures(schedule, collective, every) for collective in every)


def sum_hideable(schedule: Schedule, collectives: Iterable[CollectiveFigures]) -> float:
    """Return the seconds of all executions that more overlap hides at most."""
    return sum(hideable_by_computation(schedule, collectives).values())


def hideable_by_computation(
    schedule: Schedule, collectives: Iterable[CollectiveFigures]
) -> Mapping[str, float]:
    """Return the seconds of all executions that more overlap hides at most, by computation.

    Each piece of work that could run beside several collectives of a computation counts once. What
    two of them hide together is at most what they hide in the best order of the two.
    """
    homes = group_by_key((figures.collective.computation, figures) for figures in collectives)
    return {
        home: _hideable_together(schedule, schedule.module.by_name[home], together)
        for home, together in homes.items()
    }


def _hideable_together(
    schedule: Schedule, home: Computation, collectives: Sequence[CollectiveFigures]
) -> float:
    """Return the seconds of all executions that collectives of a computation hide at most."""
    hideable = sum(figures.hideable_seconds for figures in collectives)
    names = {name for figures in collectives for name in figures.overlap.apart}
    counted = max(figures.counted for figures in collectives)
    work = sum((schedule.seconds(home, name) for name in sorted(names)), 0.0) * counted
    waiting = [
        Waiting(figures.time.seconds, figures.overlap)
        for figures in collectives
        if figures.time.seconds is not None
    ]
    independent = {name for item in waiting for name in item.overlap.independent}
    between = {name for item in waiting for name in item.overlap.between or ()}
    times = {name: schedule.seconds(home, name) for name in sorted(independent | between)}
    together = most_hidden_later(waiting, times) * counted
    return max(0.0, min(hideable - _lost_by_order(schedule, home, collectives), work, together))


def _lost_by_order(
    schedule: Schedule, home: Computation, collectives: Sequence[CollectiveFigures]
) -> float:
    """Return the seconds that pairs of collectives cannot hide, with each collective in one."""
    longest = sorted(collectives, key=lambda figures: -figures.hideable_seconds)[:_MOST_PAIRED]
    beside = [_Beside.of(schedule, home, figures) for figures in longest]
    losses = [(first.lost_with(second), first, second) for first, second in combinations(beside, 2)]
    lost, paired = 0.0, set[str]()
    for seconds, first, second in sorted(losses, key=lambda loss: -loss[0]):
        if paired.isdisjoint({first.name, second.name}):
            lost += seconds
            paired |= {first.name, second.name}
    return lost


class _Beside(Struct, frozen=True):
    """The work that could run beside a collective, and the order that data sets."""

    name: str
    exposed: float
    """Seconds of all executions."""
    work: Mapping[str, float]
    """Seconds of all executions of what could run meanwhile and does not."""
    before: AbstractSet[str]
    """What it needs."""
    after: AbstractSet[str]
    """What needs it."""

    @classmethod
    def of(cls, schedule: Schedule, home: Computation, figures: CollectiveFigures) -> "_Beside":
        """Return that of a collective of a computation."""
        collective, apart = figures.collective, figures.overlap.apart
        return cls(
            name=collective.instruction,
            exposed=figures.exposed_seconds,
            work={name: schedule.seconds(home, name) * figures.counted for name in apart},
            before=names_before(home, collective),
            after=names_after(home, collective),
        )

    def lost_with(self, other: "_Beside") -> float:
        """Return the seconds that two collectives hide by themselves, but not together.

        What the first to start needs has run before the other starts, and what needs the last to
        end runs after the other has ended.
        """
        orders = (
            (self.without(before | after), other.without(other_before | other_after))
            for before, other_before in ((other.before, set[str]()), (set[str](), self.before))
            for after, other_after in ((other.after, set[str]()), (set[str](), self.after))
        )
        together = (
            min(self.hide(mine) + other.hide(others), sum((mine | others).values()))
            for mine, others in orders
        )
        return self.hide(self.work) + other.hide(other.work) - max(together)

    def without(self, names: AbstractSet[str]) -> dict[str, float]:
        """Return the work without some of it."""
        return {name: seconds for name, seconds in self.work.items() if name not in names}

    def hide(self, work: Mapping[str, float]) -> float:
        """Return the exposed seconds that this work hides at most."""
        return min(self.exposed, sum(work.values()))


def _figures(
    schedule: Schedule, collective: Collective, every: Sequence[Collective]
) -> CollectiveFigures:
    module = schedule.module
    home = module.by_name[collective.body[0]]
    body = home.by_name[collective.body[1]]
    data_bytes = count_body_bytes(module, collective)
    size, groups = group_size(module, body.opcode.removesuffix("-start"), body)
    pairs = parse_pairs(body.attributes.get("source_target_pairs", "")) or ()
    traffic = traffic_of_kind(module, collective.kind, _site(home, body))
    time = ModeledTime(None, "the bytes or the group are not known")
    if traffic is not None:
        time = model_time(traffic, schedule.device)
    cost = schedule.cost.instructions.get(collective.key)
    return CollectiveFigures(
        collective=collective,
        data_bytes=data_bytes,
        wire_bytes=traffic.wire_bytes if traffic else None,
        senders=traffic.senders if traffic else None,
        algorithm=name_algorithm(body),
        group_size=size,
        groups=groups,
        pairs=pairs,
        executions=cost.executions if cost else None,
        counted=cost.counted if cost else 0,
        time=time,
        overlap=schedule.overlap(collective, time.seconds, every),
        traffic=traffic,
        is_left_out=cost is not None and cost.executions is None and not cost.counted,
        per_iteration=count_per_iteration(
            module, schedule.cost.trip_counts, collective.computation
        ),
    )


def count_body_bytes(module: HloModule, collective: Collective) -> int | None:
    """Return the bytes of the larger of operands and result; None where a shape is not known."""
    home = module.by_name.get(collective.body[0])
    body = home.by_name.get(collective.body[1]) if home else None
    if home is None or body is None:
        return None
    return count_bytes_of(home, body)


def count_bytes_of(home: Computation, body: Instruction) -> int | None:
    """Return the bytes of the larger of operands and result of a collective instruction."""
    return count_data_bytes(_site(home, body))


def _site(home: Computation, body: Instruction) -> Site:
    operands = home.operands(body)
    return Site(body, {operand.name: operand.shape for operand in operands if operand is not None})


def groups_text(body: Instruction) -> str:
    """Return the groups as written; of a collective-permute its pairs."""
    attributes = body.attributes
    return attributes.get("replica_groups") or attributes.get("source_target_pairs", "")
