"""Bytes that collectives send between devices.

The bytes sent are the minimum of an algorithm that spreads the work evenly (a ring): for n devices
an all-gather sends (n-1)/n of its result, an all-reduce twice that. Where the config of XLA:GPU
names a kernel instead, they are those of its algorithm: in a one-shot all-reduce every device reads
the whole buffer of every other.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError, count_elements, measure_data
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.hlo.backend_config import read_kernel_strategy
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape, bits_of
from xlareport.hlo.shardings.device_groups import DeviceGroups, parse_groups, parse_pairs
from xlareport.knowledge.opcodes import opcode_work

KINDS = opcode_work().collectives
RING = "ring"
ONE_SHOT = "one-shot"
TWO_SHOT = "two-shot"
_STRATEGIES = {
    "": RING,
    "KERNEL_STRATEGY_DEFAULT": RING,
    "KERNEL_STRATEGY_TRITON_ONE_SHOT": ONE_SHOT,
    "KERNEL_STRATEGY_TRITON_TWO_SHOT": TWO_SHOT,
}
_STRATEGY = re.compile(r"[A-Z0-9_]{1,60}")
_BITS = 8
"""Of a byte."""
_ACROSS_BOTH = frozenset({"all-gather", "all-reduce", "reduce-scatter"})


class CollectiveTraffic(Struct, frozen=True):
    """The data of one collective."""

    kind: str
    data_bytes: int
    wire_bytes: int
    """Bytes that one device sends, of those that send."""
    group_size: int
    groups: tuple[tuple[int, ...], ...]
    """The devices of each group or pair; empty if they are not listed."""
    devices: int
    """All devices of the program."""
    senders: int
    """How many devices send; 0 for a collective-permute without pairs, which gives zeros."""
    algorithm: str = RING
    pairs: tuple[tuple[int, int], ...] = ()
    """Who sends to whom in a collective-permute: partitions, or replicas."""
    between_replicas: bool = False
    """Whether its pairs are of replicas."""
    replicas: int = 1
    """Of the program; its other devices are their partitions."""


def find_traffic(module: HloModule, site: Site) -> tuple[CollectiveTraffic, ...]:
    """Return the data that an instruction sends; empty if unknown or no collective.

    A fusion that contains a collective counts as the collective: on TPUs, a reduce-scatter is a
    fusion, and so is the start of an asynchronous collective.
    """
    if site.instruction.opcode == "fusion":
        return _held_traffic(module, site.instruction)
    kind = site.instruction.opcode.removesuffix("-start")
    traffic = traffic_of_kind(module, kind, site) if kind in KINDS else None
    return (traffic,) if traffic is not None else ()


def traffic_of_kind(module: HloModule, kind: str, site: Site) -> CollectiveTraffic | None:
    """Return the data sent by a collective that is implemented as a certain kind.

    None if the group or a shape is unknown.
    """
    opcode, attributes = site.instruction.opcode, site.instruction.attributes
    size, groups = group_size(module, opcode.removesuffix("-start"), site.instruction)
    data_bytes = count_data_bytes(site)
    if data_bytes is None or size is None:
        return None
    written = parse_pairs(attributes.get("source_target_pairs", ""))
    pairs, is_silent = written or (), written == ()
    algorithm = name_algorithm(site.instruction)
    return CollectiveTraffic(
        kind=kind,
        data_bytes=data_bytes,
        wire_bytes=0 if is_silent else int(data_bytes * wire_share(kind, size, algorithm)),
        group_size=size,
        groups=pairs or (groups.groups if groups and groups.groups else ()),
        devices=module.partition_count * module.replica_count,
        senders=0 if is_silent else _count_senders(module, site.instruction, size, pairs),
        algorithm=algorithm,
        pairs=pairs,
        between_replicas="channel_id" not in attributes,
        replicas=module.replica_count,
    )


def name_algorithm(collective: Instruction) -> str:
    """Return the algorithm by which the bytes count: that of the kernel that the config names."""
    strategy = read_kernel_strategy(collective)
    algorithm = _STRATEGIES.get(strategy)
    if algorithm is not None:
        return algorithm
    name = strategy if _STRATEGY.fullmatch(strategy) else "its kernel strategy"
    return f"{RING}, for {name} is not known"


def _count_senders(
    module: HloModule, collective: Instruction, size: int, pairs: Sequence[tuple[int, int]]
) -> int:
    """Return how many devices send; the last one of a collective-broadcast does not."""
    partitions, replicas = module.partition_count, module.replica_count
    if pairs:
        copies = replicas if "channel_id" in collective.attributes else partitions
        return copies * len({source for source, target in pairs if source != target})
    devices = partitions * replicas
    is_broadcast = collective.opcode.startswith("collective-broadcast")
    return devices - devices // size if is_broadcast and size else devices


def _held_traffic(module: HloModule, fusion: Instruction) -> tuple[CollectiveTraffic, ...]:
    """Return the data of the collectives in a fusion; empty if it only continues one."""
    held = module.callee(fusion)
    inside = [
        instruction
        for instruction in (held.instructions if held else ())
        if instruction.opcode in KINDS
    ]
    if held is None or not inside or _only_goes_on(held):
        return ()
    scatters = is_all_reduce_scatter(held)
    shapes = shapes_of(held)
    traffics = [
        traffic_of_kind(
            module, "reduce-scatter" if scatters else instruction.opcode, Site(instruction, shapes)
        )
        for instruction in inside
    ]
    return () if None in traffics else tuple(traffic for traffic in traffics if traffic is not None)


def _only_goes_on(held: Computation) -> bool:
    """Return whether a fusion continues with a collective that another one began."""
    begins = held.root is not None and "AsyncCollectiveStart" in held.root.attributes_text
    return not begins and any(
        "chain_id=" in instruction.attributes_text
        for instruction in held.instructions
        if instruction.opcode in KINDS
    )


def is_all_reduce_scatter(computation: Computation) -> bool:
    """Return whether a computation is a TPU's reduce-scatter: an all-reduce and a slice."""
    return computation.name.startswith("all-reduce-scatter")


def wire_share(kind: str, devices: int, algorithm: str = RING) -> Fraction:
    """Return what each of n devices sends, as a part of the data; by a ring that is the least.

    A kernel that reads the memory of other devices sends what they read: all of it to each in one
    shot, a part to each and its sum to each in two. Other kinds send as much as by a ring.
    """
    if devices < 2:
        return Fraction(0)
    if kind in ("collective-permute", "collective-broadcast"):
        return Fraction(1)
    if kind == "all-reduce" and algorithm == ONE_SHOT:
        return Fraction(devices - 1)
    return Fraction(devices - 1, devices) * (2 if kind == "all-reduce" else 1)


def count_data_bytes(site: Site) -> int | None:
    """Return the bytes of the larger of operands and result; None where a shape is not known.

    A result of another element type, into which a convert was folded, counts as the type sent.
    """
    try:
        if site.instruction.opcode == "ragged-all-to-all":  # others say where the pieces go
            return measure_data(site.operand(0))
        taken = sum(map(measure_data, site.operands))
        shape = site.shape
        if site.instruction.opcode in ("all-gather-start", "collective-permute-start"):
            shape = shape.elements[1] if len(shape.elements) > 1 else shape
        return max(taken, _measure_as_sent(site.operands, shape))
    except UncountableError:
        return None


def _measure_as_sent(operands: Sequence[Shape], result: Shape) -> int:
    """Return the bytes of a result, of which each array has the element type of its operand."""
    parts = result.members
    if len(parts) != len(operands):
        return measure_data(result)
    pairs = zip(operands, parts, strict=True)
    return sum(_measure_in_type(part, operand.element_type) for operand, part in pairs)


def _measure_in_type(shape: Shape, element_type: str) -> int:
    bits, sent = bits_of(shape.element_type), bits_of(element_type)
    if not bits or not sent or bits == sent:
        return measure_data(shape)
    return -(-count_elements(shape) * sent // _BITS)


def group_size(
    module: HloModule, kind: str, instruction: Instruction
) -> tuple[int | None, DeviceGroups | None]:
    """Return how many devices take part together, and the groups as written."""
    if kind == "collective-permute":
        return 2, None
    written = instruction.attributes.get("replica_groups", "")
    groups = parse_groups(written)
    partitions, replicas = module.partition_count, module.replica_count
    across = "channel_id" in instruction.attributes
    if groups is None:
        everyone = partitions * replicas if across else replicas
        return (everyone if written in ("", "{}") else None), None
    is_global = instruction.attributes.get("use_global_device_ids") == "true"
    both = across and not is_global and kind in _ACROSS_BOTH
    return groups.size * (partitions if both else 1), groups


class SentBytes(Struct, frozen=True):
    """Bytes sent per execution of the module."""

    most: int
    """By the device that sends most; an upper bound where it is not known who sends."""
    least: int
    """By the device that sends least; a lower bound where it is not known who sends."""
    by_all: int
    is_exact: bool
    """Whether it is known of each collective which devices send."""


def count_sent(sent: Iterable[tuple[CollectiveTraffic, int]]) -> SentBytes:
    """Return the bytes sent; takes each collective with how often it counts.

    A device is a partition of a replica; pairs are of partitions or of replicas. Only the sources
    of pairs send, so that devices may send different sums.
    """
    by_each, by_some, by_all = 0, 0, 0
    partitions: Counter[int] = Counter()
    replicas: Counter[int] = Counter()
    sizes = (1, 1)
    for traffic, times in sent:
        sizes = (traffic.devices // traffic.replicas, traffic.replicas)
        size = traffic.wire_bytes * times
        by_all += size * traffic.senders
        if not traffic.pairs:
            is_each = traffic.senders == traffic.devices
            by_each += size if is_each else 0
            by_some += 0 if is_each else size
            continue
        senders = {source for source, target in traffic.pairs if source != target}
        (replicas if traffic.between_replicas else partitions).update(dict.fromkeys(senders, size))
    ranges = [*map(_range, (partitions, replicas), sizes)]
    least, most = (by_each + sum(ends) for ends in zip(*ranges, strict=True))
    return SentBytes(most + by_some, least, by_all, is_exact=not by_some)


def _range(by_id: Mapping[int, int], count: int) -> tuple[int, int]:
    """Return the least and the most bytes that one of the ids below `count` sends."""
    sizes = [by_id[number] for number in sorted(by_id)]
    return (min(sizes, default=0) if len(sizes) >= count else 0), max(sizes, default=0)
