"""Whether the shapes of a snapshot are those of whole arrays or of shards."""

import re

from xlareport.analysis.cost.wire import read_partition_count
from xlareport.hlo.model import HloModule

_PARTITIONED = re.compile(r"_spmd(?:\.|\Z)")


def is_partitioned(module: HloModule) -> bool:
    """Return whether the SPMD partitioner made the entry computation, for several devices.

    It names what it makes `main_spmd`; see `SpmdPartitioner` in XLA.
    """
    entry = module.entry
    return (
        entry is not None
        and _PARTITIONED.search(entry.name) is not None
        and read_partition_count(module) > 1
    )


def has_local_shapes(module: HloModule) -> bool:
    """Return whether shapes are those of one partition's shards.

    Scheduling comes after partitioning, so a scheduled module for several partitions is
    partitioned.
    """
    scheduled = module.attributes.get("is_scheduled") == "true"
    return is_partitioned(module) or (scheduled and read_partition_count(module) > 1)
