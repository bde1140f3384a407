"""Large replicated parameters.

In a program of several partitions, parameters of 1 MiB or more have `sharding={replicated}`, so
each device holds all of them, or are donated and split over only some of the devices, so several
hold the same part. In total they use 16 MiB or more on each device, and splitting them over all
devices saves 1% or more of the device memory that the module uses, if that is known. Data
parallelism is the usual reason. Sharding them saves memory and costs an all-gather, but for tables
of which the program only looks up rows: then the rows are sent.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, join_names
from xlareport.analysis.source.argument_names import name_arguments
from xlareport.analysis.source.lookup_tables import find_lookup_tables
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shardings.sharding import ShardingKind
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.runtime import units

LEAST_BYTES = 16 * MEBIBYTE
"""All of them together."""
LEAST_SHARE = 0.01
"""Of the device memory of the module, what splitting them saves."""
_SHARD = (
    "Shard weights and optimizer state over the devices (FSDP, ZeRO): less memory, for an "
    "all-gather of the weights before their use."
)
_FURTHER = (
    "Shard them along the other axes of the mesh too, as FSDP over all devices does: less memory, "
    "for an all-gather among more devices before their use."
)
_TABLES = (
    "Shard these tables along their rows or columns. Only lookups and element-wise operations read "
    "them, and a lookup of a sharded table sends the rows that it reads: no device gathers a table."
)


class _Held(Struct, frozen=True):
    """A parameter of which several devices hold the same part."""

    parameter: Instruction
    label: str
    """The argument of the framework; the name of the parameter if it has none."""
    cuts: int
    """Into how many parts it is split; 1 if each device holds all of it."""
    size: int
    """Bytes on each device."""
    saved: int
    """Bytes on each device that a different part on each would save."""
    is_table: bool
    """Whether the program only looks up rows of it."""


def replicated_parameters(case: Case) -> Iterator[Finding]:
    """Report parameters of a partitioned program of which several devices hold the same part."""
    module = case.before
    if module is None or module.entry is None or case.cost.num_partitions < 2:
        return
    listed = _list_held(case, module.entry)
    held = sorted(listed, key=lambda row: (-row.size, row.parameter.name))
    saved = sum(row.saved for row in held)
    if sum(row.size for row in held) < LEAST_BYTES or saved < LEAST_SHARE * case.held_bytes:
        return
    is_partly = all(row.cuts > 1 for row in held)
    entry = module.entry.name
    yield Finding(
        title=f"Large {'partly ' if is_partly else ''}replicated parameters",
        places=tuple((entry, row.parameter.name) for row in held),
        evidence=_words(case, held),
        suggestion=_advise(held, is_partly=is_partly),
        grade="exact",
        weight=0.0,
        bytes=saved,
    )


def _advise(held: Sequence[_Held], *, is_partly: bool) -> str:
    tables = [row.label for row in held if row.is_table]
    if len(tables) == len(held):
        return _TABLES
    advice = _FURTHER if is_partly else _SHARD
    if not tables:
        return advice
    return (
        f"{advice} Only lookups and element-wise operations read {join_names(tables)}: sharded "
        "along rows or columns, no device gathers a table, and a lookup sends the rows that it "
        "reads."
    )


def _words(case: Case, held: Sequence[_Held]) -> str:
    whole = [row for row in held if row.cuts == 1]
    parts = [row for row in held if row.cuts > 1]
    size = units.byte_size(sum(row.size for row in held))
    devices = case.cost.num_partitions
    names = join_names(row.label for row in held)
    if not parts:
        count = units.plural(len(whole), "parameter")
        return (
            f"{count} with `sharding={{replicated}}`, {size} on each of {devices} devices: {names}."
        )
    cuts = " or ".join(str(cuts) for cuts in sorted({row.cuts for row in parts}))
    split = f"donated and split into only {cuts} parts"
    kinds = f": {len(whole)} with `sharding={{replicated}}` and {len(parts)} {split}"
    if not whole:
        kinds = f"; {'it is' if len(parts) == 1 else 'all are'} {split}"
    return (
        f"{units.plural(len(held), 'parameter')}, {size} on each of {devices} devices{kinds}. "
        f"The largest: {names}."
    )


def _list_held(case: Case, entry: Computation) -> Iterator[_Held]:
    devices = case.cost.num_partitions
    given = find_donations(case.module)
    donated = {alias.parameter for alias in given.aliases} | {number for number, _ in given.donors}
    tables = find_lookup_tables(case.before) if case.before else frozenset()
    labels = name_arguments(case.before) if case.before else {}
    for number, parameter in enumerate(entry.parameters):
        cuts = _count_parts(parameter)
        whole = parameter.shape.byte_size or 0
        if cuts is None or cuts >= devices or whole // cuts < MEBIBYTE:
            continue
        if cuts == 1 or number in donated:
            size = whole // cuts
            label = labels.get(parameter.name, parameter.name)
            yield _Held(parameter, label, cuts, size, size - whole // devices, number in tables)


def _count_parts(parameter: Instruction) -> int | None:
    """Return into how many parts a parameter is split; None where devices do not hold it alike."""
    text = parameter.attributes.get("sharding", "")
    sharding = parse_sharding(text) if text else None
    if sharding is None:
        return None
    if sharding.kind is ShardingKind.TILED:
        alike = all(kind is ShardingKind.REPLICATED for kind, _ in sharding.subgroups)
        return sharding.cuts if alike else None
    return 1 if sharding.kind is ShardingKind.REPLICATED else None
