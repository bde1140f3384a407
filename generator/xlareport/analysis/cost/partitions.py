"""Whether the shapes of a snapshot are global or those of one partition's shards."""

from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import CONTRACTIONS

_MANUAL = ("xla.sdy.manual_computation_body", "shmap_body")
"""Beginnings of the names of computations that a program writes for one device: of `shard_map`."""


def is_partitioned(module: HloModule) -> bool:
    """Return whether the SPMD partitioner made the entry computation, for several devices.

    It names what it makes `main_spmd`; see `SpmdPartitioner` in XLA.
    """
    return module.is_named_as_partitioned and module.partition_count > 1


def has_local_shapes(module: HloModule) -> bool:
    """Return whether shapes are those of one partition's shards.

    Scheduling comes after partitioning, so a scheduled module for several partitions is
    partitioned.
    """
    scheduled = module.is_scheduled
    return is_partitioned(module) or (scheduled and module.partition_count > 1)


def computes_per_device(module: HloModule) -> bool:
    """Return whether counted work is that of one partition, not of the whole program.

    It is after SPMD partitioning, or where all matmuls are in the body of a `shard_map`.
    """
    return has_local_shapes(module) or (module.partition_count > 1 and _is_manual(module))


def _is_manual(module: HloModule) -> bool:
    """Return whether there are matmuls, and all of them are in what `shard_map` runs."""
    bodies = [home for home in module.computations if home.name.startswith(_MANUAL)]
    called = [called_computations(module, home.instructions) for home in bodies]
    inside = {home.name for home in bodies}.union(*called)
    heavy = {home.name for home, line in module.placed if line.opcode in CONTRACTIONS}
    return bool(heavy) and heavy <= inside
