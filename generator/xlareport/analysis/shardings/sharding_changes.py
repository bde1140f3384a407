"""Where a value changes its sharding: the points at which the partitioner has to move data."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.shardings.moved import count_received
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.analysis.source.locations import place_of
from xlareport.hlo import quoting
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.shape import Shape
from xlareport.hlo.shardings.sharding import place_alike
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.knowledge.opcodes import begins_collective, opcode_work
from xlareport.runtime.grouping import group_by_key

MOST_CHANGES = 2_000
"""Limit on changes of one module."""
_COLLECTIVES = 8
REPLICATED = "{replicated}"
"""The sharding that the partitioner assumes for an instruction without one."""
_ANYWHERE = frozenset({"constant", "broadcast", "iota"})
"""Each device makes its own part of these."""
_WORK = opcode_work()
_SAME_PLACES = _WORK.by_element | {"copy", "tuple"}
"""Opcodes that keep the index of each element.

Other opcodes may move elements, so that operands have other shardings for a reason.
"""


class ShardingChange(Struct, frozen=True):
    """An op whose operand has another sharding than its result."""

    computation: str
    instruction: str
    """In the snapshot before the partitioner."""
    opcode: str
    operands: tuple[str, ...]
    """The operands with the same sharding."""
    shape: str
    bytes: int | None
    """Of the whole array."""
    from_sharding: str
    """As the snapshot writes it."""
    to_sharding: str
    received_bytes: int | None
    """Minimum bytes that one device must receive of one operand; None if unknown."""
    received_by_all: int | None
    op_name: str
    source: str
    """`train.py:12`; empty if unknown."""
    collectives: tuple[str, ...]
    """The collectives that the partitioner inserted for the same op_name and line, with opcodes."""
    from_words: str = ""
    """The sharding before in words, along the axes of the mesh."""
    to_words: str = ""


def find_changes(partitioning: Partitioning, devices: int) -> tuple[ShardingChange, ...]:
    """Return the changes in the order of the module.

    Sharding propagation must be over: an instruction without a sharding counts as replicated.
    """
    collectives = _collectives(partitioning.after)
    changes: list[ShardingChange] = []
    for computation, instruction in partitioning.before.placed:
        if instruction.opcode in _SAME_PLACES:
            changes += _instruction_changes(
                partitioning.before, computation, instruction, devices, collectives
            )
        if len(changes) >= MOST_CHANGES:
            return tuple(changes[:MOST_CHANGES])
    return tuple(changes)


def _op_and_place(module: HloModule, instruction: Instruction) -> InstructionKey:
    place = place_of(instruction, module)
    return instruction.metadata.op_name, place.text if place is not None else ""


def _collectives(module: HloModule) -> dict[InstructionKey, list[str]]:
    return group_by_key(
        (_op_and_place(module, instruction), f"{instruction.name} ({instruction.opcode})")
        for instruction in module.instructions
        if begins_collective(instruction.opcode) and instruction.metadata.op_name
    )


def _instruction_changes(
    module: HloModule,
    computation: Computation,
    instruction: Instruction,
    devices: int,
    collectives: dict[InstructionKey, list[str]],
) -> Iterator[ShardingChange]:
    pairs: dict[tuple[str, str, str], list[tuple[Instruction, Shape]]] = {}
    for operand, shape, wanted in _wanted(computation, instruction):
        written = operand.attributes.get("sharding", REPLICATED)
        old, new = parse_sharding(written), parse_sharding(wanted)
        if old is not None and new is not None and place_alike(old, new) is False:
            pairs.setdefault((written, wanted, shape.text), []).append((operand, shape))
    op_name = instruction.metadata.op_name
    place = place_of(instruction, module) if pairs else None
    for (written, wanted, _), operands in pairs.items():
        shape = operands[0][1]
        received = _received(shape, written, wanted, devices)
        yield ShardingChange(
            computation=computation.name,
            instruction=instruction.name,
            opcode=instruction.opcode,
            operands=tuple(operand.name for operand, _ in operands),
            shape=shape.type_and_sizes,
            bytes=shape.byte_size,
            from_sharding=written,
            to_sharding=wanted,
            received_bytes=received[0] if received else None,
            received_by_all=received[1] if received else None,
            op_name=op_name,
            source=place.short if place is not None else "",
            collectives=tuple(
                collectives.get(_op_and_place(module, instruction), ())[:_COLLECTIVES]
            ),
        )


def _wanted(
    computation: Computation, instruction: Instruction
) -> Iterator[tuple[Instruction, Shape, str]]:
    """Yield each operand with its shape and the sharding that the op has for it."""
    written = instruction.attributes.get("sharding", REPLICATED)
    sharding = parse_sharding(written)
    if sharding is None:
        return
    wanted = [written] * len(instruction.operands)
    if sharding.elements or instruction.opcode == "tuple":
        wanted = list(split_tuple(written))
    for name, wanted_sharding in zip(instruction.operand_names, wanted, strict=False):
        operand = computation.by_name.get(name)
        if operand is None or operand.shape.elements or not operand.shape.dimensions:
            continue
        if operand.opcode in _ANYWHERE:
            continue
        if (
            instruction.opcode == "tuple"
            or operand.shape.dimensions == instruction.shape.dimensions
        ):
            yield operand, operand.shape, wanted_sharding


def split_tuple(text: str) -> tuple[str, ...]:
    """Return the shardings of the members of a tuple, as written."""
    body = quoting.COMMENT.sub("", text).strip()[1:-1].strip()
    if not body.startswith("{"):
        return ()
    return tuple(word.strip() for word in quoting.split_at_commas(body))


def _received(shape: Shape, written: str, wanted: str, devices: int) -> tuple[int, int] | None:
    old, new = parse_sharding(written), parse_sharding(wanted)
    count = shape.element_count
    if old is None or new is None or not count or shape.byte_size is None:
        return None
    sizes = [size or 0 for size in shape.dimensions]
    received = count_received(old, new, sizes, devices)
    if received is None:
        return None
    most, everyone = received
    return most * shape.byte_size // count, everyone * shape.byte_size // count


def find_cut_parameters(
    before: HloModule, changes: Iterable[ShardingChange]
) -> Iterator[tuple[int, int]]:
    """Yield the numbers of such parameters, each with the number of different parts.

    Sharded like their uses, they need no collective: no device receives what another one holds.
    """
    entry = before.entry
    if entry is None:
        return
    taken = {
        (change.instruction, operand): change.to_sharding
        for change in changes
        if change.computation == entry.name and change.received_bytes == 0 and _is_of_whole(change)
        for operand in change.operands
    }
    for number, parameter in enumerate(entry.parameters):
        users = entry.users.get(parameter.name, ())
        parts = {taken.get((user.name, parameter.name), "") for user in users}
        sharding = parse_sharding(parts.pop()) if len(parts) == 1 else None
        if sharding is not None and sharding.cuts > 1:
            yield number, sharding.cuts


def _is_of_whole(change: ShardingChange) -> bool:
    """Return whether an op takes a part of a whole array; the members of a tuple may differ."""
    former = parse_sharding(change.from_sharding)
    return change.opcode != "tuple" and former is not None and former.cuts == 1
