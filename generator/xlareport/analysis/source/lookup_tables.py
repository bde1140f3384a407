"""Arguments of which the program looks up rows, such as the tables of embeddings."""

from collections.abc import Iterator

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS, REARRANGEMENTS
from xlareport.hlo.value_readers import follow_readers
from xlareport.runtime.remembered import remembered

_WHOLE = MATRIX_PRODUCTS | {"custom-call", "sort"}
"""Opcodes of ops that need all of an operand that is sharded otherwise than they want it."""
_SHARDINGS = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.")
"""Beginnings of the targets of custom calls that only say how a value is sharded."""


@remembered  # findings and memory advice ask for those of the same input program
def find_lookup_tables(module: HloModule) -> frozenset[int]:
    """Return the numbers of arguments that gathers index and no matmul reads.

    `module` is the input program. Of a sharded table a gather sends the rows that it reads, and no
    device needs all of it. Element-wise readers, such as the optimizer, take their own part.
    """
    entry = module.entry
    if entry is None:
        return frozenset()
    return frozenset(
        number
        for number, parameter in enumerate(entry.parameters)
        if _is_table(module, entry, parameter)
    )


def _is_table(module: HloModule, entry: Computation, parameter: Instruction) -> bool:
    readers = [*follow_readers(module, entry, parameter, _is_move)]
    held = {(home.name, line.name) for home, line in readers}
    lookups = [*_lookups(readers, held)]
    is_whole = any(line.opcode in _WHOLE and not _is_move(line) for _, line in readers)
    return bool(lookups) and not is_whole


def _lookups(
    readers: list[tuple[Computation, Instruction]], held: set[tuple[str, str]]
) -> Iterator[Instruction]:
    """Yield the gathers whose operand, not whose indices, is one of the values that are held."""
    for home, line in readers:
        if line.opcode == "gather" and (home.name, line.operand_names[0]) in held:
            yield line


def _is_move(line: Instruction) -> bool:
    is_sharding = line.call_target.startswith(_SHARDINGS)
    return line.opcode in REARRANGEMENTS or line.opcode == "convert" or is_sharding
