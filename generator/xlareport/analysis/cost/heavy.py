"""The instructions of a module with the longest estimated time."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.cost.roofline import LeastTime, estimate_time
from xlareport.analysis.cost.time_basis import choose_basis
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.source.served_ops import OpShares, main_op
from xlareport.hlo.model import HloModule, InstructionKey
from xlareport.knowledge.devices import Device


class HeavyInstruction(Struct, frozen=True):
    """One of the instructions with the longest time, with its description and source."""

    computation: str
    instruction: str
    cost: InstructionCost
    seconds: float
    """The estimated time of all its runs that the totals count, by the basis of the module."""
    share: float
    """Its part, 0 to 1, of the estimated time of all instructions that could be counted."""
    least: LeastTime
    """Roofline time of one execution."""
    opcode: str
    shape: str
    scope: str
    """The op_name."""
    source: str
    """`file.py:12`, empty if unknown."""

    @property
    def limit(self) -> str:
        """The resource that bounds its roofline time: `compute`, `memory` or `interconnect`.

        Empty where that is 0, and where elementwise work mostly accesses memory on the chip: its
        bandwidth is in no roofline.
        """
        stored, accessed = self.cost.stored_bytes, self.cost.bytes_accessed
        is_on_chip = stored is not None and accessed is not None and 2 * stored < accessed
        bound = self.least.bound if self.least.seconds else ""
        return "" if bound == "compute" and is_on_chip and not self.cost.matrix_flops else bound

    @property
    def roofline_seconds(self) -> float:
        """The roofline time of all its runs that the totals count."""
        return self.least.seconds * self.cost.counted

    @property
    def cycles(self) -> int | None:
        """The compiler's estimated cycles of all executions; None where it has none."""
        return self.cost.of_all_runs(self.cost.cycles)

    @property
    def flops(self) -> int | None:
        """The FLOPs of all executions."""
        return self.cost.of_all_runs(self.cost.flops)

    @property
    def bytes_accessed(self) -> int | None:
        """The bytes read and written by all executions."""
        return self.cost.of_all_runs(self.cost.bytes_accessed)

    @property
    def stored_bytes(self) -> int | None:
        """The bytes accessed in the device memory by all executions; None if `bytes_accessed`."""
        return self.cost.of_all_runs(self.cost.stored_bytes)

    @property
    def bytes_read(self) -> int | None:
        """The bytes read by all executions."""
        return self.cost.of_all_runs(self.cost.bytes_read)

    @property
    def bytes_written(self) -> int | None:
        """The bytes written by all executions."""
        return self.cost.of_all_runs(self.cost.bytes_written)


def rank_heaviest(
    cost: ModuleCost, device: Device, count: int
) -> tuple[tuple[InstructionKey, float], ...]:
    """Return the instructions with the longest time over all their runs, longest first.

    Each comes with these seconds. What is inside fusions counts for the fusion. Instructions that
    cannot be counted are left out.
    """
    ranked = sorted(
        choose_basis(cost, device).times(cost).items(), key=lambda pair: (-pair[1], pair[0])
    )
    return tuple((key, seconds) for key, seconds in ranked[:count] if seconds > 0)


def list_heavy(
    module: HloModule,
    cost: ModuleCost,
    device: Device,
    count: int,
    served: Mapping[InstructionKey, OpShares],
) -> Iterator[HeavyInstruction]:
    """Yield the instructions that need most time by estimate, the heaviest first.

    Of `served`, the ops that a combined collective works for, it names the one with the most bytes;
    its own op_name is that of any member.
    """
    place, whole = places_of(module), choose_basis(cost, device).total(cost)
    for key, seconds in rank_heaviest(cost, device, count):
        instruction = module.by_name[key[0]].by_name[key[1]]
        least, where = estimate_time(cost.instructions[key], device), place(instruction)
        op_name = op_name_of(instruction, module)
        ops = served.get(key, ())
        if len(ops) > 1 and main_op(ops) != op_name:
            op_name, where = main_op(ops), None
        if least is not None and whole:
            yield HeavyInstruction(
                *(*key, cost.instructions[key], seconds),
                share=seconds / whole,
                least=least,
                opcode=instruction.opcode,
                shape=instruction.shape.text,
                scope=op_name,
                source=where.short if where else "",
            )
