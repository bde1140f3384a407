"""Collectives: how much each device must send, to whom, and what runs meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass

from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.wire import KINDS, count_data_bytes, count_wire_bytes, group_size
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shardings.device_groups import DeviceGroups

MOST_BETWEEN = 5_000
"""Instructions looked at between a start and its done."""


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective, per device and run."""

    computation: str
    instruction: str
    kind: str
    """The opcode, without `-start`."""
    data_bytes: int | None
    """Bytes of the larger of operands and result; None where their shapes are not known."""
    wire_bytes: int | None
    """The least that each device must send; None where the group or the data are not known."""
    group_size: int | None
    """Devices that take part together."""
    groups: DeviceGroups | None
    """As written; None where all take part or the form is not known."""
    executions: int | None
    counted: int
    is_spmd_generated: bool
    """The partitioner made it, to bring data where a sharding wants them."""
    overlaps: tuple[str, ...] | None
    """What runs between start and done; None where the collective is not asynchronous."""


def find_collectives(module: HloModule, cost: ModuleCost) -> tuple[Collective, ...]:
    """Return the collectives that the entry reaches, in the order of the module."""
    waits = _waits(module)
    collectives = []
    for computation in module.computations:
        shapes = shapes_of(computation)
        for instruction in computation.instructions:
            if instruction.opcode.removesuffix("-start") in KINDS:
                site = Site(instruction, shapes)
                collectives.append(_collective(module, computation, site, cost, waits))
    return tuple(collectives)


def _collective(
    module: HloModule,
    computation: Computation,
    site: Site,
    cost: ModuleCost,
    waits: Mapping[str, tuple[str, ...]],
) -> Collective:
    instruction = site.instruction
    kind = instruction.opcode.removesuffix("-start")
    size, groups = group_size(module, kind, instruction)
    data = count_data_bytes(site)
    known = cost.instructions.get((computation.name, instruction.name))
    return Collective(
        computation=computation.name,
        instruction=instruction.name,
        kind=kind,
        data_bytes=data,
        wire_bytes=count_wire_bytes(module, site),
        group_size=size,
        groups=groups,
        executions=known.executions if known else None,
        counted=known.counted if known else 0,
        is_spmd_generated='is_spmd_generated="true"' in instruction.attributes_text,
        overlaps=waits.get(instruction.name, waits.get(computation.name)),
    )


def _waits(module: HloModule) -> Mapping[str, tuple[str, ...]]:
    """Return what stands between each start and its done, by the start or what it wraps."""
    waits: dict[str, tuple[str, ...]] = {}
    for computation in module.computations:
        places = {
            instruction.name: place for place, instruction in enumerate(computation.instructions)
        }
        for end, done in enumerate(computation.instructions):
            if not done.opcode.endswith("-done") or not done.operands:
                continue
            last = places.get(done.operand_names[0], end)
            between = computation.instructions[last + 1 : min(end, last + MOST_BETWEEN)]
            names = tuple(instruction.name for instruction in between if _does_work(instruction))
            first = _start_of(computation, done)
            waits[first.name] = names
            waits.update((name, names) for name in _wrapped(module, first))
    return waits


def _start_of(computation: Computation, done: Instruction) -> Instruction:
    """Follow updates back to the start that they belong to, as far as they lead."""
    instruction, seen = done, set[str]()
    while instruction.opcode.endswith(("-done", "-update")) and instruction.name not in seen:
        seen.add(instruction.name)
        before = instruction.operand_names[0] if instruction.operands else ""
        instruction = computation.by_name.get(before, instruction)
    return instruction


def _wrapped(module: HloModule, start: Instruction) -> set[str]:
    """Return the computations that a start runs, those that they run in turn included."""
    return called_computations(module, [start])


def _does_work(instruction: Instruction) -> bool:
    idle = {"parameter", "constant", "get-tuple-element", "tuple", "bitcast"}
    return instruction.opcode not in idle and not instruction.opcode.endswith(("-start", "-done"))
