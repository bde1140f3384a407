"""The cause of a collective: its kind, and a sentence with the evidence."""

from enum import StrEnum

from msgspec import Struct

from xlareport.analysis.collectives.partitioning import ShardedValue
from xlareport.analysis.collectives.sharding_pair import ShardingPair
from xlareport.knowledge.grades import Grade


class CauseKind(StrEnum):
    """Why a collective is there."""

    PARTIAL_SUM = "partial results of a contraction"
    """Of a contraction over a sharded dimension."""
    PARTIAL_REDUCTION = "partial results of a reduction"
    """Of a reduce over a sharded dimension."""
    PARTIAL_RESULT = "partial results"
    """Of another op that reads sharded operands, such as a gather."""
    RESHARDING = "resharding"
    """A value is wanted in another sharding than it has."""
    WINDOWED = "collective matmul"
    """One hop of a windowed einsum: parts of a product's operand or result go around a ring."""
    HALO = "halo exchange"
    """A windowed op needs the edges of the neighboring devices' parts."""
    SPLIT_WINDOW = "divided window"
    """Each device applies a part of a convolution's window, to more than its own positions."""
    USER = "in the program"
    COMPILER = "made by a pass"


class CollectiveCause(Struct, frozen=True):
    """The cause of one collective, with evidence."""

    kind: CauseKind
    detail: str
    """A sentence; names are in backticks."""
    operands: tuple[ShardedValue, ...]
    """Operands of the op that needs the collective, before partitioning, with their shardings."""
    sharding: ShardingPair | None
    grade: Grade
    sharding_reason: str = ""
    """Why there is no sharding pair; empty if there is one."""
    merging_reshape: str = ""
    """The reshape of the value that merges a sharded dimension; empty if there is none."""
