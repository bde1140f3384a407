"""How an estimate of the least time is shared out among the instructions of a module."""

from collections.abc import Mapping

from xlareport.analysis.cost.roofline import estimate_total_time, time_of_runs
from xlareport.analysis.cost.work import InstructionCost, InstructionKey, ModuleCost
from xlareport.knowledge.devices import Device

InstructionShares = Mapping[InstructionKey, float]
"""The part, 0 to 1, of each instruction in the least time of its module."""
_BYTES_PER_FLOP = 0.02
"""Ridge of a typical machine, 50 operations for each byte: what a weight is made of."""


def estimate_weight(cost: InstructionCost) -> float:
    """Estimate the least time of an instruction, on no device of a name, in bytes' worth."""
    return cost.counted * max(cost.bytes_accessed or 0, _BYTES_PER_FLOP * (cost.flops or 0))


def estimate_shares(cost: ModuleCost, device: Device) -> InstructionShares:
    """Return the part, 0 to 1, that each instruction has in the least time of the module.

    What stands in a fusion moves nothing: its part is that of its operations, within the fusion's.
    """
    whole = estimate_total_time(cost, device)
    if not whole:
        return {}
    return {
        key: time_of_runs(instruction, device) / whole
        for key, instruction in cost.instructions.items()
    }
