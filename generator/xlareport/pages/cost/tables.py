"""The tables of the page on what a module costs."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.analysis.cost.resharding import Resharding
from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.cost_report.work_report import CollectiveRow
from xlareport.pages import navigation
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.report import ModuleView
from xlareport.records.sentences import groups_words


def expense_tables(view: ModuleView, cost: CostReport) -> Mapping[str, Table]:
    """Return the tables of the page as payloads by their key."""
    tables = {
        "heaviest": _heaviest(cost),
        "scopes": _parts("Scope", cost.scopes, cost.seconds),
        "computations": _parts("Computation", cost.computations, cost.seconds),
        "opcodes": _parts("Opcode", cost.opcodes, cost.seconds),
    }
    if cost.loops:
        tables["loops"] = _loops(cost)
    if cost.collectives:
        tables["collectives"] = _collectives(cost.collectives)
        if any(one.reshardings for one in cost.collectives):
            tables["shardings"] = _shardings(cost.collectives)
    if cost.uncounted:
        tables["uncounted"] = _uncounted(cost)
    return {navigation.table_key(view.slug, name): table for name, table in tables.items()}


def _heaviest(cost: CostReport) -> Table:
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Share", "percent", "of the least time of the module"),
        Column("Least µs", "float", "an estimate"),
        Column("Limit", "text", "what its least time is made of: arithmetic or memory"),
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
    for one in cost.heaviest:
        found = one.heavy.cost
        rows.append(
            [
                one.heavy.instruction,
                one.heavy.share,
                one.heavy.seconds * 1e6,
                one.least.bound,
                one.opcode,
                shortened(one.shape),
                found.executions,
                found.of_all_runs(found.flops),
                found.of_all_runs(found.bytes_read),
                found.of_all_runs(found.bytes_written),
                found.intensity or None,
                found.grade,
                one.scope,
                one.source,
            ]
        )
    return Table(columns, rows, empty="Nothing in this module could be counted.")


def shortened(shape: str) -> str:
    """Return a shape that a row can hold: of a long tuple, the beginning."""
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}..."


def _loops(cost: CostReport) -> Table:
    columns = (
        Column("Loop", "code", of="instruction"),
        Column("Rounds", "int", "of one start; not known where the dump does not tell"),
        Column("How that is known"),
        Column("Starts", "int", "in one run of the module"),
        Column("Least µs", "float", "of all that runs inside, all rounds and starts"),
        Column("Share", "percent", "of the least time of the module"),
        Column("Scope"),
        Column("Source"),
    )
    rows: list[list[Cell]] = [
        [
            one.instruction,
            one.rounds.count,
            one.rounds.reason,
            one.executions,
            None if one.seconds is None else one.seconds * 1e6,
            one.seconds / cost.seconds if cost.seconds and one.seconds is not None else None,
            one.scope,
            one.source,
        ]
        for one in cost.loops
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
    cells = [_sharding(row, one) for row in rows for one in row.reshardings]
    return Table(columns, cells)


def _sharding(row: CollectiveRow, found: Resharding) -> list[Cell]:
    given = [*found.operands, *([found.parameter] if found.parameter else [])]
    return [
        row.one.instruction,
        found.operand or None,
        found.wanted_by.instruction if found.wanted_by else None,
        found.wanted_by.sharding if found.wanted_by else None,
        "; ".join(f"%{one.instruction} {one.sharding}" for one in given),
        found.grade,
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
    rows = [(one.instruction, one.opcode, one.computation, one.reason) for one in cost.uncounted]
    return Table(columns, rows)


def _parts(title: str, found: Sequence[CostPart], whole: float | None) -> Table:
    columns = (
        Column(title, of="opcode" if title == "Opcode" else ""),
        Column("Least µs", "float", "an estimate; a fusion counts where it stands as a whole"),
        Column("Share", "percent", "of the least time of the module"),
        Column("Work", "flops"),
        Column("Transcendentals", "int", "such as exp and tanh, element by element"),
        Column("Traffic", "bytes"),
        Column("Instructions", "int"),
        Column("Not counted", "int", "instructions whose work or traffic cannot be told"),
    )
    rows: list[list[Cell]] = [
        [
            one.name or "not known",
            one.seconds * 1e6,
            one.seconds / whole if whole else None,
            one.flops,
            one.transcendentals,
            one.bytes_accessed,
            one.instructions,
            one.unknown_ops,
        ]
        for one in found
    ]
    return Table(columns, rows)
