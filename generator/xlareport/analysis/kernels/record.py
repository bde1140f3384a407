"""The records of kernels, for report.json and pages."""

from collections.abc import Mapping

from msgspec import Struct, field

from xlareport.analysis.kernels.command_buffers import CommandBuffer
from xlareport.analysis.kernels.estimates import XlaEstimate
from xlareport.analysis.kernels.gemms import ModuleGemms
from xlareport.readers.autotune_results import TuningResult

BY_NCCL = "KERNEL_STRATEGY_DEFAULT"
"""The `kernel_strategy` of collectives for which XLA plans no kernel of its own."""


class FigureSource(Struct, frozen=True):
    """Where a figure of a kernel comes from."""

    figure: str
    """The name of its field."""
    grade: str
    """`exact`, `matched` or `guessed`."""
    source: str
    """`ptxas 12.9.86 for sm_90a`, `thunk sequence`, ..."""


class CardOccupancy(Struct, frozen=True):
    """The same launch with the same registers on a card: hypothetical unless it is the dump's."""

    device: str
    """Key in the table of devices."""
    name: str
    occupancy: float
    limited_by: tuple[str, ...]
    resident_blocks: int
    waves: float | None
    """None if no block fits, or if the number of multiprocessors is unknown."""


class BlockSizeOccupancy(Struct, frozen=True):
    """The occupancy with blocks of another size, registers and shared memory as they are."""

    threads: int
    occupancy: float


class ResourceLimit(Struct, frozen=True):
    """The number of blocks for which one resource of a multiprocessor is sufficient."""

    resource: str
    """`threads`, `blocks`, `registers`, `shared memory`, `barriers` or `scalar registers`."""
    blocks: int


class KernelRecord(Struct, frozen=True, kw_only=True):
    """A kernel of a module. Unknown figures are None, never 0."""

    name: str
    instructions: tuple[tuple[str, str], ...]
    """(computation, instruction) of all that launch it."""
    launches: int | None
    """How often the thunks name it; in loops it runs more often. None without thunks."""
    file: str | None
    """The file of code that defines it."""
    target: str
    """`sm_90a`; empty if unknown."""
    device: str | None
    """The card that occupancy and waves are of: a key of the table of devices."""
    threads: int | None
    """Of a block."""
    threads_at_most: int | None
    """Of a block, as the code was compiled for: `.maxntid`, `.reqntid`, flat work-group size."""
    warp_threads: int | None
    """Of a warp: 32, or those of a wavefront of an AMD GPU; None where the card is not known."""
    blocks: int | None
    registers: int | None
    """Of 32 bits, per thread; vector registers on AMD GPUs."""
    registers_at_most: int | None
    """A bound: with more the launch would fail."""
    scalar_registers: int | None
    """Of a wavefront; of AMD GPUs alone."""
    shared_bytes: int | None
    """Of a block, static and dynamic."""
    shared_bytes_at_most: int | None
    dynamic_shared_bytes: int | None
    """The part that the launch adds."""
    stack_bytes: int | None
    spill_bytes: int | None
    """Bytes of stores and loads of spilled registers in the code of one thread."""
    spill_store_bytes: int | None
    spill_load_bytes: int | None
    spilled_registers: int | None
    """Number of spilled vector registers of an AMD GPU, per thread."""
    spilled_scalars: int | None
    """Scalar registers of an AMD GPU that are spilled, into vector registers first."""
    occupancy: float | None = None
    """Resident warps / warps that a multiprocessor (AMD: compute unit) can hold, 0 to 1."""
    occupancy_at_least: float | None = None
    """Bounds, where registers are not known."""
    occupancy_at_most: float | None = None
    limited_by: tuple[str, ...] = ()
    """`threads`, `blocks`, `registers`, `shared memory`, `barriers`, `scalar registers`."""
    limits: tuple[ResourceLimit, ...] = ()
    resident_blocks: int | None = None
    """Per multiprocessor or compute unit, or per pair of these."""
    is_on_pairs: bool
    """Whether its blocks run on pairs of compute units: WGP mode of AMD GPUs."""
    waves: float | None = None
    """Blocks / those resident on the whole card."""
    wave_efficiency: float | None = None
    """Waves / waves rounded up: 1 where the last wave fills the card."""
    registers_for_next: int | None = None
    """The most registers with which one more block fits; None if registers are no limit."""
    occupancy_of_next: float | None = None
    block_sizes: tuple[BlockSizeOccupancy, ...] = ()
    elsewhere: tuple[CardOccupancy, ...] = ()
    """Only where registers are known."""
    matrix: str
    """The first matrix instruction of its PTX; empty where there is none, or no PTX."""
    grade: str
    """Of its link with the instructions."""
    sources: tuple[FigureSource, ...]
    share: float | None = None
    """Of the roofline time of the module, all that launch it; None where that is not known."""
    note: str
    """Why registers are not known, or why it could not be compiled; empty where all is well."""
    strategy: str = ""
    """`kernel_strategy` of the collective that it was compiled for; empty for other kernels.

    By `KERNEL_STRATEGY_DEFAULT` NCCL carries the collective out.
    """


class ModuleTuning(Struct, frozen=True):
    """The content of `autotune_results`."""

    results: tuple[TuningResult, ...]
    """Results of every module that the process had tuned; empty without measurements."""


class ModuleKernels(Struct, frozen=True):
    """The kernels of a module."""

    kernels: tuple[KernelRecord, ...]
    """By their order in the thunk sequence, then those that no thunk names."""
    device: str
    """The name of the card that occupancy is of; empty where it is not known."""
    capability: str
    """Its compute capability, or the target of an AMD GPU."""
    multiprocessors: int | None
    """Multiprocessors, or compute units of an AMD GPU."""
    multiprocessors_source: str
    is_hypothetical: bool
    """Whether the user chose another card than the dump's."""
    compiler: str
    """`ptxas 12.9.86`; empty if none was used."""
    gemms: ModuleGemms | None = None
    """The matmuls; None where the module has none."""
    estimates: Mapping[str, tuple[XlaEstimate, ...]] = field(default_factory=dict)
    """XLA's own, by instruction; empty where the dump has none."""
    command_buffers: tuple[CommandBuffer, ...] = ()
    ignored_device: str = ""
    """The device that the user chose, where the kernels cannot run on it."""

    @property
    def unit(self) -> str:
        """Return the words for the unit on which blocks are resident."""
        return "compute unit" if self.capability.startswith("gfx") else "multiprocessor"
