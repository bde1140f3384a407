"""The roofline time of an instruction on a device.

Least, not likely: its arithmetic and its bytes, each at the peak of the device, and what it sends
to other devices over the links that its groups can use, the slowest of the three.
It is an estimate, for ranking and for finding what is far from what it could be; the instructions
of a module share it.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.cost.interconnect_time import model_time
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.hlo.backend_config import is_synchronous
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.knowledge.devices import Device

InstructionShares = Mapping[InstructionKey, float]
"""Share of each instruction in the roofline time of its module, 0 to 1."""
LAUNCH_SECONDS = 1e-6
"""Kernel launch time in XLA's fusion cost model (kKernelLaunchOverhead); in no roofline time."""
_BYTES_PER_FLOP = 0.02
"""Bytes per FLOP of a typical machine, 50 operations per byte; used in weights."""


def estimate_weight(cost: InstructionCost) -> float:
    """Estimate the roofline time of an instruction, on no device of a name, in bytes' worth."""
    return cost.counted * max(cost.bytes_accessed or 0, _BYTES_PER_FLOP * (cost.flops or 0))


def estimate_shares(cost: ModuleCost, device: Device) -> InstructionShares:
    """Return the part, 0 to 1, that each instruction has in the roofline time of the module.

    What a fusion contains moves nothing: its part is that of its operations, within the fusion's.
    """
    whole = estimate_total_time(cost, device)
    if not whole:
        return {}
    return {
        key: time_of_runs(instruction, device) / whole
        for key, instruction in cost.instructions.items()
    }


class LeastTime(Struct, frozen=True):
    """The components of the roofline time of one execution of an instruction, in seconds."""

    arithmetic: float
    memory: float
    interconnect: float = 0.0

    @property
    def seconds(self) -> float:
        """The largest component, because they may overlap."""
        return max(self.arithmetic, self.memory, self.interconnect)

    @property
    def bound(self) -> str:
        """The limiting component: `compute`, `memory` or `interconnect`."""
        if self.interconnect > max(self.arithmetic, self.memory):
            return "interconnect"
        return "compute" if self.arithmetic > self.memory else "memory"


def estimate_time(cost: InstructionCost, device: Device) -> LeastTime | None:
    """Return the roofline time of one execution; None if FLOPs or bytes are unknown."""
    if cost.flops is None or cost.main_memory_bytes is None:
        return None
    products = sum((flops / device.matrix_peak(kind) for kind, flops in cost.matrix_flops), 0.0)
    return LeastTime(
        arithmetic=max(products, device.vector_seconds(cost.vector_flops)),
        memory=cost.main_memory_bytes / device.bandwidth,
        interconnect=sum(
            (model_time(collective, device).seconds or 0.0 for collective in cost.traffic), 0.0
        ),
    )


def estimate_total_time(cost: ModuleCost, device: Device) -> float | None:
    """Return the roofline seconds of one run of a module; None if nothing was counted."""
    if cost.flops is None:
        return None
    return sum(total_time(instruction, device) for instruction in cost.instructions.values())


def estimate_asynchronous_time(module: HloModule, cost: ModuleCost, device: Device) -> float:
    """Return the roofline seconds of what runs between a start and its done, in one run.

    Other work can hide it. Starts that the backend carries out at once (`is_sync`) do not count.
    """
    times = (
        total_time(instruction_cost, device)
        for computation, line in module.placed
        if line.opcode.endswith("-start") and not is_synchronous(line)
        for key in _started(module, computation, line)
        if (instruction_cost := cost.instructions.get(key)) is not None
    )
    return sum(times, 0.0)


def _started(
    module: HloModule, computation: Computation, start: Instruction
) -> Iterator[InstructionKey]:
    """Yield a start and the instructions of the computation that an `async-start` runs."""
    yield computation.name, start.name
    if start.opcode != "async-start":
        return
    for name in dict.fromkeys(name for _, name in start.called):
        wrapped = module.by_name.get(name)
        yield from ((name, line.name) for line in (wrapped.instructions if wrapped else ()))


def total_time(cost: InstructionCost, device: Device) -> float:
    """Return the roofline time of all runs; 0 inside fusions, or where not known."""
    return 0.0 if cost.fused else time_of_runs(cost, device)


def time_of_runs(cost: InstructionCost, device: Device) -> float:
    """Return the roofline time of all runs of an instruction, fused or not; 0 where not known."""
    least = estimate_time(cost, device)
    return least.seconds * cost.counted if least is not None else 0.0


class UnmodeledCollectives(Struct, frozen=True):
    """The collectives of which the roofline time has nothing but their memory accesses."""

    count: int
    reason: str
    """Why no time is known of the first one."""


def count_unmodeled(cost: ModuleCost, device: Device) -> UnmodeledCollectives | None:
    """Count the collectives that send data in no modeled time, such as between cores of a chip."""
    times = (
        [model_time(collective, device) for collective in instruction.traffic]
        for instruction in cost.instructions.values()
        if instruction.traffic and instruction.counted
    )
    reasons = [next((time.reason for time in parts if time.seconds is None), "") for parts in times]
    unknown = [reason for reason in reasons if reason]
    return UnmodeledCollectives(len(unknown), unknown[0]) if unknown else None


def measure_on_chip_share(cost: ModuleCost) -> float:
    """Return the part, 0 to 1, of the bytes accessed that does not go through the device memory."""
    kernels = [instruction for instruction in cost.instructions.values() if not instruction.fused]
    whole = sum((kernel.bytes_accessed or 0) * kernel.counted for kernel in kernels)
    beside = sum(
        max(0, (kernel.bytes_accessed or 0) - (kernel.main_memory_bytes or 0)) * kernel.counted
        for kernel in kernels
    )
    return beside / whole if whole else 0.0
