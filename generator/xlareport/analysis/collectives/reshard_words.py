"""Sentences on a value that a collective moves: what, for which op, why, from which sharding."""

from collections.abc import Sequence
from math import prod

from xlareport.analysis.collectives.argument_values import describe_value
from xlareport.analysis.collectives.partitioning import Counterpart, PartitioningStep
from xlareport.analysis.collectives.sharding_effect import tiles_of
from xlareport.analysis.collectives.sharding_pair import OF_PARTITIONER, ShardingPair
from xlareport.analysis.shardings.sharding_words import UNREAD, words_of
from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.grades import Grade
from xlareport.runtime import english

_MOST_CONSUMERS = 2
"""Users of a value that a sentence names."""
_LONGEST_WAY = 160
"""Characters of two shardings that a sentence has at most."""
_NEEDLESS = " It is an iota, which each device could compute whole."
_ANY = "Moves the parts of {what} between devices{wanted}."
_MOVES = {
    "all-gather": "Joins the parts of {what} along dimension {dimension}{wanted}.",
    "collective-permute": "Sends each device's part of {what} to another device{wanted}.",
}


def describe_move(
    body: Instruction, source: Instruction, wanting: Counterpart | None, *, is_made: bool
) -> str:
    """Return a sentence on a collective that moves a value whose shardings are not known.

    `is_made`: the partitioner made the value for the op, and no other snapshot has it.
    """
    wanted = _for_op(wanting)
    kind = body.opcode.removesuffix("-start")
    dimension = body.attributes.get("dimensions", "").strip("{}")
    move = _MOVES.get(kind, _ANY)
    if kind == "all-gather" and not dimension.isdecimal():
        move = _ANY
    if is_made and wanting is not None:
        name = wanting.instruction.name
        return move.format(
            what=f"what the partitioner computes for `{name}`", dimension=dimension, wanted=""
        )
    return move.format(what=f"`{source.name}`", dimension=dimension, wanted=wanted)


def describe_resharding(
    step: PartitioningStep, pair: ShardingPair, wanting: Counterpart | None, kind: str = ""
) -> str:
    """Return a sentence on the resharded value, the op that needs it, and the reshape in between.

    `kind` is that of the collective: an all-gather of an argument gathers it. A second sentence
    says if the transfer is needless.
    """
    located = _find_value(step, pair)
    sentence = _describe(step, pair, wanting, located, kind)
    is_iota = located is not None and located[1].opcode == "iota"
    return f"{sentence}{_NEEDLESS}" if is_iota else sentence


def _describe(
    step: PartitioningStep,
    pair: ShardingPair,
    wanting: Counterpart | None,
    located: tuple[Computation, Instruction] | None,
    kind: str,
) -> str:
    """Return the sentence on a value; `located` is where it is before partitioning."""
    value = describe_value(step.before, *located) if located else f"`{pair.value}`"
    is_gathered = kind == "all-gather" and value != f"`{pair.value}`"
    verb = "Gathers" if is_gathered else "Reshards"
    if wanting is None and is_gathered and located is not None:
        wanting = _only_reader(*located)
    way = f" from `{pair.from_}`{f' to `{pair.to}`' if pair.to else ''}"
    if len(way) > _LONGEST_WAY or UNREAD in map(words_of, filter(None, (pair.from_, pair.to))):
        way = ""
    if wanting is None:
        return f"{verb} {value}{way}."
    op = wanting.instruction
    if op.name != pair.value:
        reshape = find_merging_reshape(step, pair, wanting)
        merged = f" `{reshape.name}` between them merges a sharded dimension." if reshape else ""
        return f"{verb} {value}{way}{_for_op(wanting)}.{merged}"
    users = wanting.home.users.get(pair.value, ())
    names = english.listing([f"`{user.name}` ({user.opcode})" for user in users])
    consumer = f" for {names}" if 0 < len(users) <= _MOST_CONSUMERS else ""
    if pair.meaning == OF_PARTITIONER:
        return f"Reshards what the partitioner computes for `{pair.value}`{way}{consumer}."
    return f"{verb} {value}{way}{consumer}."


def _find_value(
    step: PartitioningStep, pair: ShardingPair
) -> tuple[Computation, Instruction] | None:
    """Return the value that is resharded, before partitioning."""
    places = ((home, home.by_name.get(pair.value)) for home in step.before.computations)
    return next(((home, line) for home, line in places if line is not None), None)


def _only_reader(home: Computation, value: Instruction) -> Counterpart | None:
    """Return the only op that reads a value, for which it is gathered; None for several."""
    users = home.users.get(value.name, ())
    return Counterpart(home, users[0], Grade.MATCHED) if len(users) == 1 else None


def _for_op(wanting: Counterpart | None) -> str:
    op = wanting.instruction if wanting is not None else None
    return f" for `{op.name}` ({op.opcode})" if op is not None else ""


def find_merging_reshape(
    step: PartitioningStep, pair: ShardingPair, wanting: Counterpart | None
) -> Instruction | None:
    """Return the reshape between a value and an op that merges a sharded dimension of the value.

    All before partitioning. The result of such a reshape cannot have the same shards, unless the
    dimension is the first of those that are merged. None where there is none.
    """
    if wanting is None or wanting.instruction.name == pair.value:
        return None
    home, op = wanting.home, wanting.instruction
    line = home.by_name.get(pair.value)
    tiles = tiles_of(step.sharding(line)) if line is not None else None
    if line is None or tiles is None:
        return None
    for user in home.users.get(pair.value, ()):
        reads = user is op or op in home.users.get(user.name, ())
        if user.opcode == "reshape" and reads and merges(line, user, tiles):
            return user
    return None


def merges(value: Instruction, reshape: Instruction, tiles: Sequence[int]) -> bool:
    """Return whether a reshape merges a dimension that is cut into an earlier one."""
    sizes = [size or 0 for size in value.shape.dimensions]
    ends = {
        prod(size or 0 for size in reshape.shape.dimensions[:end])
        for end in range(len(reshape.shape.dimensions) + 1)
    }
    for number, (size, cuts) in enumerate(zip(sizes, tiles, strict=False)):
        before = prod(sizes[:number])
        if cuts > 1 and size > 1 and before > 1 and before not in ends:
            return True
    return False
