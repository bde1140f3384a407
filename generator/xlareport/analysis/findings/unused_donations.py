"""Donated inputs without an alias.

The caller donated inputs, but no output is aliased with them. The usual reason is that the new
value has another type or shape.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.tiling import allocated_size
from xlareport.analysis.findings.finding import MEBIBYTE, MOST_PLACES, Case, Finding, join_names
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def unused_donations(case: Case) -> Iterator[Finding]:
    """Report donated inputs whose memory no output takes over, large ones together."""
    entry, given = case.module.entry, find_donations(case.module)
    if entry is None:
        return
    used = {alias.parameter for alias in given.aliases}
    numbers = dict.fromkeys(number for number, _ in given.donors)
    left = [
        entry.parameters[number]
        for number in numbers
        if number not in used and number < len(entry.parameters)
    ]
    size = sum(allocated_size(instruction.shape) or 0 for instruction in left)
    if size < LEAST_BYTES:
        return
    yield Finding(
        rule="unused-donations",
        title="Donated inputs without an alias",
        places=tuple((entry.name, instruction.name) for instruction in left[:MOST_PLACES]),
        occurrences=len(left),
        evidence=(
            f"{units.plural(len(left), 'donated input')} ({units.byte_size(size)}) without an "
            f"aliased output: {join_names(instruction.name for instruction in left)}. No output "
            "has the same type, dimensions and layout, or it aliases another input."
        ),
        suggestion=(
            "Compare shapes and types of the donated inputs with the outputs; a cast or another "
            "sharding of the new value prevents aliasing."
        ),
        grade="exact",
        weight=case.time_of_bytes(size),
        bytes=size,
    )
