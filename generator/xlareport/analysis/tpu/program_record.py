"""The record of one TPU program, for report.json and pages."""

from collections.abc import Mapping

from msgspec import Struct, field

from xlareport.readers.llo.hlo_details import EmittedRange


class UnitUse(Struct, frozen=True):
    """How much of a unit the schedule uses."""

    used: int
    """Slots, or cycles that a unit is busy, in one straight pass."""
    capacity: int
    """Operations per cycle."""
    share: float | None
    """Of all cycles of a straight pass, 0 to 1; None where the table is not whole."""
    used_final: int | None
    """The same in the final code, where MXU and XLU lose the cycles that only wait."""
    dynamic_share: float | None = None
    """Of all cycles of a run with its loops; None where these are not known."""


class TpuLoop(Struct, frozen=True):
    """A loop of a program. Addresses are cycles of the schedule."""

    begin: int | None
    """None where the code of a counted loop was not recognized."""
    end: int | None
    """The first address behind it."""
    depth: int
    """1 for a loop in no other one."""
    start: int | None
    step: int | None
    limit: int | None
    """Not how often the body does work: a pipelined loop runs some extra iterations."""
    runs: int | None
    """How often its first bundle runs in one run of the program; None where not known."""
    dma_waits: int = 0
    """Operations in it that wait for a DMA."""


class DmaCounts(Struct, frozen=True):
    """Operations of a program that start or await a DMA."""

    hbm_to_vmem: int
    vmem_to_hbm: int
    others: int
    waits: int


class MatrixWork(Struct, frozen=True):
    """Multiply-adds executed by the matrix units, and those in the HLO."""

    executed: int | None
    """On one core in one run; None where the loops are not known."""
    wanted: int | None
    """Half of the FLOPs of the instruction's dots and convolutions, times precision passes."""
    cores: int | None
    """Number of cores that share the work; None if unknown."""
    waste: float | None
    """Executed on all cores / wanted; 1 is no padding."""


class TpuProgram(Struct, frozen=True):
    """One TPU program. Unknown figures are None."""

    program: str
    instruction: str | None
    """The HLO instruction that it is; None for the top-level program and its prologue, epilogue."""
    computation: str | None
    code_bundles: int | None
    nonempty_bundles: int | None
    static_cycles: int | None
    """Cycles of one pass through the schedule, every bundle once."""
    dynamic_cycles: int | None
    """Of a run with its loops and branches, without stalls."""
    dynamic_reason: str
    """How dynamic cycles were found, or why they are not known."""
    loops: tuple[TpuLoop, ...]
    units: Mapping[str, UnitUse]
    bottleneck: str
    """The unit with the largest share, `latency or control`, or empty where not known."""
    spill_stores: int | None
    """Stores of vector registers that are spilled."""
    fill_loads: int | None
    spill_slots: int | None
    """Of VMEM, 4096 bytes each."""
    scalar_spills: int | None
    scalar_fills: int | None
    register_pressure: int | None
    """Vector registers needed at once, before allocation; None where the compiler did not say."""
    vmatmul: int | None
    """Matrix operations in the code."""
    dma: DmaCounts | None
    matrix: MatrixWork | None
    vmem_bytes: int | None = None
    """Scratch of the program in VMEM, spilled registers included."""
    vmem_purposes: Mapping[str, int] = field(default_factory=dict)
    emitted_range: tuple[int, int] | None = None
    """Bundles in the linked program, the end excluded."""
    calls: tuple[str, ...] = ()
    """Instructions of the top-level program that run it, one for each call."""
    runs: int | None = None
    """How often one run of the module runs it, by all its instructions; None where not known."""
    compiler_cycles: int | None = None
    """The compiler's estimate before code generation; it includes memory time."""
    seconds: float | None = None
    """Dynamic cycles of one run at the assumed clock."""
    hbm_seconds: float | None = None
    """HBM bytes of one run of the instruction at the device's bandwidth."""
    stages: tuple[str, ...] = ()
    """Stages of the compiler of which the dump has a listing, in order."""
    source_lines: tuple[tuple[str, int], ...] = ()
    """Source lines of a Pallas kernel as `FILE:LINE`, each with its cycles of one pass.

    The most cycles first; empty if it was compiled without annotations.
    """
    sharing: tuple[str, ...] = ()
    """Other, equal HLO instructions that run the same program."""
    is_partial: bool = False
    """Whether files are missing or cut off: then no shares are stated."""

    @property
    def instructions(self) -> tuple[str, ...]:
        """The HLO instructions that run it, its own first; empty for the top-level program."""
        return (self.instruction, *self.sharing) if self.instruction else ()

    @property
    def empty_share(self) -> float | None:
        """Share of the schedule's cycles that start nothing: they wait for a latency."""
        if self.static_cycles is None or self.nonempty_bundles is None or not self.static_cycles:
            return None
        return max(0.0, 1 - self.nonempty_bundles / self.static_cycles)

    @property
    def run_seconds(self) -> float | None:
        """The larger of cycles / clock and HBM bytes / bandwidth, for one run; None if unknown."""
        times = [seconds for seconds in (self.seconds, self.hbm_seconds) if seconds is not None]
        return max(times) if times else None

    @property
    def total_seconds(self) -> float | None:
        """The time of all runs in one execution; of one run if their number is unknown."""
        return None if self.run_seconds is None else self.run_seconds * (self.runs or 1)


class EmittedCode(EmittedRange, frozen=True):
    """Bundles of an HLO instruction in the linked program, with the program that they call."""

    program: str | None
    """None for what is part of the top-level program, as the start of a DMA."""


class TpuSummary(Struct, frozen=True):
    """The figures of all programs of a module together."""

    called_cycles: int | None
    """Static cycles of all programs that the top-level program calls, once for each call."""
    attributed_cycles: int | None
    """Cycles that belong to a known HLO instruction."""
    core: str
    """The chip whose clock and matrix units are assumed; empty where it is not known."""
    clock: float | None
    """Cycles per second, assumed: derived from the maker's peak."""
    vmem_capacity: int | None
    emitted: tuple[EmittedCode, ...]
    grade: str = "exact"
    """Grade of the programs' assignment to this module; `matched` if only by order."""
    grade_reason: str = ""
    """Why the grade is not exact; empty where it is."""


class TpuModule(Struct, frozen=True):
    """The programs of a module."""

    programs: tuple[TpuProgram, ...]
    """The top-level program first, then in the order in which it calls them."""
    summary: TpuSummary
