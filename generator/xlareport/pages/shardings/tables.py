"""The tables of the page on shardings."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.collectives.sharding_pair import OF_PARTIAL, ShardingPair
from xlareport.analysis.shardings.changes import ShardingChange
from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.report import ShardedEntryValue
from xlareport.analysis.shardings.shardy import ShardyStep
from xlareport.pages.tables import Cell, Column, Table, tabulate
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
        Column("Sharding", "sentence", "in words"),
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
    return tabulate(
        values,
        {
            Column(title, "code"): lambda row: row.label,
            Column("Sharding", "sentence", "in words"): lambda row: row.words,
            Column("Bytes per device", "bytes"): lambda row: row.part_bytes,
            Column("Shape", "code", "of the whole array", of="shape"): lambda row: row.shape,
            Column("Bytes", "bytes", "of the whole array"): lambda row: row.bytes,
            Column("As written", "code"): lambda row: row.sharding,
            Column("Number", "int"): lambda row: row.number,
        },
    )


def _changes(changes: Sequence[ShardingChange]) -> Table:
    return tabulate(
        changes,
        {
            Column("Instruction", "code", "before SPMD partitioning"): lambda row: row.instruction,
            Column("From", "sentence"): lambda row: row.from_words,
            Column("To", "sentence"): lambda row: row.to_words,
            Column(
                "Received per device",
                "bytes",
                "at least, as partitioned, of one operand, by one device",
            ): lambda row: row.received_bytes,
            Column("op_name", "code"): lambda row: row.op_name,
            Column("Source"): lambda row: row.source,
            Column("Operands", "code"): lambda row: ", ".join(row.operands),
            Column("Shape", "code", "of the whole array", of="shape"): lambda row: row.shape,
            Column("Bytes", "bytes", "of the whole array"): lambda row: row.bytes,
            Column("Received by all", "bytes", "by all devices together"): lambda row: (
                row.received_by_all
            ),
            Column("Collectives", "code", "made for the same op_name"): lambda row: ", ".join(
                row.collectives
            ),
            Column("From, as written", "code"): lambda row: row.from_sharding,
            Column("To, as written", "code"): lambda row: row.to_sharding,
            Column("Computation", "code"): lambda row: row.computation,
        },
        sort=(3, "desc"),
    )


def _collectives(collectives: Sequence[CollectiveRecord], mesh: MeshRecord | None) -> Table:
    columns = (
        Column("Collective", "code", "of the final module", of="instruction"),
        Column(
            "From", "sentence", "sharding before SPMD partitioning; of partial results, operands"
        ),
        Column("To", "sentence"),
        Column("Sent per execution", "bytes", "per device; see Algorithm on Collectives"),
        Column("Modeled µs per execution", "float", "by link bandwidth; not measured"),
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
    return tabulate(
        values,
        {
            Column("Value", "code"): lambda row: row.value,
            Column("From", "sentence"): lambda row: row.from_words,
            Column("To", "sentence"): lambda row: row.to_words,
            Column("Gathered per device", "bytes", "the whole, on each device"): lambda row: (
                row.bytes
            ),
            Column("Kept", "bytes", "of the whole, by each device"): lambda row: row.part_bytes,
            Column("op_name", "code"): lambda row: row.op_name,
            Column("Grade"): lambda row: row.grade,
            Column("Shape", "code", of="shape"): lambda row: row.shape,
            Column("All-gathers", "code"): lambda row: ", ".join(row.gathers),
            Column("Slice", "code"): lambda row: row.slice,
            Column("Computation", "code"): lambda row: row.computation,
        },
        sort=(3, "desc"),
    )


def _warnings(warnings: Sequence[PartitionerWarning]) -> Table:
    return tabulate(
        warnings,
        {
            Column("Instruction", "code", "as the log names it"): lambda row: row.instruction,
            Column("From", "sentence"): lambda row: row.from_words,
            Column("To", "sentence"): lambda row: row.to_words,
            Column("Count", "int", "in the log"): lambda row: row.count,
            Column("op_name", "code"): lambda row: row.op_name,
            Column("Shape", "code", "of one device's part", of="shape"): lambda row: row.shape,
            Column("From, as written", "code"): lambda row: row.from_sharding,
            Column("To, as written", "code"): lambda row: row.to_sharding,
        },
    )
