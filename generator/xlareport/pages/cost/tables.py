"""The tables of the page on the cost of a module."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias
from urllib.parse import quote

from xlareport.analysis.cost.breakdown import SEVERAL, CostPart
from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.analysis.cost.roofline import LAUNCH_SECONDS
from xlareport.analysis.cost.time_basis import ROOFLINE
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.kernels.estimates import MAIN_MODEL
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.pages import navigation
from xlareport.pages.tables import Cell, Column, Table, tabulate

HeavyColumns: TypeAlias = Mapping[Column, Callable[[HeavyInstruction], Cell]]
"""Columns of the table of the heaviest instructions, with what each shows of one."""
_NONE: HeavyColumns = {}


def tabulate_costs(
    cost: CostReport, instructions: str, near: HeavyColumns = _NONE, behind: HeavyColumns = _NONE
) -> Mapping[str, Table]:
    """Return the tables of the page by their names.

    A scope links to its instructions, in the table at the address `instructions`. Further columns
    of the heaviest instructions are `near` the roofline time, or `behind` all others.
    """
    scope = Column("Scope", "link", "leads to its instructions")

    def link(part: CostPart) -> Cell:
        named = (level for level in part.name.split("/") if level != SEVERAL)
        search = f"{instructions}&q={quote(' '.join(named), safe='')}"
        return [part.name, search] if part.name else [_NO_OP_NAME, instructions]

    tables = {
        "heaviest": _heaviest(cost, near, behind),
        "scopes": _parts("Scope", cost.scopes, cost, {scope: link}),
        "computations": _parts("Computation", cost.computations, cost),
        "opcodes": _parts("Opcode", cost.opcodes, cost),
    }
    if cost.products:
        tables["products"] = _products(cost)
    if cost.loops:
        tables["loops"] = _loops(cost)
    if cost.uncounted:
        tables["uncounted"] = _uncounted(cost)
    return tables


_NO_OP_NAME = "(no op_name)"
_CYCLES = "Estimated cycles (compiler)"


def time_title(time_name: str) -> str:
    """Return the heading of a column of times, by what they are estimated by."""
    return "Roofline µs" if time_name == ROOFLINE else "Estimated µs"


_STORED = Column(
    "In device memory",
    "bytes",
    "the same as stored, which the roofline time is of: padded to tiles, without on-chip memory",
)


def _heaviest(cost: CostReport, near: HeavyColumns, behind: HeavyColumns) -> Table:
    stored = any(row.stored_bytes is not None for row in cost.heaviest)
    cycles = Column(_CYCLES, "int", "of all executions")
    return tabulate(
        cost.heaviest,
        {
            Column("Instruction", "code", of="instruction"): lambda row: row.instruction,
            Column("Share", "percent", f"of the {cost.time_name} of the module"): (
                lambda row: row.share
            ),
            Column("Roofline µs", "float", "lower bound, not measured"): (
                lambda row: row.roofline_seconds * 1e6
            ),
            **near,
            **({cycles: lambda row: row.cycles} if cost.cycles else {}),
            Column("Bound by", "text", "what bounds the roofline time"): lambda row: row.limit,
            Column("FLOPs", "flops", "of all executions"): lambda row: row.flops,
            Column("Bytes accessed", "bytes", "read and written, by all executions"): (
                lambda row: row.bytes_accessed
            ),
            **(
                {_STORED: lambda row: row.cost.of_all_runs(row.cost.main_memory_bytes)}
                if stored
                else {}
            ),
            Column("Opcode", "code", of="opcode"): lambda row: row.opcode,
            Column("Shape", "code", of="shape"): lambda row: shortened(row.shape),
            Column("Executions", "int", "per module execution"): lambda row: row.cost.executions,
            Column("Read", "bytes", "by all executions"): lambda row: row.bytes_read,
            Column("Written", "bytes", "by all executions"): lambda row: row.bytes_written,
            Column("FLOP/byte", "float", "operational intensity, by bytes of device memory"): (
                lambda row: row.cost.intensity or None
            ),
            Column("Grade", "text", "exact, or guessed if the FLOPs are not certain"): (
                lambda row: row.cost.grade
            ),
            Column("Scope"): lambda row: row.scope,
            Column("Source"): lambda row: row.source,
            **behind,
        },
        empty="No instruction with known cost.",
    )


def shortened(shape: str) -> str:
    """Return a shape that fits a row: of a long tuple, the beginning."""
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}..."


def _products(cost: CostReport) -> Table:
    whole = sum(item.flops for item in cost.precisions)
    return tabulate(
        cost.precisions,
        {
            Column(
                "Operands", "code", "types, and requested precision if not the default"
            ): lambda row: row.kind,
            Column("On the device", "text", "precision that the device uses"): lambda row: row.unit,
            Column(
                "Dots and convolutions", "int", "library calls and fused ones included"
            ): lambda row: row.products,
            Column("FLOPs", "flops", "of all executions"): lambda row: row.flops,
            Column("Share", "percent", "of the FLOPs of all of them"): lambda row: (
                row.flops / whole
            ),
        },
    )


def _loops(cost: CostReport) -> Table:
    whole, inside = cost.whole_seconds, "of the body, all iterations included"
    has_cycles = any(loop.cycles is not None for loop in cost.loops)
    cycles = Column(_CYCLES, "int", inside)
    return tabulate(
        cost.loops,
        {
            Column("Loop", "code", of="instruction"): lambda row: row.instruction,
            Column("Trip count", "int", "empty if not known"): lambda row: row.trip_count.count,
            Column("Source of trip count"): lambda row: row.trip_count.reason,
            Column("Times entered", "int", "per module execution"): lambda row: row.executions,
            Column(time_title(cost.time_name), "float", inside): lambda row: (
                None if row.seconds is None else row.seconds * 1e6
            ),
            Column("Share", "percent", f"of the {cost.time_name} of the module"): lambda row: (
                row.seconds / whole if whole and row.seconds is not None else None
            ),
            **({cycles: lambda row: row.cycles} if has_cycles else {}),
            Column("Scope"): lambda row: row.scope,
            Column("Source"): lambda row: row.source,
        },
    )


_LONGEST_SHAPE = 120


def _uncounted(cost: CostReport) -> Table:
    return tabulate(
        cost.uncounted,
        {
            Column("Instruction", "code", of="instruction"): lambda row: row.instruction,
            Column("Opcode", "code", of="opcode"): lambda row: row.opcode,
            Column("Computation", "code", of="instruction"): lambda row: row.computation,
            Column("Reason"): lambda row: row.reason,
        },
    )


_FUSION_WHOLE = "a fusion counts as a whole"
_FUSIONS = {"Opcode": "the time of a fusion is divided among its instructions by FLOPs"}

_COUNTED = (
    "fused ones included; without parameters, ends of asynchronous ones, and what reductions, "
    "scatters and sorts apply"
)


def _parts(
    title: str,
    parts: Sequence[CostPart],
    cost: CostReport,
    first: Mapping[Column, Callable[[CostPart], Cell]] | None = None,
) -> Table:
    name = Column(title, of="opcode" if title == "Opcode" else "")
    whole, bound = cost.whole_seconds, "estimate" if cost.by_cycles else "lower bound"
    return tabulate(
        parts,
        {
            **(first or {name: lambda row: row.name or _NO_OP_NAME}),
            Column(
                time_title(cost.time_name),
                "float",
                f"{bound}; {_FUSIONS.get(title, _FUSION_WHOLE)}",
            ): lambda row: row.seconds * 1e6,
            Column("Share", "percent", f"of the {cost.time_name} of the module"): lambda row: (
                row.seconds / whole if whole else None
            ),
            Column("FLOPs", "flops"): lambda row: row.flops,
            Column(
                "Transcendentals", "int", "such as exp and tanh, element by element"
            ): lambda row: row.transcendentals,
            Column("Bytes accessed", "bytes"): lambda row: row.bytes_accessed,
            Column("Instructions", "int", _COUNTED): lambda row: row.instructions,
            Column("Unknown", "int", "instructions with unknown cost"): lambda row: row.unknown_ops,
        },
    )


def estimate_columns(kernels: ModuleKernels) -> tuple[HeavyColumns, HeavyColumns]:
    """Return a column for each of XLA's cost models: its main one with launches, and the others.

    The estimates are XLA's, for the device that it compiled for; no column is part of the roofline
    time.
    """
    models = sorted(
        {estimate.model for estimates in kernels.estimates.values() for estimate in estimates}
    )
    launching = {name for kernel in kernels.kernels for _, name in kernel.instructions}
    launch = Column(
        "Launch µs", "float", "kernel launches of all runs at the 1 µs that XLA assumes"
    )

    def launches(row: HeavyInstruction) -> float | None:
        count = row.cost.executions if row.instruction in launching else None
        return count * LAUNCH_SECONDS * 1e6 if count else None

    def time(model: str, row: HeavyInstruction) -> float | None:
        of_row = kernels.estimates.get(row.instruction, ())
        estimates = {estimate.model: estimate.microseconds for estimate in of_row}
        runs = row.cost.executions
        return estimates[model] * runs if model in estimates and runs else None

    columns = {
        model: (
            Column(f"XLA {model} µs", "float", "XLA's own estimate, all runs, without launches"),
            partial(time, model),
        )
        for model in models
    }
    main = columns.pop(MAIN_MODEL, None)
    return dict([*([main] if main else []), (launch, launches)]), dict(columns.values())


def cycle_columns(slug: str, programs: Sequence[TpuProgram]) -> HeavyColumns:
    """Return columns of the cycles of each instruction and of a link to its program.

    The cycles are independent of the roofline time: they exclude memory, and it excludes latencies.
    """
    program_of = {name: program for program in programs for name in program.instructions}
    page = navigation.module_address(slug, "tpu")

    def cycles(row: HeavyInstruction) -> int | None:
        program = program_of.get(row.instruction)
        dynamic = program.dynamic_cycles if program else None
        return dynamic * (program.runs or 1) if program and dynamic is not None else None

    def link(row: HeavyInstruction) -> Cell:
        name = program_of[row.instruction].program if row.instruction in program_of else None
        return [name, f"{page}#program={quote(name)}"] if name is not None else None

    return {
        Column("TPU cycles", "int", "dynamic, all executions, without stalls"): cycles,
        Column("TPU program", "link", "units over its schedule"): link,
    }
