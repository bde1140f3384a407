"""The tables of the page on what a module costs."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.analysis.cost.resharding import Resharding
from xlareport.analysis.cost_report.precision_report import sum_by_precision
from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.cost_report.work_report import CollectiveRow
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.sentences import groups_words


def cost_tables(cost: CostReport) -> Mapping[str, Table]:
    """Return the tables of the page by their names."""
    tables = {
        "heaviest": _heaviest(cost),
        "scopes": _parts("Scope", cost.scopes, cost.seconds),
        "computations": _parts("Computation", cost.computations, cost.seconds),
        "opcodes": _parts("Opcode", cost.opcodes, cost.seconds),
    }
    if cost.products:
        tables["products"] = _products(cost)
    if cost.loops:
        tables["loops"] = _loops(cost)
    if cost.collectives:
        tables["collectives"] = _collectives(cost.collectives)
        if any(collective.reshardings for collective in cost.collectives):
            tables["shardings"] = _shardings(cost.collectives)
    if cost.uncounted:
        tables["uncounted"] = _uncounted(cost)
    return tables


def _heaviest(cost: CostReport) -> Table:
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Share", "percent", "of the roofline time of the module"),
        Column("Roofline µs", "float", "lower bound, not measured"),
        Column("Bound by", "text", "what bounds the roofline time"),
        Column("Opcode", "code", of="opcode"),
        Column("FLOPs", "flops", "of all executions"),
        Column("Shape", "code", of="shape"),
        Column("Executions", "int", "per module execution"),
        Column("Read", "bytes", "by all executions"),
        Column("Written", "bytes", "by all executions"),
        Column("FLOP/byte", "float", "operational intensity, by bytes of device memory"),
        Column("Grade", "text", "exact, or guessed if the FLOPs are not certain"),
        Column("Scope"),
        Column("Source"),
    )
    rows: list[list[Cell]] = []
    for heavy_row in cost.heaviest:
        result = heavy_row.heavy.cost
        rows.append(
            [
                heavy_row.heavy.instruction,
                heavy_row.heavy.share,
                heavy_row.heavy.seconds * 1e6,
                heavy_row.least.bound,
                heavy_row.opcode,
                result.of_all_runs(result.flops),
                shortened(heavy_row.shape),
                result.executions,
                result.of_all_runs(result.bytes_read),
                result.of_all_runs(result.bytes_written),
                result.intensity or None,
                result.grade,
                heavy_row.scope,
                heavy_row.source,
            ]
        )
    return Table(columns, rows, empty="No instruction with known cost.")


def shortened(shape: str) -> str:
    """Return a shape that a row can hold: of a long tuple, the beginning."""
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}..."


def _products(cost: CostReport) -> Table:
    columns = (
        Column("Operands", "code", "types, and requested precision if not the default"),
        Column("On the device", "text", "precision that the device uses"),
        Column("Matmuls", "int", "dots, convolutions and library calls, fused ones included"),
        Column("FLOPs", "flops", "of all executions"),
        Column("Share", "percent", "of the FLOPs of all matmuls"),
    )
    sums = sum_by_precision(cost.products)
    whole = sum(item.flops for item in sums)
    rows = [(item.kind, item.unit, item.products, item.flops, item.flops / whole) for item in sums]
    return Table(columns, rows)


def _loops(cost: CostReport) -> Table:
    columns = (
        Column("Loop", "code", of="instruction"),
        Column("Trip count", "int", "empty if not known"),
        Column("Source of trip count"),
        Column("Times entered", "int", "per module execution"),
        Column("Roofline µs", "float", "of the body, all iterations included"),
        Column("Share", "percent", "of the roofline time of the module"),
        Column("Scope"),
        Column("Source"),
    )
    rows: list[list[Cell]] = [
        [
            loop.instruction,
            loop.rounds.count,
            loop.rounds.reason,
            loop.executions,
            None if loop.seconds is None else loop.seconds * 1e6,
            loop.seconds / cost.seconds if cost.seconds and loop.seconds is not None else None,
            loop.scope,
            loop.source,
        ]
        for loop in cost.loops
    ]
    return Table(columns, rows)


def _collectives(rows: Sequence[CollectiveRow]) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Kind", "code", of="opcode"),
        Column("Data", "bytes", "the larger of operands and result, on one device"),
        Column("Bytes sent per device", "bytes", "lower bound, per execution"),
        Column("Executions", "int", "per module execution"),
        Column("Group", "int", "devices per replica group"),
        Column("Groups", "text", "replica groups, devices by number"),
        Column("Overlapped with", "text", "instructions between start and done"),
        Column("Origin", "text", "SPMD partitioner, or user code (shard_map, psum)"),
        Column("Scope"),
        Column("Source"),
    )
    cells: list[list[Cell]] = [
        [
            row.collective.instruction,
            row.collective.kind,
            row.collective.data_bytes,
            row.collective.wire_bytes,
            row.collective.executions,
            row.collective.group_size,
            groups_words(row),
            _meanwhile(row),
            "SPMD partitioner" if row.collective.is_spmd_generated else "user code",
            row.scope,
            row.source,
        ]
        for row in rows
    ]
    return Table(columns, cells)


def _shardings(rows: Sequence[CollectiveRow]) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Operand", "code", "of a combined collective", of="instruction"),
        Column("Consumer", "code"),
        Column("Consumer sharding", "code"),
        Column("From", "code", "sharded operands, and the argument that is resharded"),
        Column(
            "Grade", "text", "matched by op_name; guessed if several instructions are candidates"
        ),
    )
    cells = [_sharding(row, resharding) for row in rows for resharding in row.reshardings]
    return Table(columns, cells)


def _sharding(row: CollectiveRow, resharding: Resharding) -> list[Cell]:
    given = [*resharding.operands, *([resharding.parameter] if resharding.parameter else [])]
    return [
        row.collective.instruction,
        resharding.operand or None,
        resharding.wanted_by.instruction if resharding.wanted_by else None,
        resharding.wanted_by.sharding if resharding.wanted_by else None,
        "; ".join(f"%{sharded.instruction} {sharded.sharding}" for sharded in given),
        resharding.grade,
    ]


_LONGEST_SHAPE = 120
_NAMES = 6


def _meanwhile(row: CollectiveRow) -> str:
    names = row.collective.overlaps
    if names is None:
        return "none (synchronous)"
    if not names:
        return "none"
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(f"%{name}" for name in names[:_NAMES]) + more


def _uncounted(cost: CostReport) -> Table:
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Opcode", "code", of="opcode"),
        Column("Computation", "code", of="instruction"),
        Column("Reason"),
    )
    rows = [
        (uncounted.instruction, uncounted.opcode, uncounted.computation, uncounted.reason)
        for uncounted in cost.uncounted
    ]
    return Table(columns, rows)


_FUSION_WHOLE = "a fusion counts as a whole"
_FUSIONS = {"Opcode": "the time of a fusion is divided among its instructions by FLOPs"}


def _parts(title: str, parts: Sequence[CostPart], whole: float | None) -> Table:
    columns = (
        Column(title, of="opcode" if title == "Opcode" else ""),
        Column("Roofline µs", "float", f"lower bound; {_FUSIONS.get(title, _FUSION_WHOLE)}"),
        Column("Share", "percent", "of the roofline time of the module"),
        Column("FLOPs", "flops"),
        Column("Transcendentals", "int", "such as exp and tanh, element by element"),
        Column("Bytes accessed", "bytes"),
        Column("Instructions", "int"),
        Column("Unknown", "int", "instructions with unknown cost"),
    )
    rows: list[list[Cell]] = [
        [
            part.name or "(no op_name)",
            part.seconds * 1e6,
            part.seconds / whole if whole else None,
            part.flops,
            part.transcendentals,
            part.bytes_accessed,
            part.instructions,
            part.unknown_ops,
        ]
        for part in parts
    ]
    return Table(columns, rows)
