"""Inputs that the caller gave away and that no output could use."""

from collections.abc import Iterator

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.findings.finding import MEBIBYTE, MOST_PLACES, Case, Finding, listed
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
    size = sum(instruction.shape.byte_size or 0 for instruction in left)
    if size < LEAST_BYTES:
        return
    yield Finding(
        rule="unused-donations",
        title="Donated inputs that no output can use",
        places=tuple((entry.name, instruction.name) for instruction in left[:MOST_PLACES]),
        evidence=(
            f"{units.plural(len(left), 'input')} of {units.byte_size(size)} may be overwritten "
            f"({listed(instruction.name for instruction in left)}), but no output was given their "
            "memory: none "
            "has the same type, dimensions and layout, or others took it."
        ),
        suggestion=(
            "Compare the shapes and types of the donated values with those that are returned; a "
            "cast or another sharding of the new value keeps the old one's memory from being used."
        ),
        grade="exact",
        weight=case.time_of_bytes(size),
    )
