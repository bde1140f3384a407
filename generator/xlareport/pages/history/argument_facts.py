"""What the panel of an argument shows: number, bytes, sharding, donation."""

from collections.abc import Iterator

from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.modules.signature import Argument, Signature
from xlareport.analysis.shardings.sharding_report import ShardedEntryValue, ShardingReport
from xlareport.runtime import units
from xlareport.runtime.english import capitalize


def argument_facts(
    signature: Signature, memory: MemoryReport | None, shardings: ShardingReport | None
) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """Yield facts by the name of the parameter: title, sentence, tab with more, grade.

    Bytes are those of the shape on each device, without the padding of tiles.
    """
    whole = {value.number: value for value in shardings.parameters} if shardings else {}
    donatable, outputs = _donatable(memory), _outputs(memory)
    count = len(signature.arguments)
    for argument in signature.arguments:
        name, value = argument.instruction, whole.get(argument.number)
        yield (
            name,
            ("Argument", _argument_words(argument, count, value), "memory" if memory else "", ""),
        )
        if value is not None and value.words:
            yield name, ("Sharding", _sharding(value), "shardings", "")
        donation = _donation(argument, donatable, outputs.get(argument.number))
        yield name, ("Donation", donation, "memory" if memory else "", "")


def _donatable(memory: MemoryReport | None) -> frozenset[int] | None:
    """Return the numbers of the arguments that fit an output; None if that is not known."""
    if memory is None:
        return None
    return frozenset(row.parameter for row in memory.donations if not row.donated)


def _outputs(memory: MemoryReport | None) -> dict[int, tuple[int, ...]]:
    """Return the outputs that are written over arguments, by the number of the argument."""
    rows = memory.donations if memory else ()
    return {row.parameter: row.output for row in rows if row.donated and row.output is not None}


def _argument_words(argument: Argument, count: int, whole: ShardedEntryValue | None) -> str:
    number = f"Number {argument.number:,} of {count:,}, counted from 0"
    if argument.bytes is None:
        return f"{number}; its size is not known."
    size = units.byte_size(argument.bytes)
    if whole is None or whole.bytes is None:
        return f"{number}; {size}."
    return f"{number}; {size} on each device, {units.byte_size(whole.bytes)} unpartitioned."


def _sharding(value: ShardedEntryValue) -> str:
    written = f", {value.sharding}" if value.sharding else ""
    return f"{capitalize(value.words)}{written}."


def _donation(
    argument: Argument, donatable: frozenset[int] | None, output: tuple[int, ...] | None
) -> str:
    if argument.aliased:
        which = f"output {'.'.join(map(str, output))}" if output else "an output"
        return f"Donated: {which} is written into its buffer (input_output_alias)."
    if argument.donated:
        return "Donated, without an output in its buffer (buffer_donor)."
    if donatable is None:
        return "Not donated."
    if argument.number in donatable:
        return "Not donated. An output has its shape and layout, so it could be."
    return "Not donated. No output without an alias has its shape and layout."
