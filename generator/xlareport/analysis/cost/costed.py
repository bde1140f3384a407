"""A module with its cost on one device: what all of its estimates begin with."""

from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from xlareport import reader_table
from xlareport.analysis.cost.cost_options import CostOptions, choose_device
from xlareport.analysis.cost.cycles import add_cycles
from xlareport.analysis.cost.fusion_shares import Shares, share_fusions
from xlareport.analysis.cost.roofline import InstructionShares, estimate_total_time
from xlareport.analysis.cost.time_basis import TimeBasis, choose_basis
from xlareport.analysis.cost.work import Costs, ModuleCost
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import Device
from xlareport.program import ParsedModule
from xlareport.snapshots import ParsedSnapshot


class CostedModule(Struct, frozen=True, dict=True):
    """A module whose final snapshot was counted."""

    module: ParsedModule
    final: ParsedSnapshot
    cost: ModuleCost
    """Of the final snapshot."""
    backend: str | None
    device: Device
    """For which times are estimated."""
    device_grade: str
    """Grade of the device, as in a cost report."""

    @property
    def hlo(self) -> HloModule:
        """The final snapshot."""
        return self.final.hlo

    @property
    def basis(self) -> TimeBasis:
        """What its time is estimated by."""
        return choose_basis(self.cost, self.device)

    @cached_property
    def seconds(self) -> float | None:
        """The estimated time of one run; None if nothing was counted."""
        return self.basis.total(self.cost)

    @cached_property
    def roofline_seconds(self) -> float | None:
        """The roofline time of one run; None if nothing was counted."""
        return estimate_total_time(self.cost, self.device)

    @cached_property
    def divided(self) -> Shares:
        """The estimated time and the bytes of fusions, divided among what they contain."""
        return share_fusions(self.hlo, self.cost, self.device)

    @cached_property
    def shares(self) -> InstructionShares:
        """Shares of the estimated time, 0 to 1; what a fusion contains has its part of it."""
        whole = self.seconds
        return {key: part / whole for key, part in self.divided.parts.items()} if whole else {}

    @property
    def counted_shares(self) -> InstructionShares:
        """The shares of instructions whose work is known at least in part."""
        counted = self.cost.instructions
        return {
            place: share
            for place, share in self.shares.items()
            if counted[place].flops is not None or counted[place].main_memory_bytes is not None
        }


def cost_module(
    module: ParsedModule,
    backend: str | None,
    options: CostOptions | None = None,
    costs: Costs | None = None,
) -> CostedModule | None:
    """Choose the device and count the final snapshot, with the estimated cycles of the last one.

    None where none could be read; `costs` has what was counted before.
    """
    if module.final is None:
        return None
    hlo = module.final.hlo
    cost = add_cycles((costs or Costs()).module(hlo), hlo, module.snapshots[-1].hlo)
    device, grade = choose_device(module.device_words, backend, options or CostOptions())
    assignment = module.side.of(reader_table.DEVICE_ASSIGNMENT) or ()
    placed = replace(device, assignment=assignment) if device.slice_shape else device
    return CostedModule(module, module.final, cost, backend, placed, grade)
