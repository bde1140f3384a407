"""Suggestions on the arguments of a module: donation, and sharding of what devices hold alike."""

from collections.abc import Iterator

from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.replicated_state import ReplicatedArguments
from xlareport.analysis.source.argument_names import name_parameters
from xlareport.runtime import units
from xlareport.runtime.english import first_few, listing

_NAMED = 2


def donation_action(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    """Yield bytes and a sentence on arguments that could be donated, if there are any."""
    could = [row for row in memory.donations if not row.donated and row.size]
    size = sum(row.size or 0 for row in could)
    if not size:
        return
    numbers = [row.parameter for row in could]
    names = list(name_parameters(memory.arguments, numbers))
    count = units.plural(len(could), "argument")
    if all(name.isdecimal() for name in names):
        what = f"{count} ({first_few(names, _NAMED)})"
    elif len(names) == 1:
        what = names[0]
    else:
        what = f"{first_few(names, _NAMED)}, {units.plural(len(could), 'array')},"
    yield (
        size,
        (
            f"{units.byte_size(size)} at most: donate {what} with donate_argnums, if the caller "
            f"does not reuse {'it: it has' if len(could) == 1 else 'them: each has'} the shape of "
            "an output."
        ),
    )


def replication_actions(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    """Yield bytes and sentences on state, parameters and weights, of which devices hold copies."""
    for group in memory.replicated_arguments:
        names = first_few([f"`{name}`" for name in group.names], _NAMED)
        yield (
            group.saved,
            (
                f"{units.byte_size(group.saved)} at most: shard {_KINDS[group.kind]} over "
                f"{_over(group)} of {names} ({units.plural(group.count, 'array')}). "
                f"{_PRICES[group.kind]}{_free(group)}{_tables(group)}"
            ),
        )


def _free(group: ReplicatedArguments) -> str:
    """Return a sentence on the arrays of which no use needs a gather; empty if there are none."""
    if not group.cut:
        return ""
    names = first_few([f"`{name}`" for name in group.cut], _NAMED)
    return (
        f" No all-gather is needed for {names}: each use takes the same part alone. In the "
        f"sharding of that part they save {units.byte_size(group.saved_of_cut)} of this without "
        "communication."
    )


def _tables(group: ReplicatedArguments) -> str:
    """Return a sentence on the arrays of which rows are looked up; empty if there are none."""
    names = first_few([f"`{name}`" for name in group.tables if name not in group.cut], _NAMED)
    if not names:
        return ""
    return (
        f" Only lookups and element-wise operations read {names}: sharded along rows or columns, "
        "no device gathers the table, and a lookup sends the rows that it reads."
    )


def _over(group: ReplicatedArguments) -> str:
    """Return words on the axes, and on what devices along them hold alike."""
    axes = listing([f"`{axis}`" for axis in group.axes])
    size = units.byte_size(group.size)
    if len(group.axes) == 1:
        return f"mesh axis {axes}, whose {group.devices} devices hold the same {size}"
    return f"mesh axes {axes}, along at least one of which devices hold the same {size}"


_KINDS = {
    "state": "the optimizer state",
    "parameters": "the parameters as well",
    "weights": "the weights",
}
_PRICES = {
    "state": (
        "Each device then updates a share of the parameters and gathers the others. Matched: names "
        "and dimensions are those of parameters, and neither the forward nor the backward pass "
        "reads it."
    ),
    "parameters": "Forward and backward pass then gather them before use.",
    "weights": (
        "An op that reads a whole array then needs an all-gather. (Matched: no gradients; these "
        "arrays are neither donated nor split along this axis, though others are.)"
    ),
}
