"""All-to-all of a gathered value.

The only reader of an all-gather is an all-to-all among other devices, which sends 1 MiB or more per
device. The devices that gathered hold the same, so each of them sends the same. An all-to-all of
what each had before sends as many times less as there are devices in a group of the all-gather. The
SPMD partitioner goes from one sharding to another in these two steps if it knows no direct way.
Copies, transposes and converts between the two are looked through.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.findings.finding import (
    MEBIBYTE,
    Case,
    Finding,
    describe_executions,
    join_names,
)
from xlareport.analysis.findings.wrapped import hands_on
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.hlo.shardings.device_groups import DeviceGroups
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def detoured_values(case: Case) -> Iterator[Finding]:
    """Report all-to-alls of what an all-gather among other devices has just made."""
    by_key = {figures.collective.key: figures for figures in case.collectives}
    for gather in case.collectives:
        is_gather = gather.collective.kind == "all-gather" and gather.counted
        way = way_to_only_user(case.module, gather.collective) if is_gather else ()
        other = by_key.get((gather.collective.computation, way[-1])) if way else None
        if other is None or other.collective.kind != "all-to-all":
            continue
        if (other.wire_bytes or 0) >= LEAST_BYTES and are_across(gather.groups, other.groups):
            yield _finding(gather, other, way)


def _finding(gather: CollectiveFigures, other: CollectiveFigures, way: tuple[str, ...]) -> Finding:
    first, second = gather.collective.instruction, other.collective.instruction
    devices, wire = gather.group_size or 1, other.wire_bytes or 0
    spared = 1 - 1 / devices
    exposed = other.exposed_seconds * spared
    return Finding(
        title="All-to-all of a gathered value",
        places=(other.collective.key, gather.collective.key),
        occurrences=1,
        evidence=(
            f"`{first}` gathers a value from {devices} devices, and only `{second}` uses it"
            f"{describe_way(way[:-1])}: it sends {units.byte_size(wire)} per device "
            f"({other.group_size} devices){describe_executions(other.counted)}, the same from each "
            f"of these {devices}. Of what each had before it is {units.byte_size(wire // devices)}."
        ),
        suggestion=(
            "Let the all-to-all move the shards: give the value the sharding of its reader where "
            "it is computed, or give the reader a sharding that keeps the gathered axis, with "
            "jax.lax.with_sharding_constraint. An all-gather that is still needed then comes last."
        ),
        grade="matched",
        weight=(other.time.seconds or 0.0) * other.counted * spared,
        seconds=exposed or None,
    )


def are_across(gathered: DeviceGroups | None, moved: DeviceGroups | None) -> bool:
    """Return whether no two devices of a group of one are in a group of the other."""
    if gathered is None or moved is None or not gathered.groups or not moved.groups:
        return False
    pairs = product(map(frozenset, gathered.groups), map(frozenset, moved.groups))
    return all(len(group & others) <= 1 for group, others in pairs)


def way_to_only_user(module: HloModule, gather: Collective) -> tuple[str, ...]:
    """Return what hands the result on and, at the end, its only consumer; empty for several."""
    computation = module.by_name[gather.computation]
    last = computation.by_name[gather.done or gather.instruction]
    way = list[str]()
    while len(users := computation.users.get(last.name, ())) == 1:
        (last,) = users
        if last.opcode not in ALIASES:
            way.append(last.name)
        if not hands_on(module, last):
            return tuple(way)
    return ()


def describe_way(copies: Sequence[str]) -> str:
    """Return words on what hands a value on; empty for nothing."""
    return f", through {join_names(copies)}" if copies else ""
