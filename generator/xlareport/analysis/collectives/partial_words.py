"""Why the result of a gather, a scatter or another indexed op is partial on each device."""

from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.collectives.sharding_effect import cuts_along
from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.cost.sizes import UncountableError
from xlareport.hlo.model import Computation, Instruction

PART_OF_OPERANDS = "each device has a part of its operands"


def part_of(step: PartitioningStep, home: Computation, op: Instruction) -> str:
    """Return which operand is sharded so that each device has a part of the result.

    A scatter into shards needs no sum over devices: where there is one, its updates are sharded.
    """
    operands = [operand for operand in home.operands(op) if operand is not None]
    shardings = [step.sharding(operand) for operand in operands]
    if op.opcode == "scatter" and shardings:
        windows = _numbers(op, "update_window_dims")
        rank = len(operands[-1].shape.dimensions)
        added = [number for number in range(rank) if number not in windows]
        cuts = cuts_along(shardings[-1], added)
        return f"its updates are sharded in {cuts:,}" if cuts > 1 else PART_OF_OPERANDS
    if op.opcode == "gather" and shardings:
        cuts = cuts_along(shardings[0], _numbers(op, "start_index_map"))
        if cuts > 1:
            return f"its operand is sharded in {cuts:,} along the dimensions that it indexes"
    return PART_OF_OPERANDS


def _numbers(op: Instruction, attribute: str) -> list[int]:
    try:
        return list(parse_integers(op.attributes.get(attribute, "")))
    except UncountableError:
        return []
