"""The page on TPU programs: a ranked table, and one program's units over its schedule."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import quote

from markupsafe import Markup

from xlareport.analysis.tpu.program_record import TpuModule, TpuProgram, TpuSummary
from xlareport.pages import navigation
from xlareport.pages.large_figures import Figure
from xlareport.pages.rendering.environment import graded, prose
from xlareport.pages.tables import Cell, Column, Table, tabulate
from xlareport.pages.tabs import ModuleTab, PlainTab, TabSection
from xlareport.pages.tpu.payload import instruction_links
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units

_MICROSECOND = 1e6


def tpu_page(record: ModuleRecord, tpu: TpuModule) -> PlainTab:
    """Return the page of one module."""
    programs = [program for program in tpu.programs if program.instruction]
    return PlainTab(
        tables={
            "tpu-programs": _programs_table(record, tpu.programs),
            "tpu-units": _units(programs),
            "tpu-unknown": _unknown(programs),
        },
        heading=TAB.label,
        sections=_SECTIONS,
        lead=_lead(programs),
        notes=tuple(_notes(tpu.summary)),
        figures=tuple(_figures(programs, tpu.summary)),
    )


TAB = ModuleTab(
    "tpu", lambda shown: shown.analysis.tpu, tpu_page, wide=True, title="TPU programs", place=140
)

_SECTIONS = (
    TabSection(
        "tpu-programs",
        "Programs",
        prose(
            "A program is the machine code of one HLO instruction; `TLP` is the top-level program "
            "that calls them. A bundle is what one core starts in one cycle. Cycles do not include "
            "stalls on memory and DMA: no file states these. So both times are shown, cycles / "
            "clock and HBM bytes / bandwidth, and programs are ranked by the larger."
        ),
    ),
    TabSection(
        "tpu",
        "Units over the schedule",
        "Columns are cycles of one pass through the schedule, rows are units of the core; the "
        "darker, the more of the unit is used. Brackets are loops. Shares are of the capacity that "
        "the file states.",
        shows="tpu",
    ),
    TabSection("tpu-units", "Share of each unit"),
    TabSection("tpu-unknown", "Programs whose dynamic cycles are not known"),
)


def _notes(summary: TpuSummary) -> Iterator[Markup]:
    """Yield notes on the assumptions behind the seconds, and on grades that are not exact."""
    yield graded("guessed", _assumption(summary))
    if summary.grade_reason:
        yield graded(summary.grade, summary.grade_reason)


def _lead(programs: Sequence[TpuProgram]) -> str:
    timed = [(program.total_seconds, program.program) for program in programs]
    slowest_first = sorted(((time, name) for time, name in timed if time is not None), reverse=True)
    slowest = ", ".join(f"%{name}" for _, name in slowest_first[:3])
    most = f" Longest, by the estimate: {slowest}." if slowest else ""
    return f"{units.plural(len(programs), 'HLO instruction')} with a TPU program.{most}"


def _assumption(summary: TpuSummary) -> str:
    if summary.clock is None:
        return "The chip is not known, so cycles are not converted to seconds."
    return (
        f"Seconds assume {summary.clock / 1e9:.2f} GHz ({summary.core}): the clock is not in the "
        "dump and is derived from the peak that the maker states."
    )


def _figures(programs: Sequence[TpuProgram], summary: TpuSummary) -> Iterator[Figure]:
    counted = sum(program.dynamic_cycles is not None for program in programs)
    yield Figure("Programs", units.count(len(programs)), "of HLO instructions")
    if summary.called_cycles is not None:
        attributed = f"{units.count(summary.attributed_cycles or 0)} of them attributed"
        yield Figure("Static cycles", units.count(summary.called_cycles), attributed)
    note = f"of {units.count(len(programs))}; the others say why not"
    yield Figure("Dynamic cycles known", units.count(counted), note)
    spills = sum(program.spill_stores or 0 for program in programs)
    yield Figure("Vector spill stores", units.count(spills), "in the code of all programs")
    if summary.vmem_capacity:
        most = max((program.vmem_bytes or 0 for program in programs), default=0)
        note = f"of {units.byte_size(summary.vmem_capacity)} VMEM, largest scratch"
        yield Figure("VMEM scratch", units.byte_size(most), note)


def _programs_table(record: ModuleRecord, programs: Sequence[TpuProgram]) -> Table:
    page = navigation.module_address(record.slug, "tpu")
    names: Mapping[Column, Callable[[TpuProgram], Cell]] = {
        Column("Program", "link", "units over its schedule"): lambda program: [
            program.program,
            f"{page}#program={quote(program.program)}",
        ],
        Column(
            "Instruction", "link", "its history, or its neighborhood", of="instruction"
        ): lambda program: _instruction(record, program),
    }
    return tabulate(programs, {**names, **_FIGURES}, (2, "desc"))


def _microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * _MICROSECOND


_FIGURES: Mapping[Column, Callable[[TpuProgram], Cell]] = {
    Column(
        "Larger µs", "float", "larger of cycles / clock and HBM time, all runs; estimate"
    ): lambda program: _microseconds(program.total_seconds),
    Column(
        "Bottleneck", "code", "the busiest unit; latency or control below 30%"
    ): lambda program: program.bottleneck or None,
    Column("Dynamic cycles", "int", "of one run with its loops, without stalls"): lambda program: (
        program.dynamic_cycles
    ),
    Column("Static cycles", "int", "of one pass through the schedule"): lambda program: (
        program.static_cycles
    ),
    Column("Cycles µs", "float", "dynamic cycles / assumed clock"): lambda program: _microseconds(
        program.seconds
    ),
    Column(
        "HBM µs", "float", "HBM bytes / bandwidth, one run; DMA is not in the cycles"
    ): lambda program: _microseconds(program.hbm_seconds),
    Column("Runs", "int", "in one run of the module"): lambda program: program.runs,
    Column("Shared by", "int", "HLO instructions that run it"): lambda program: (
        len(program.instructions) or None
    ),
    Column("Bundles", "int", "in the final code"): lambda program: program.code_bundles,
    Column("Empty", "percent", "cycles of the schedule that start nothing"): lambda program: (
        program.empty_share
    ),
    Column("MXU", "percent", "of its capacity"): lambda program: (
        program.units["MXU"].share if "MXU" in program.units else None
    ),
    Column("Padding waste", "float", "multiply-adds executed / asked for by HLO"): lambda program: (
        program.matrix.waste if program.matrix else None
    ),
    Column("Spill stores", "int", "of vector registers"): lambda program: program.spill_stores,
    Column("Fill loads", "int", "of vector registers"): lambda program: program.fill_loads,
    Column("VMEM", "bytes", "scratch of the program"): lambda program: program.vmem_bytes,
    Column("DMA waits", "int", "operations in the code"): lambda program: (
        program.dma.waits if program.dma else None
    ),
    Column(
        "Compiler estimate", "int", "cycles before code generation, memory time included"
    ): lambda program: program.compiler_cycles,
}
"""The columns of the table of programs, besides their names."""


def _instruction(record: ModuleRecord, program: TpuProgram) -> Cell:
    links = instruction_links(record.slug, program, has_history=bool(record.changed_steps))
    return links[0] if links else None


def _units(programs: Sequence[TpuProgram]) -> Table:
    names = [*dict.fromkeys(unit for program in programs for unit in program.units)]
    columns = (
        Column("Program", "code"),
        *(Column(unit, "percent", "of its capacity, one pass") for unit in names),
    )
    rows: list[list[Cell]] = [
        [
            program.program,
            *(program.units[unit].share if unit in program.units else None for unit in names),
        ]
        for program in programs
    ]
    return Table(columns, rows)


def _unknown(programs: Sequence[TpuProgram]) -> Table:
    return tabulate(
        (program for program in programs if program.dynamic_cycles is None),
        {
            Column("Program", "code"): lambda row: row.program,
            Column("Dynamic cycles"): lambda row: row.dynamic_reason,
        },
        empty="Dynamic cycles of every program are known.",
    )
