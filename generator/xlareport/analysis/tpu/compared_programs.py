"""The TPU programs of two compilations side by side, aligned by HLO instruction."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.tpu.program_record import TpuProgram

CYCLES = "tpu_cycles"
"""Dynamic cycles of all programs in one run of the module; only if all are known."""
STATIC_CYCLES = "tpu_static_cycles"
SPILLS = "spills"
"""Stores of spilled vector registers in the code of all programs."""


class ProgramSide(Struct, frozen=True):
    """A program on one side; None is not known."""

    code_bundles: int | None
    static_cycles: int | None
    dynamic_cycles: int | None
    spill_stores: int | None
    bottleneck: str
    share: float | None
    """Of the busiest unit, 0 to 1."""
    units: Mapping[str, float | None] = field(default_factory=dict)
    """Share of every unit in one straight pass, 0 to 1."""


class TpuProgramChange(Struct, frozen=True):
    """The program of an HLO instruction on both sides; None where one does not have it."""

    instruction: str
    base: ProgramSide | None
    head: ProgramSide | None


def tpu_figures(programs: Sequence[TpuProgram]) -> Iterator[tuple[str, int]]:
    """Yield the figures of all programs of HLO instructions; what is not known is left out."""
    named = [program for program in programs if program.instruction]
    if not named:
        return
    cycles = [_all_runs(program, program.dynamic_cycles) for program in named]
    static = [_all_runs(program, program.static_cycles) for program in named]
    spills = [program.spill_stores for program in named]
    for name, values in ((CYCLES, cycles), (STATIC_CYCLES, static), (SPILLS, spills)):
        counted = [value for value in values if value is not None]
        if len(counted) == len(values):
            yield name, sum(counted)


def _all_runs(program: TpuProgram, cycles: int | None) -> int | None:
    return None if cycles is None else cycles * (program.runs or 1)


def align_programs(
    base: Sequence[TpuProgram], head: Sequence[TpuProgram]
) -> tuple[TpuProgramChange, ...]:
    """Return the instructions whose programs differ, in the order of the head."""
    ours, theirs = _by_instruction(base), _by_instruction(head)
    changes = (
        TpuProgramChange(name, ours.get(name), theirs.get(name)) for name in {**theirs, **ours}
    )
    return tuple(change for change in changes if change.base != change.head)


def _by_instruction(programs: Sequence[TpuProgram]) -> dict[str, ProgramSide]:
    return {name: _side(program) for program in programs for name in program.instructions}


def _side(program: TpuProgram) -> ProgramSide:
    shares = [unit.share for unit in program.units.values() if unit.share is not None]
    return ProgramSide(
        program.code_bundles,
        program.static_cycles,
        program.dynamic_cycles,
        program.spill_stores,
        program.bottleneck,
        max(shares, default=None),
        {name: unit.share for name, unit in program.units.items()},
    )
