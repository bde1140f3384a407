"""Donated inputs without an alias.

The caller donated inputs, but no output is aliased with them. The usual reason is that the new
value has another type or shape. Those of which only the sharding differs have a finding of their
own.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.tiling import allocated_size
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, join_names
from xlareport.analysis.findings.resharded_state import list_resharded, list_unused
from xlareport.analysis.source.argument_names import name_arguments
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def unused_donations(case: Case) -> Iterator[Finding]:
    """Report donated inputs whose memory no output takes over, large ones together."""
    entry, left = case.module.entry, list_unused(case.module)
    resharded = {donated.name for donated, _ in list_resharded(case)}
    left = [donated for donated in left if donated.name not in resharded]
    size = sum(allocated_size(instruction.shape) or 0 for instruction in left)
    if entry is None or size < LEAST_BYTES:
        return
    labels = name_arguments(case.module)
    yield Finding(
        title="Donated inputs without an alias",
        places=tuple((entry.name, instruction.name) for instruction in left),
        evidence=(
            f"{units.plural(len(left), 'donated input')} ({units.byte_size(size)}) without an "
            f"aliased output: {join_names(labels.get(line.name, line.name) for line in left)}. No "
            "output has the same type, dimensions and layout, or it aliases another input."
        ),
        suggestion=(
            "Compare shapes and types of the donated inputs with the outputs; a cast or another "
            "sharding of the new value (out_shardings) prevents aliasing."
        ),
        grade="exact",
        weight=case.time_of_bytes(size),
        bytes=size,
    )
