"""The memory report of a module: figures, peak, live ranges, possible savings."""

from collections.abc import Mapping

from msgspec import Struct, field

from xlareport.analysis.cost.activations import Activation, sum_by_layer
from xlareport.analysis.cost.donation import DonationRow
from xlareport.analysis.cost.host_memory import HostTransfer
from xlareport.analysis.cost.layout_spaces import LayoutSpace
from xlareport.analysis.cost.memory import KindTotal, MemoryFigures
from xlareport.analysis.cost.memory_estimate import PeakEstimate
from xlareport.analysis.cost.memory_stats import MemoryStats
from xlareport.analysis.cost.occupancy import MAIN_MEMORY, Fill
from xlareport.analysis.cost.rematerialization import Rematerialized
from xlareport.analysis.cost.residency import ArgumentGroup, Share
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost.stacked import StackCopy, StackedBuffer
from xlareport.analysis.cost_report.memory_curves import (
    LiveSum,
    LivingValue,
    PeakPlateau,
    SpaceCurve,
)
from xlareport.analysis.cost_report.padded_values import PaddedValue
from xlareport.analysis.cost_report.peak_groups import PeakGroup
from xlareport.analysis.cost_report.replicated_state import ReplicatedArguments
from xlareport.analysis.cost_report.unsplit_stacks import UnsplitStack
from xlareport.analysis.cost_report.value_purposes import ValuePurposes
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.source.argument_names import NamedArgument
from xlareport.readers.live_range import ScopeShare


class MemoryReport(Struct, frozen=True):
    """The memory use of a module on one device."""

    figures: MemoryFigures
    kinds: tuple[KindTotal, ...] = ()
    values: tuple[ValueRow, ...] = ()
    """The largest, whenever they live."""
    at_peak: tuple[ValueRow, ...] = ()
    """The largest buffers in use at the peak; arguments, outputs and constants always are."""
    at_peak_count: int = 0
    argument_groups: tuple[ArgumentGroup, ...] = ()
    """Named arguments in use at the peak, by the beginnings of their names."""
    peak_scopes: tuple[Share, ...] = ()
    peak_lines: tuple[Share, ...] = ()
    breakdown: tuple[ScopeShare, ...] = ()
    """The peak as the live-range file breaks it down."""
    curve: tuple[int, ...] = ()
    """Bytes of device memory in use over the schedule, thinned out evenly; empty if not known."""
    curves: tuple[SpaceCurve, ...] = ()
    """The curve of every memory space, by number; empty if live ranges are unknown."""
    living: tuple[LivingValue, ...] = ()
    """The largest values in the device memory, with their live ranges."""
    occupied_peak_bytes: int | None = None
    """Peak bytes in use of the device memory; None if live ranges are unknown."""
    space_names: Mapping[int, str] = field(default_factory=dict)
    """Name and kind of each memory space of the figures, by its number."""
    space_peaks: Mapping[int, int] = field(default_factory=dict)
    """Peak bytes in use of each memory space; empty if unknown."""
    positions: int = 0
    """Of the whole schedule."""
    peak_position: int | None = None
    peak_instruction: str = ""
    plateau: PeakPlateau | None = None
    """Positions within 1% of the peak, where no instruction alone causes it."""
    live_sum: LiveSum | None = None
    """The most that the ranges of the live-range file add up to; None if not known."""
    marked_position: int | None = None
    """The position that the live-range file marks as the peak."""
    saving: Saving | None = None
    """The values to reduce to save a fifth of the peak."""
    saving_values: tuple[ValueRow, ...] = ()
    peak_groups: tuple[PeakGroup, ...] = ()
    fills: tuple[Fill, ...] = ()
    donations: tuple[DonationRow, ...] = ()
    layout_spaces: tuple[LayoutSpace, ...] = ()
    rematerialized: tuple[Rematerialized, ...] = ()
    rematerialized_counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of all rematerialized instructions, not only those listed, by origin."""
    checkpoints_in_loops: bool = False
    """Whether each jax.checkpoint of the program is in the body of a loop, by the op_names."""
    stacked: tuple[StackedBuffer, ...] = ()
    """The largest buffers into which loops write slice by slice, in any memory space."""
    stacked_at_peak: tuple[StackedBuffer, ...] = ()
    """Those that are temporaries of the device memory and in use at its peak, one for each place.

    If live ranges are unknown: those that the layouts place in device memory.
    """
    stack_copies: tuple[StackCopy, ...] = ()
    """Temporaries at the peak that are moved out of stacked buffers, apart from these."""
    argument_padding_bytes: int = 0
    """Of the arguments' bytes, what their tiles pad."""
    kept_by_policy: tuple[StackedBuffer, ...] = ()
    """Those of `stacked_at_peak` that a policy of jax.checkpoint keeps, as the program marks."""
    unsplit_stacks: tuple[UnsplitStack, ...] = ()
    """Those of `stacked_at_peak` that a further axis of the mesh could split."""
    purposes: ValuePurposes = ValuePurposes()
    arguments: tuple[NamedArgument, ...] = ()
    """Those of the framework's function; empty if a parameter has no name of its own."""
    padded_at_peak: tuple[PaddedValue, ...] = ()
    """Of `at_peak`, what tiles pad most."""
    replicated_arguments: tuple[ReplicatedArguments, ...] = ()
    """Optimizer state and parameters that an axis of the mesh can split further."""
    activations: tuple[Activation, ...] = ()
    """Temporaries of the forward pass in use at the peak that the backward pass uses last.

    Without operands of the instruction at the peak and without partial sums of split-K.
    """
    host_transfers: tuple[HostTransfer, ...] = ()
    """Between the device's memory and the host's, the largest first."""
    estimate: PeakEstimate | None = None
    """Where the dump has a schedule and no live ranges."""
    reported: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    """Label and bytes of each memory space in the memory usage report."""
    chip: str = ""
    """The key of the device that the dump names; empty where it names none."""
    stats: MemoryStats | None = None
    """Temp and peak as `memory_analysis()` gives them; None without a buffer assignment."""

    @property
    def activations_by_layer(self) -> tuple[tuple[str, int], ...]:
        """Layers with the bytes of their activations, the most bytes first."""
        return sum_by_layer(self.activations)

    @property
    def peak_bytes(self) -> int:
        """The peak of the device memory, else its estimate; 0 where neither is known."""
        return self.occupied_peak_bytes or (self.estimate.bytes if self.estimate else 0)

    @property
    def lost_bytes(self) -> int:
        """Return the unused bytes of shared allocations of device memory, each at its fullest."""
        return sum(fill.lost for fill in self.fills if fill.allocation.color == MAIN_MEMORY)
