"""The tables of the page on the cost of a module."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from xlareport.analysis.cost.breakdown import SEVERAL, CostPart
from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.analysis.cost.time_basis import ROOFLINE
from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.kernels.estimates import LAUNCH_MICROSECONDS, MAIN_MODEL, XlaEstimate
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.pages import navigation
from xlareport.pages.tables import Cell, Column, Table, tabulate

_BEHIND = 3
"""Columns in front of those that are added: instruction, share, roofline time."""


def cost_tables(cost: CostReport, instructions: str) -> Mapping[str, Table]:
    """Return the tables of the page by their names.

    A scope links to its instructions, in the table at the address `instructions`.
    """
    tables = {
        "heaviest": _heaviest(cost),
        "scopes": _link_scopes(_parts("Scope", cost.scopes, cost), instructions),
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
    "the same as stored, which the time is of: padded to tiles, without on-chip memory",
)


def _heaviest(cost: CostReport) -> Table:
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
            **({cycles: lambda row: row.cycles} if cost.cycles else {}),
            Column("Bound by", "text", "what bounds the roofline time"): lambda row: row.limit,
            Column("FLOPs", "flops", "of all executions"): lambda row: row.flops,
            Column("Bytes accessed", "bytes", "read and written, by all executions"): (
                lambda row: row.bytes_accessed
            ),
            **({_STORED: _in_device_memory} if stored else {}),
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
        },
        empty="No instruction with known cost.",
    )


def _in_device_memory(row: HeavyInstruction) -> int | None:
    return row.cost.of_all_runs(row.cost.main_memory_bytes)


def shortened(shape: str) -> str:
    """Return a shape that fits a row: of a long tuple, the beginning."""
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}..."


def _products(cost: CostReport) -> Table:
    columns = (
        Column("Operands", "code", "types, and requested precision if not the default"),
        Column("On the device", "text", "precision that the device uses"),
        Column("Matmuls", "int", "dots, convolutions and library calls, fused ones included"),
        Column("FLOPs", "flops", "of all executions"),
        Column("Share", "percent", "of the FLOPs of all matmuls"),
    )
    whole = sum(item.flops for item in cost.precisions)
    rows = [
        (item.kind, item.unit, item.products, item.flops, item.flops / whole)
        for item in cost.precisions
    ]
    return Table(columns, rows)


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

_COUNTED = "fused ones included; without parameters and what reductions, scatters and sorts apply"


def _link_scopes(table: Table, instructions: str) -> Table:
    """Return the table of scopes with links to the instructions whose op_names have all levels."""
    column = replace(table.columns[0], kind="link", help="leads to its instructions")
    rows = [[_link_scope(str(name), instructions), *cells] for name, *cells in table.rows]
    return replace(table, columns=(column, *table.columns[1:]), rows=rows)


def _link_scope(scope: str, instructions: str) -> Cell:
    if scope == _NO_OP_NAME:
        return [scope, instructions]
    named = (level for level in scope.split("/") if level != SEVERAL)
    return [scope, f"{instructions}&q={quote(' '.join(named), safe='')}"]


def _parts(title: str, parts: Sequence[CostPart], cost: CostReport) -> Table:
    whole, bound = cost.whole_seconds, "estimate" if cost.by_cycles else "lower bound"
    return tabulate(
        parts,
        {
            Column(title, of="opcode" if title == "Opcode" else ""): lambda row: (
                row.name or _NO_OP_NAME
            ),
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


def with_estimates(table: Table, kernels: ModuleKernels, runs: Mapping[str, int | None]) -> Table:
    """Return the table with a column for each of XLA's cost models, and one for launches.

    `runs` are the executions of instructions by name. The estimates are XLA's, for the device that
    it compiled for; no column is part of the roofline time.
    """
    models = sorted(
        {estimate.model for estimates in kernels.estimates.values() for estimate in estimates}
    )
    launching = {name for kernel in kernels.kernels for _, name in kernel.instructions}
    beside = [model for model in models if model == MAIN_MODEL]
    behind = [model for model in models if model != MAIN_MODEL]
    launch = Column(
        "Launch µs", "float", "kernel launches of all runs at the 1 µs that XLA assumes"
    )
    rows: list[list[Cell]] = []
    for row in table.rows:
        name = str(row[0])
        count = runs.get(name)
        estimates = {estimate.model: estimate for estimate in kernels.estimates.get(name, ())}
        times = {model: _time(estimates.get(model), count) for model in models}
        launches = count * LAUNCH_MICROSECONDS if count and name in launching else None
        near: list[Cell] = [*(times[model] for model in beside), launches]
        rows.append([*row[:_BEHIND], *near, *row[_BEHIND:], *(times[model] for model in behind)])
    start, end = table.columns[:_BEHIND], table.columns[_BEHIND:]
    head = (*start, *map(_column, beside), launch, *end, *map(_column, behind))
    return replace(table, columns=head, rows=rows)


def _column(model: str) -> Column:
    return Column(f"XLA {model} µs", "float", "XLA's own estimate, all runs, without launches")


def _time(estimate: XlaEstimate | None, runs: int | None) -> float | None:
    return estimate.microseconds * runs if estimate is not None and runs else None


def with_cycles(table: Table, slug: str, programs: Sequence[TpuProgram]) -> Table:
    """Return the table with the cycles of each instruction and a link to its program.

    The cycles are independent of the roofline time: they exclude memory, and it excludes latencies.
    """
    program_of = {name: program for program in programs for name in program.instructions}
    page = navigation.address(navigation.module_page(slug, "tpu"))
    columns = (
        Column("TPU cycles", "int", "dynamic, all executions, without stalls"),
        Column("TPU program", "link", "units over its schedule"),
    )
    rows = [
        [*row[:_BEHIND], *_cells(program_of.get(str(row[0])), page), *row[_BEHIND:]]
        for row in table.rows
    ]
    head = (*table.columns[:_BEHIND], *columns, *table.columns[_BEHIND:])
    return replace(table, columns=head, rows=rows)


def _cells(program: TpuProgram | None, page: str) -> list[Cell]:
    if program is None:
        return [None, None]
    cycles = (
        None if program.dynamic_cycles is None else program.dynamic_cycles * (program.runs or 1)
    )
    return [cycles, [program.program, f"{page}#program={quote(program.program)}"]]
