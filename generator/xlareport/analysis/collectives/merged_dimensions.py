"""Reshapes that merge a sharded dimension: the partitioner gathers what they read."""

from collections.abc import Sequence
from math import prod

from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.collectives.sharding_effect import tiles_of
from xlareport.hlo.model import Computation, Instruction


def find_merging_reshape(
    step: PartitioningStep, home: Computation, value: str, op: Instruction
) -> Instruction | None:
    """Return the reshape between a value and an op that merges a sharded dimension of the value.

    All before partitioning. The result of such a reshape cannot have the same shards, unless the
    dimension is the first of those that are merged. None where there is none.
    """
    line = home.by_name.get(value)
    tiles = tiles_of(step.sharding(line)) if line is not None else None
    if line is None or tiles is None:
        return None
    for user in home.users.get(value, ()):
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
