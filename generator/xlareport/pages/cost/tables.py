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
        Column("Least µs", "float", "an estimate"),
        Column("Limit", "text", "what its least time is made of"),
        Column("Opcode", "code", of="opcode"),
        Column("Shape", "code", of="shape"),
        Column("Runs", "int", "in one run of the module"),
        Column("Work", "flops", "of all its runs"),
        Column("Read", "bytes", "by all its runs"),
        Column("Written", "bytes", "by all its runs"),
        Column("Flops a byte", "float", "arithmetic intensity, by bytes of the main memory"),
        Column("Grade", "text", "exact, or guessed where its work is not certain"),
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
                shortened(heavy_row.shape),
                result.executions,
                result.of_all_runs(result.flops),
                result.of_all_runs(result.bytes_read),
                result.of_all_runs(result.bytes_written),
                result.intensity or None,
                result.grade,
                heavy_row.scope,
                heavy_row.source,
            ]
        )
    return Table(columns, rows, empty="Nothing in this module could be counted.")


def shortened(shape: str) -> str:
    """Return a shape that a row can hold: of a long tuple, the beginning."""
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}..."


def _products(cost: CostReport) -> Table:
    columns = (
        Column("Operands", "code", "and what is asked for beyond the default"),
        Column("On the chip", "text", "what the device makes of it"),
        Column("Products", "int", "dots, convolutions and library calls, in fusions too"),
        Column("Work", "flops", "of all their runs"),
        Column("Share", "percent", "of the work of all products"),
    )
    sums = sum_by_precision(cost.products)
    whole = sum(item.flops for item in sums)
    rows = [(item.kind, item.unit, item.products, item.flops, item.flops / whole) for item in sums]
    return Table(columns, rows)


def _loops(cost: CostReport) -> Table:
    columns = (
        Column("Loop", "code", of="instruction"),
        Column("Rounds", "int", "of one start; empty where the dump does not say"),
        Column("How that is known"),
        Column("Starts", "int", "in one run of the module"),
        Column("Least µs", "float", "of all that runs inside, all rounds and starts"),
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
        Column("On the wire", "bytes", "what one device must send at least, in one of its runs"),
        Column("Runs", "int", "in one run of the module"),
        Column("Group", "int", "devices that take part together"),
        Column("Groups", "text", "replica groups, devices by number"),
        Column("Meanwhile", "text", "what runs between its start and its end"),
        Column("Made by", "text", "the partitioner, or the program itself"),
        Column("Scope"),
        Column("Source"),
    )
    cells: list[list[Cell]] = [
        [
            row.one.instruction,
            row.one.kind,
            row.one.data_bytes,
            row.one.wire_bytes,
            row.one.executions,
            row.one.group_size,
            groups_words(row),
            _meanwhile(row),
            "the partitioner" if row.one.is_spmd_generated else "the program",
            row.scope,
            row.source,
        ]
        for row in rows
    ]
    return Table(columns, cells)


def _shardings(rows: Sequence[CollectiveRow]) -> Table:
    columns = (
        Column("Collective", "code", of="instruction"),
        Column("Operand", "code", "of one that combines several, which it is", of="instruction"),
        Column("Made for", "code"),
        Column("Its sharding", "code"),
        Column("From", "code", "its operands that have a sharding, and the argument that moves"),
        Column(
            "Grade", "text", "matched by the framework op; guessed where several could be meant"
        ),
    )
    cells = [_sharding(row, resharding) for row in rows for resharding in row.reshardings]
    return Table(columns, cells)


def _sharding(row: CollectiveRow, resharding: Resharding) -> list[Cell]:
    given = [*resharding.operands, *([resharding.parameter] if resharding.parameter else [])]
    return [
        row.one.instruction,
        resharding.operand or None,
        resharding.wanted_by.instruction if resharding.wanted_by else None,
        resharding.wanted_by.sharding if resharding.wanted_by else None,
        "; ".join(f"%{sharded.instruction} {sharded.sharding}" for sharded in given),
        resharding.grade,
    ]


_LONGEST_SHAPE = 120
_NAMES = 6


def _meanwhile(row: CollectiveRow) -> str:
    names = row.one.overlaps
    if names is None:
        return "nothing: it is not asynchronous"
    if not names:
        return "nothing"
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(f"%{name}" for name in names[:_NAMES]) + more


def _uncounted(cost: CostReport) -> Table:
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Opcode", "code", of="opcode"),
        Column("Computation", "code", of="instruction"),
        Column("Why"),
    )
    rows = [
        (uncounted.instruction, uncounted.opcode, uncounted.computation, uncounted.reason)
        for uncounted in cost.uncounted
    ]
    return Table(columns, rows)


_FUSION_WHOLE = "a fusion counts where it stands as a whole"
_FUSIONS = {"Opcode": "the time of a fusion is shared among what it contains, by their work"}


def _parts(title: str, parts: Sequence[CostPart], whole: float | None) -> Table:
    columns = (
        Column(title, of="opcode" if title == "Opcode" else ""),
        Column("Least µs", "float", f"an estimate; {_FUSIONS.get(title, _FUSION_WHOLE)}"),
        Column("Share", "percent", "of the roofline time of the module"),
        Column("Work", "flops"),
        Column("Transcendentals", "int", "such as exp and tanh, element by element"),
        Column("Traffic", "bytes"),
        Column("Instructions", "int"),
        Column("Not counted", "int", "instructions whose work or traffic is not known"),
    )
    rows: list[list[Cell]] = [
        [
            part.name or "not known",
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
