"""The tables of the page on shardings."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.collectives.sharding_pair import OF_PARTIAL, ShardingPair
from xlareport.analysis.shardings.changes import ShardingChange
from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.report import ShardedEntryValue
from xlareport.analysis.shardings.shardy import ShardyStep
from xlareport.pages.tables import Cell, Column, Table
from xlareport.readers.partitioner_log import PartitionerWarning
from xlareport.records.collectives import CollectiveRecord
from xlareport.records.shardings import (
    MeshRecord,
    ShardingsRecord,
    words_along,
)


def sharding_tables(
    record: ShardingsRecord, collectives: Sequence[CollectiveRecord] = ()
) -> Mapping[str, Table]:
    """Return the tables of the page by their names; those without rows are not there."""
    tables = {
        "sharded-parameters": _values("Parameter", record.parameters),
        "sharded-results": _values("Result", record.results),
        "sharding-changes": _changes(record.changes or ()),
        "resharding-collectives": _collectives(collectives, record.mesh),
        "full-rematerializations": _rematerializations(record.rematerializations or ()),
    }
    tables["partitioner-warnings"] = _warnings(record.warnings)
    tables["shardy-values"] = _shardy(record.shardy)
    return {name: table for name, table in tables.items() if table.rows}


def _shardy(steps: Sequence[ShardyStep]) -> Table:
    columns = (
        Column("Value", "code"),
        Column("Sharding", "text", "in words"),
        Column("Operation", "code"),
        Column("Type", "code"),
        Column("Text", "code", "the file of the dump"),
        Column("Line", "int"),
        Column("As written", "code"),
    )
    rows: list[list[Cell]] = [
        [
            placement.value,
            placement.words,
            placement.operation,
            placement.type,
            step.path.rpartition("/")[2],
            placement.line,
            placement.sharding,
        ]
        for step in steps
        for placement in step.placements
    ]
    return Table(columns, rows)


def _values(title: str, values: Sequence[ShardedEntryValue]) -> Table:
    columns = (
        Column(title, "code"),
        Column("Sharding", "text", "in words"),
        Column("Bytes per device", "bytes"),
        Column("Shape", "code", "of the whole array", of="shape"),
        Column("Bytes", "bytes", "of the whole array"),
        Column("As written", "code"),
        Column("Number", "int"),
    )
    rows: list[list[Cell]] = [
        [
            value.label,
            value.words,
            value.part_bytes,
            value.shape,
            value.bytes,
            value.sharding,
            value.number,
        ]
        for value in values
    ]
    return Table(columns, rows)


def _changes(changes: Sequence[ShardingChange]) -> Table:
    columns = (
        Column("Instruction", "code", "before SPMD partitioning"),
        Column("From"),
        Column("To"),
        Column(
            "Received per device",
            "bytes",
            "at least, as partitioned, of one operand, by one device",
        ),
        Column("op_name", "code"),
        Column("Source"),
        Column("Operands", "code"),
        Column("Shape", "code", "of the whole array", of="shape"),
        Column("Bytes", "bytes", "of the whole array"),
        Column("Received by all", "bytes", "by all devices together"),
        Column("Collectives", "code", "made for the same op_name"),
        Column("From, as written", "code"),
        Column("To, as written", "code"),
        Column("Computation", "code"),
    )
    rows: list[list[Cell]] = [
        [
            change.instruction,
            change.from_words,
            change.to_words,
            change.received_bytes,
            change.op_name,
            change.source,
            ", ".join(change.operands),
            change.shape,
            change.bytes,
            change.received_by_all,
            ", ".join(change.collectives),
            change.from_sharding,
            change.to_sharding,
            change.computation,
        ]
        for change in changes
    ]
    return Table(columns, rows, sort=(3, "desc"))


def _collectives(collectives: Sequence[CollectiveRecord], mesh: MeshRecord | None) -> Table:
    columns = (
        Column("Collective", "code", "of the final module", of="instruction"),
        Column("From", "text", "sharding before SPMD partitioning; of partial results, operands"),
        Column("To"),
        Column("Sent per device", "bytes", "per execution; see Algorithm on Collectives"),
        Column("Modeled µs", "float", "one execution, by link bandwidth; not measured"),
        Column("op_name", "code"),
        Column("Source"),
        Column("Value", "code", "before SPMD partitioning"),
        Column("Why", "text", "what the collective does with the value"),
        Column("Executions", "int", "per module execution"),
        Column("Grade"),
        Column("Kind", "code", of="opcode"),
        Column("From, as written", "code"),
        Column("To, as written", "code"),
    )
    rows: list[list[Cell]] = [
        [
            collective.instruction,
            " · ".join(words_along(text, mesh) for text in _shardings_before(pair, collective)),
            words_along(pair.to, mesh) if pair.to else "not known",
            collective.wire_bytes,
            None if collective.time_us is None else round(collective.time_us, 3),
            collective.op_name,
            collective.source,
            pair.value,
            pair.meaning,
            collective.executions,
            pair.grade,
            collective.kind,
            pair.from_,
            pair.to or "",
        ]
        for collective in collectives
        if (pair := collective.sharding) is not None
    ]
    return Table(columns, rows, sort=(3, "desc"))


def _shardings_before(pair: ShardingPair, collective: CollectiveRecord) -> tuple[str, ...]:
    """Return the sharding before a collective; partial results have those of several operands."""
    if pair.meaning == OF_PARTIAL:
        return tuple(operand.sharding for operand in collective.origin.operands)
    return (pair.from_,)


def _rematerializations(values: Sequence[Rematerialization]) -> Table:
    columns = (
        Column("Value", "code"),
        Column("From"),
        Column("To"),
        Column("Gathered per device", "bytes", "the whole, on each device"),
        Column("Kept", "bytes", "of the whole, by each device"),
        Column("op_name", "code"),
        Column("Grade"),
        Column("Shape", "code", of="shape"),
        Column("All-gathers", "code"),
        Column("Slice", "code"),
        Column("Computation", "code"),
    )
    rows: list[list[Cell]] = [
        [
            value.value,
            value.from_words,
            value.to_words,
            value.bytes,
            value.part_bytes,
            value.op_name,
            value.grade,
            value.shape,
            ", ".join(value.gathers),
            value.slice,
            value.computation,
        ]
        for value in values
    ]
    return Table(columns, rows, sort=(3, "desc"))


def _warnings(warnings: Sequence[PartitionerWarning]) -> Table:
    columns = (
        Column("Instruction", "code", "as the log names it"),
        Column("From"),
        Column("To"),
        Column("Count", "int", "in the log"),
        Column("op_name", "code"),
        Column("Shape", "code", "of one device's part", of="shape"),
        Column("From, as written", "code"),
        Column("To, as written", "code"),
    )
    rows: list[list[Cell]] = [
        [
            warning.instruction,
            warning.from_words,
            warning.to_words,
            warning.count,
            warning.op_name,
            warning.shape,
            warning.from_sharding,
            warning.to_sharding,
        ]
        for warning in warnings
    ]
    return Table(columns, rows)
