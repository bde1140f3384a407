"""New copies that give a value another sharding: where data has to move between devices.

Shardy marks each such place by a copy, which the SPMD partitioner turns into collectives.
"""

from xlareport.analysis.matching.search.reasons import Resharded
from xlareport.analysis.matching.sides.graph import Node

_SHARDING = "sharding"


def resharding(node: Node) -> Resharded | None:
    """Return what a copy reshards; None for other opcodes, and where a sharding is not given."""
    line, home = node.instruction, node.frame.computation
    read = home.operand(line) if line.opcode == "copy" else None
    if read is None:
        return None
    old, new = (side.attributes.get(_SHARDING, "") for side in (read, line))
    return Resharded(read.name, old, new) if old and new and old != new else None
