"""The tables of the page on shardings."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.collectives.sharding_pair import OF_PARTIAL, ShardingPair
from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.sharding_changes import ShardingChange
from xlareport.analysis.shardings.sharding_report import ShardedEntryValue
from xlareport.analysis.shardings.shardy_texts import ShardyStep
from xlareport.pages.tables import Column, Table, tabulate
from xlareport.readers.partitioner_log import PartitionerWarning
from xlareport.records.collectives import CollectiveRecord
from xlareport.records.shardings import MeshRecord, ShardingsRecord, words_along


def tabulate_shardings(
    record: ShardingsRecord, collectives: Sequence[CollectiveRecord] = ()
) -> Mapping[str, Table]:
    """Return the tables of the page by their names; those without rows are not there."""
    tables = {
        "sharded-parameters": _values("Parameter", record.parameters),
        "sharded-results": _values("Result", record.results),
        "sharding-changes": _changes_table(record.changes or ()),
        "resharding-collectives": _collectives(collectives, record.mesh),
        "full-rematerializations": _rematerializations(record.rematerializations or ()),
    }
    tables["partitioner-warnings"] = _warnings(record.warnings)
    tables["shardy-values"] = _shardy(record.shardy)
    return {name: table for name, table in tables.items() if table.rows}


def _shardy(steps: Sequence[ShardyStep]) -> Table:
    placements = ((step.path, placement) for step in steps for placement in step.placements)
    return tabulate(
        placements,
        {
            Column("Value", "code"): lambda pair: pair[1].value,
            Column("Sharding", "sentence", "in words"): lambda pair: pair[1].words,
            Column("Operation", "code"): lambda pair: pair[1].operation,
            Column("Type", "code"): lambda pair: pair[1].type,
            Column("Text", "code", "the file of the dump"): lambda pair: pair[0].rpartition("/")[2],
            Column("Line", "int"): lambda pair: pair[1].line,
            Column("As written", "code"): lambda pair: pair[1].sharding,
        },
    )


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


def _changes_table(changes: Sequence[ShardingChange]) -> Table:
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
    before = "sharding before SPMD partitioning; of partial results, operands"
    pairs = [(pair, collective) for collective in collectives if (pair := collective.sharding)]
    return tabulate(
        pairs,
        {
            Column("Collective", "code", "of the final module", of="instruction"): lambda row: (
                row[1].instruction
            ),
            Column("From", "sentence", before): lambda row: " · ".join(
                words_along(text, mesh) for text in _shardings_before(*row)
            ),
            Column("To", "sentence"): lambda row: (
                words_along(row[0].to, mesh) if row[0].to else "not known"
            ),
            Column("Sent per execution", "bytes", "per device; see Algorithm on Collectives"): (
                lambda row: row[1].wire_bytes
            ),
            Column("Modeled µs per execution", "float", "by link bandwidth; not measured"): (
                lambda row: None if row[1].time_us is None else round(row[1].time_us, 3)
            ),
            Column("op_name", "code"): lambda row: row[1].op_name,
            Column("Source"): lambda row: row[1].source,
            Column("Value", "code", "before SPMD partitioning"): lambda row: row[0].value,
            Column("Why", "text", "what the collective does with the value"): lambda row: (
                row[0].meaning
            ),
            Column("Executions", "int", "per module execution"): lambda row: row[1].executions,
            Column("Grade"): lambda row: row[0].grade,
            Column("Kind", "code", of="opcode"): lambda row: row[1].kind,
            Column("From, as written", "code"): lambda row: row[0].from_,
            Column("To, as written", "code"): lambda row: row[0].to or "",
        },
        sort=(3, "desc"),
    )


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
