"""What the time of instructions is estimated by: the roofline, or the TPU compiler's cycles.

The roofline sets accesses to on-chip memory to zero. Where a program keeps its data there, as on
TPUs, that leaves most of the time out: the compiler's estimated cycles, where the dump has them,
include it. What is sent, and instructions without cycles, keep their roofline time.
"""

from collections.abc import Mapping

from msgspec import Struct

from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.hlo.model import InstructionKey
from xlareport.knowledge.devices import Device
from xlareport.knowledge.tpu_cores import tpu_cores

ROOFLINE = "roofline time"
BY_CYCLES = "time by estimated cycles"


class TimeBasis(Struct, frozen=True):
    """Estimates the time of instructions on a device."""

    device: Device
    clock: float | None = None
    """Cycles per second at which estimated cycles count; None where the roofline counts."""

    @property
    def name(self) -> str:
        """What the times are: `roofline time` or `time by estimated cycles`."""
        return BY_CYCLES if self.clock else ROOFLINE

    @property
    def measure(self) -> str:
        """What measures the work: `roofline time` or `estimated cycles`."""
        return "estimated cycles" if self.clock else ROOFLINE

    def seconds(self, cost: InstructionCost) -> float:
        """Return the time of one execution, fused or not; 0 where it is not known."""
        least = estimate_time(cost, self.device)
        if self.clock and cost.cycles is not None:
            return max(cost.cycles / self.clock, least.interconnect if least else 0.0)
        return least.seconds if least else 0.0

    def seconds_of_runs(self, cost: InstructionCost) -> float:
        """Return the time of all runs that the totals count."""
        return self.seconds(cost) * cost.counted

    def times(self, cost: ModuleCost) -> Mapping[InstructionKey, float]:
        """Return the seconds of all executions by instruction; 0 if unknown or fused."""
        return {
            key: 0.0 if instruction.fused else self.seconds_of_runs(instruction)
            for key, instruction in cost.instructions.items()
        }

    def total(self, cost: ModuleCost) -> float | None:
        """Return the time of one run of a module; None where nothing was counted."""
        if cost.flops is None:
            return None
        return sum(self.times(cost).values())


class CompilerCycles(Struct, frozen=True):
    """The TPU compiler's estimated cycles of a module, of all executions that the totals count."""

    cycles: int
    instructions: int
    """How many instructions of the final snapshot have cycles."""
    clock: float | None
    """Cycles per second of the device; None where it is not known."""
    seconds: float | None
    """The module's time by them, with the roofline time of collectives and of instructions without
    cycles; None where too few instructions have cycles, or the clock is not known."""


def sum_cycles(cost: ModuleCost, device: Device) -> CompilerCycles | None:
    """Return the estimated cycles of a module; None where the dump has none."""
    counted = [
        instruction.cycles * instruction.counted
        for instruction in cost.instructions.values()
        if instruction.cycles is not None
    ]
    if not counted:
        return None
    core, basis = tpu_cores().get(device.key), choose_basis(cost, device)
    return CompilerCycles(
        cycles=sum(counted),
        instructions=len(counted),
        clock=core.clock if core else None,
        seconds=basis.total(cost) if basis.clock else None,
    )


def choose_basis(cost: ModuleCost, device: Device) -> TimeBasis:
    """Return the basis of a module: the compiler's cycles where they cover it, at a known clock."""
    core = tpu_cores().get(device.key)
    return TimeBasis(device, core.clock if core and cost.has_all_cycles else None)
