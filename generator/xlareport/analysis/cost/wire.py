"""What collectives send between devices.

The bytes on the wire are the least that an algorithm needs that spreads the work evenly (a ring):
for n devices an all-gather sends (n-1)/n of its result, an all-reduce twice that.
"""

from fractions import Fraction

from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.sizes import UncountableError, measure_data
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shardings.device_groups import DeviceGroups, parse_groups
from xlareport.knowledge.opcodes import opcode_work

KINDS = opcode_work().collectives
_ACROSS_BOTH = frozenset({"all-gather", "all-reduce", "reduce-scatter"})


def count_wire_bytes(module: HloModule, site: Site) -> int | None:
    """Return the least that each device must send; None where not known, or no collective.

    A fusion that holds a collective sends what the collective does: on TPUs a reduce-scatter is a
    fusion, and so is what begins an asynchronous collective.
    """
    if site.instruction.opcode == "fusion":
        return _count_held(module, site.instruction)
    kind = site.instruction.opcode.removesuffix("-start")
    if kind not in KINDS:
        return None
    return _count(module, kind, site)


def _count(module: HloModule, kind: str, site: Site) -> int | None:
    size, _ = group_size(module, site.instruction.opcode.removesuffix("-start"), site.instruction)
    data = count_data_bytes(site)
    return None if data is None or size is None else int(data * wire_share(kind, size))


def _count_held(module: HloModule, fusion: Instruction) -> int | None:
    """Return what the collectives in a fusion send; None where it has none, or only goes on."""
    held = module.by_name.get(fusion.called[0][1]) if fusion.called else None
    inside = [
        instruction
        for instruction in (held.instructions if held else ())
        if instruction.opcode in KINDS
    ]
    if held is None or not inside or _only_goes_on(held):
        return None
    scatters = is_all_reduce_scatter(held)
    shapes = shapes_of(held)
    counted = [
        _count(module, "reduce-scatter" if scatters else each.opcode, Site(each, shapes))
        for each in inside
    ]
    return None if None in counted else sum(filter(None, counted))


def _only_goes_on(held: Computation) -> bool:
    """Say whether a fusion goes on with a collective that another one began."""
    begins = held.root is not None and "AsyncCollectiveStart" in held.root.attributes_text
    return not begins and any(
        "chain_id=" in instruction.attributes_text
        for instruction in held.instructions
        if instruction.opcode in KINDS
    )


def is_all_reduce_scatter(computation: Computation) -> bool:
    """Say whether a computation is a TPU's reduce-scatter: an all-reduce and a slice of it."""
    return computation.name.startswith("all-reduce-scatter")


def wire_share(kind: str, devices: int) -> Fraction:
    """Return the least that each of n devices sends, as a part of the data."""
    if devices < 2:
        return Fraction(0)
    if kind in ("collective-permute", "collective-broadcast"):
        return Fraction(1)
    return Fraction(devices - 1, devices) * (2 if kind == "all-reduce" else 1)


def count_data_bytes(site: Site) -> int | None:
    """Return the bytes of the larger of operands and result; None where a shape is not known."""
    try:
        if site.instruction.opcode == "ragged-all-to-all":  # others say where the pieces go
            return measure_data(site.operand(0))
        taken = sum(map(measure_data, site.operands))
        shape = site.shape
        if site.instruction.opcode in ("all-gather-start", "collective-permute-start"):
            shape = shape.elements[1] if len(shape.elements) > 1 else shape
        return max(taken, measure_data(shape))
    except UncountableError:
        return None


def group_size(
    module: HloModule, kind: str, instruction: Instruction
) -> tuple[int | None, DeviceGroups | None]:
    """Return how many devices take part together, and the groups as written."""
    if kind == "collective-permute":
        return 2, None
    written = instruction.attributes.get("replica_groups", "")
    groups = parse_groups(written)
    partitions, replicas = read_partition_count(module), read_replica_count(module)
    across = "channel_id" in instruction.attributes
    if groups is None:
        everyone = partitions * replicas if across else replicas
        return (everyone if written in ("", "{}") else None), None
    is_global = instruction.attributes.get("use_global_device_ids") == "true"
    both = across and not is_global and kind in _ACROSS_BOTH
    return groups.size * (partitions if both else 1), groups


def read_partition_count(module: HloModule) -> int:
    """Return `num_partitions` of the module's header; 1 where it is not written."""
    return _header_count(module, "num_partitions")


def read_replica_count(module: HloModule) -> int:
    """Return `replica_count` of the module's header; 1 where it is not written."""
    return _header_count(module, "replica_count")


def _header_count(module: HloModule, name: str) -> int:
    written = module.attributes.get(name, "1")
    is_count = written.isascii() and written.isdigit() and len(written) < 10
    return max(1, int(written)) if is_count else 1
