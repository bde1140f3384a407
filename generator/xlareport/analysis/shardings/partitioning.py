"""The step of the SPMD partitioner: the last snapshot of whole shapes, and the first of parts."""

from collections.abc import Sequence

from msgspec import Struct

from xlareport.analysis.cost.partitions import has_local_shapes, is_partitioned
from xlareport.hlo.model import HloModule, Instruction


class Partitioning(Struct, frozen=True):
    """The two snapshots around the SPMD partitioner."""

    before: HloModule
    """Shapes are those of whole arrays. With every pass dumped, instructions have shardings."""
    after: HloModule
    """Its shapes are those of one device's shards."""
    is_propagated: bool = False
    """Whether sharding propagation has finished in `before`.

    Values without a sharding are then replicated, as in the partitioner (`PreprocessSharding`).
    """

    @property
    def is_fresh(self) -> bool:
        """Whether `after` is the partitioner's direct result, without later passes."""
        scheduled = self.after.is_scheduled
        return not scheduled and all(
            instruction.opcode != "fusion" for instruction in self.after.instructions
        )


def find_partitioning(modules: Sequence[HloModule]) -> Partitioning | None:
    """Return the snapshots around the SPMD partitioner; None where there is no such step.

    It is the same step that `partitioning_into` finds.
    """
    steps = (partitioning_into(modules, number) for number in range(1, len(modules)))
    return next((step for step in steps if step is not None), None)


def partitioning_into(modules: Sequence[HloModule], number: int) -> Partitioning | None:
    """Return the step before a snapshot if it partitioned the program; else None.

    A module known to be partitioned only from its schedule says nothing about propagation.
    """
    before, after = modules[number - 1], modules[number]
    if not has_local_shapes(after) or has_local_shapes(before):
        return None
    is_between = before is not modules[0] and is_partitioned(after)
    return Partitioning(before, after, is_between and not _waits_for_propagation(before))


def _waits_for_propagation(module: HloModule) -> bool:
    """Return whether a module has Shardy's meshes, or constraints, which propagation removes."""
    return "xla.sdy." in module.header or any(
        instruction.opcode == "custom-call" and '"Sharding"' in instruction.attributes_text
        for instruction in module.instructions
    )


def is_sharded(instruction: Instruction) -> bool:
    """Return whether an instruction that is no parameter has a sharding."""
    return "sharding=" in instruction.attributes_text and instruction.opcode != "parameter"
