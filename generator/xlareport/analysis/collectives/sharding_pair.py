"""The shardings that a value has before a collective and after it."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.collectives.partial_results import find_partial_op
from xlareport.analysis.collectives.partitioning import (
    LONGEST,
    REPLICATED,
    Counterpart,
    Moved,
    PartitioningStep,
)
from xlareport.analysis.collectives.sharding_effect import (
    exchange,
    gather,
    permute_sharding,
    tiles_of,
)
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.cost.wire import KINDS, group_size
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS, REDUCING_COLLECTIVES
from xlareport.hlo.shardings.device_groups import parse_pairs
from xlareport.hlo.shardings.written import local_dimensions, parse_sharding
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import begins_collective

_MOST_REARRANGED = 6
"""Reshapes and transposes behind a collective that are followed."""
OF_PARTIAL = "partial results"
"""Of a pair whose first sharding is that of each operand, in their order."""
_OPEN = "no snapshot states it"
OF_PARTITIONER = "resharding of a value that the partitioner made"
"""Of a pair whose first sharding no snapshot has: it follows from the shape of the shards."""


class ShardingPair(Struct, frozen=True):
    """The sharding of a value before and after a collective."""

    value: str
    """The instruction before partitioning with these shardings, or the op of partial results."""
    from_: str
    """As XLA writes it; of partial results those of the operands. Of a value that the partitioner
    made `{devices=[1,4]...}`: the snapshots show the parts, and not which device holds which."""
    to: str | None
    """None where it does not follow from the snapshots."""
    to_reason: str | None
    """Why it is None."""
    meaning: str
    """`resharding`, `partial results` (the first is of the operands) or `with halo`."""
    grade: Grade


def make_pair(value: str, before: str, after: str, meaning: str, grade: Grade) -> ShardingPair:
    """Return the pair of a value; `after` is empty where it does not follow."""
    return ShardingPair(value, before, after or None, None if after else _OPEN, meaning, grade)


def pair_of_value(
    step: PartitioningStep, moved: Moved, wanting: Counterpart | None, devices: int
) -> ShardingPair | None:
    """Return the shardings of the value that a collective moves; None where they are not written.

    `wanting` is the op of the program that needs it.
    """
    home, body, chain = moved.home, moved.body, moved.chain
    value_at = _value_of(step, home, chain)
    pair = _of_result(step, home, chain, devices) if value_at is None else None
    value_at = value_at or (None if pair else _by_shape(step, moved, wanting))
    if value_at is None:
        return pair
    at, counterpart = value_at
    value, before = counterpart.instruction, step.sharding(counterpart.instruction)
    wanted = _wanted(step, counterpart, wanting, before)
    is_straight = not any(link.opcode in ("transpose", "reshape") for link in chain[:at])
    rank = len(value.shape.dimensions)
    for link in reversed([body, *chain[:at]]):
        if not begins_collective(link.opcode):
            continue
        if is_straight and not _is_local(home, link, value, before):
            before = _stated(home.operand(link), value, devices) or before
        fits = is_straight and _is_local(home, link, value, before)
        if link.opcode.startswith("all-to-all"):
            after = _exchanged(step.after, Moved(home, link, ()), value, before, devices)
        else:
            after = _effect(step.after, link, before, rank, devices) if fits else ""
        after = after or (_stated(link, value, devices) if is_straight else "")
        if link is body:
            grade = counterpart.grade if after else Grade.MATCHED
            return make_pair(value.name, before, after or wanted, "resharding", grade)
        if not after:
            break
        before = after
    return make_pair(
        value.name, step.sharding(value), wanted, "resharding, in several steps", Grade.MATCHED
    )


def _of_result(
    step: PartitioningStep, home: Computation, chain: Sequence[Instruction], devices: int
) -> ShardingPair | None:
    """Return the shardings of a result that is computed in another sharding than it is wanted in.

    It is computed in that which the partitioned snapshot writes, else in that of the operand which
    is cut into as many parts along each dimension.
    """
    part, counterpart = _result_of(step, home, chain) or (None, None)
    written = step.sharding(counterpart.instruction) if counterpart else ""
    if part is None or counterpart is None or not written:
        return None
    value = counterpart.instruction
    whole, own = value.shape.dimensions, part.shape.dimensions
    if value.opcode == "parameter" or not whole or len(whole) != len(own):
        return None
    if not all(whole) or not all(own):
        return None
    cuts = tuple((size or 1) // (local or 1) for size, local in zip(whole, own, strict=True))
    operands = counterpart.home.operands(value)
    shardings = [step.sharding(operand) for operand in operands if operand is not None]
    alike = (sharding for sharding in shardings if tiles_of(sharding) == cuts)
    before = _written_after(part, whole, devices) or next(alike, "")
    meaning = "resharding of the result" if before else OF_PARTITIONER
    before = before or f"{{devices=[{','.join(map(str, cuts))}]...}}"
    return make_pair(value.name, before, written, meaning, Grade.MATCHED)


def _result_of(
    step: PartitioningStep, home: Computation, chain: Sequence[Instruction]
) -> tuple[Instruction, Counterpart] | None:
    """Return what computes a moved value, and the value before partitioning.

    Of a sum over devices that is the op with the partial results; another collective has changed
    the sharding since.
    """
    sent = [link for link in chain if begins_collective(link.opcode)]
    part = sent[0] if sent else next(reversed(chain), None)
    counterpart = _origin_of(step, home, part) if part is not None else None
    if part is None or counterpart is None or part.shape.element_type != "tuple":
        return (part, counterpart) if part is not None and counterpart is not None else None
    number = chain[-2].taken_element if len(chain) > 1 else None
    users = counterpart.home.users.get(counterpart.instruction.name, ())
    taking = [user for user in users if number is not None and user.taken_element == number]
    return (chain[-2], replace(counterpart, instruction=taking[0])) if taking else None


def _origin_of(step: PartitioningStep, home: Computation, link: Instruction) -> Counterpart | None:
    """Return a value before partitioning; of a sum over devices, the op with partial results.

    None of other collectives: they change the sharding of a value.
    """
    kind = link.opcode.removesuffix("-start")
    if kind not in KINDS:
        return step.counterpart(home, link)
    partial = find_partial_op(step.after, home, link) if kind in REDUCING_COLLECTIVES else None
    return partial.counterpart(step) if partial is not None else None


def _written_after(part: Instruction, whole: Sequence[int | None], devices: int) -> str:
    """Return the sharding that the partitioned snapshot writes, if a part has its shape.

    Within a group of devices the partitioner writes one over the members of the group alone.
    """
    written = part.attributes.get("sharding", "")[:LONGEST]
    sharding = parse_sharding(written)
    order = sharding.devices if sharding is not None else None
    is_whole = order is not None and order.count == devices
    return written if is_whole and local_dimensions(written, whole) == part.shape.dimensions else ""


def _stated(part: Instruction | None, value: Instruction, devices: int) -> str:
    """Return the sharding that the partitioned snapshot writes of a value's part; else empty."""
    whole = value.shape.dimensions
    if part is None or part.attributes.get("sharding") != REPLICATED:
        return _written_after(part, whole, devices) if part is not None else ""
    return REPLICATED if part.shape.dimensions == whole else ""


def _is_local(home: Computation, link: Instruction, value: Instruction, written: str) -> bool:
    """Return whether a collective's operand has the shape of one device's shard of the value."""
    operand = home.operand(link)
    local = local_dimensions(written, value.shape.dimensions)
    return operand is not None and local is not None and operand.shape.dimensions == local


def _value_of(
    step: PartitioningStep, home: Computation, chain: Sequence[Instruction]
) -> tuple[int, Counterpart] | None:
    """Return the value before partitioning that a collective moves, and its index in the chain.

    The nearest one counts whose shard has the shape that its sharding implies.
    """
    for at, instruction in enumerate(chain):
        counterpart = _origin_of(step, home, instruction)
        written = step.sharding(counterpart.instruction) if counterpart is not None else ""
        if counterpart is None or not written:
            continue
        local = local_dimensions(written, counterpart.instruction.shape.dimensions)
        if local == instruction.shape.dimensions:
            return at, counterpart
        later = _last_of_shape(chain[:at], local)
        if later is not None:
            return later, Counterpart(counterpart.home, counterpart.instruction, Grade.MATCHED)
    return None


def _last_of_shape(chain: Sequence[Instruction], local: tuple[int, ...] | None) -> int | None:
    """Return the index of a value that was computed in another sharding and resharded.

    The chain leads from the collective back to the value. None if there is no such value.
    """
    changes = [at for at, link in enumerate(chain) if begins_collective(link.opcode)]
    if local is None or not changes:
        return None
    places = (at for at in range(changes[0]) if chain[at].shape.dimensions == local)
    return next(places, None)


def _by_shape(
    step: PartitioningStep, moved: Moved, wanting: Counterpart | None
) -> tuple[int, Counterpart] | None:
    """Return the operand of the op that needs the value, if its shard has the moved shape.

    Where the collective's result is read as one operand of the partitioned op, it is that operand.
    """
    if wanting is None:
        return None
    place, op = wanting.home, wanting.instruction
    number = _operand_number(moved, op)
    operands = [
        *filter(None, place.operands(op) if number is None else [place.operand(op, number)])
    ]
    for at, link in enumerate(moved.chain):
        for operand in operands:
            written = step.sharding(operand)
            local = local_dimensions(written, operand.shape.dimensions) if written else None
            is_cut = local is not None and local != operand.shape.dimensions
            is_alike = operand.shape.element_type == link.shape.element_type
            if is_cut and is_alike and local == link.shape.dimensions:
                return at, Counterpart(place, operand, Grade.MATCHED)
    return None


def _operand_number(moved: Moved, op: Instruction) -> int | None:
    """Return as which operand of a partitioned op a moved value is read; None if not known."""
    last = next(reversed([*_rearranged(moved.home, moved.body)]), moved.body)
    users = moved.home.users.get(last.name, ())
    if len(users) != 1 or users[0].opcode != op.opcode:
        return None
    names = users[0].operand_names
    return names.index(last.name) if len(names) == len(op.operand_names) else None


def _exchanged(
    module: HloModule, moved: Moved, value: Instruction, written: str, devices: int
) -> str:
    """Return the sharding after an all-to-all, which changes the shape of the shard.

    The partitioner reshapes the operand, and transposes and reshapes the result. Empty if unknown.
    """
    local = local_dimensions(written, value.shape.dimensions)
    _, group = group_size(module, "all-to-all", moved.body)
    groups = group.groups if group is not None else None
    size = len(groups[0]) if groups else 0
    for line in _rearranged(moved.home, moved.body):
        shape = line.shape.dimensions
        if local is None or not groups or len(shape) != len(local) or shape == local:
            continue
        changed = [number for number, own in enumerate(shape) if own != local[number]]
        joined = [number for number in changed if shape[number] == local[number] * size]
        cut = [number for number in changed if (shape[number] or 0) * size == local[number]]
        if (len(joined), len(cut), len(changed)) != (1, 1, 2):
            return ""
        own = _written_after(line, value.shape.dimensions, devices)
        return own or exchange(written, joined[0], cut[0], groups, devices)
    return ""


def _rearranged(home: Computation, line: Instruction) -> Iterator[Instruction]:
    """Yield the rearrangements that alone read a result, one after another."""
    for _ in range(_MOST_REARRANGED):
        users = home.users.get(line.name, ())
        if len(users) != 1 or users[0].opcode not in REARRANGEMENTS:
            return
        line = users[0]
        yield line


def _effect(module: HloModule, link: Instruction, written: str, rank: int, devices: int) -> str:
    """Return the sharding after a collective by its semantics; empty if that is not enough."""
    kind = link.opcode.removesuffix("-start")
    if kind == "collective-permute":
        pairs = parse_pairs(link.attributes.get("source_target_pairs", "")) or ()
        return permute_sharding(written, rank, pairs, devices)
    if kind != "all-gather":
        return ""
    _, groups = group_size(module, kind, link)
    try:
        dimensions = parse_integers(link.attributes.get("dimensions", ""))
    except UncountableError:
        return ""
    if groups is None or groups.groups is None or len(dimensions) != 1:
        return ""
    return gather(written, rank, dimensions[0], groups.groups, devices)


def _wanted(
    step: PartitioningStep, value: Counterpart, wanting: Counterpart | None, before: str
) -> str:
    """Return the only other sharding in which the program needs the value; else empty."""
    shape = value.instruction.shape.dimensions
    candidates: list[str] = []
    if wanting is not None and wanting.instruction.shape.dimensions == shape:
        candidates.append(step.sharding(wanting.instruction))
    candidates.extend(
        step.sharding(user)
        for user in value.home.users.get(value.instruction.name, ())
        if user.shape.dimensions == shape
    )
    others = list(
        dict.fromkeys(candidate for candidate in candidates if candidate and candidate != before)
    )
    return others[0] if others else ""
