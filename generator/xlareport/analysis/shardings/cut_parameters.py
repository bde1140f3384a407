"""Parameters that each device holds whole, and of which each use takes the same part alone."""

from collections.abc import Iterable, Iterator

from xlareport.analysis.shardings.sharding_changes import ShardingChange
from xlareport.hlo.model import HloModule
from xlareport.hlo.shardings.written import parse_sharding


def find_cut_parameters(
    before: HloModule, changes: Iterable[ShardingChange]
) -> Iterator[tuple[int, int]]:
    """Yield the numbers of such parameters, each with the number of different parts.

    Sharded like their uses, they need no collective: no device receives what another one holds.
    """
    entry = before.entry
    if entry is None:
        return
    taken = {
        (change.instruction, operand): change.to_sharding
        for change in changes
        if change.computation == entry.name and change.received_bytes == 0 and _is_of_whole(change)
        for operand in change.operands
    }
    for number, parameter in enumerate(entry.parameters):
        users = entry.users.get(parameter.name, ())
        parts = {taken.get((user.name, parameter.name), "") for user in users}
        sharding = parse_sharding(parts.pop()) if len(parts) == 1 else None
        if sharding is not None and sharding.cuts > 1:
            yield number, sharding.cuts


def _is_of_whole(change: ShardingChange) -> bool:
    """Return whether an op takes a part of a whole array; the members of a tuple may differ."""
    former = parse_sharding(change.from_sharding)
    return change.opcode != "tuple" and former is not None and former.cuts == 1
