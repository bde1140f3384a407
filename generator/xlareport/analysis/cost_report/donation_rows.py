"""Inputs that are written over by outputs, or could be, with their names and bytes."""

from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.cost.donation import Donation
from xlareport.analysis.cost.tiling import allocated_size
from xlareport.hlo.model import HloModule


class DonationRow(Struct, frozen=True):
    """An input and the output that is written over it, or could be."""

    parameter: int
    name: str
    size: int | None
    """Bytes of its buffer, with the padding of tiles; None if unknown."""
    output: tuple[int, ...] | None
    """The place in the output's tuple; None for an input given away without one."""
    donated: bool


def list_donations(donation: Donation, module: HloModule) -> Iterator[DonationRow]:
    """Yield the aliased inputs, the donors, then those that could be donated."""
    parameters = module.entry.parameters if module.entry else ()
    rows: list[tuple[int, tuple[int, ...] | None, bool]] = [
        *((alias.parameter, alias.output, True) for alias in donation.aliases),
        *((parameter, None, True) for parameter, _ in donation.donors),
        *((parameter, output, False) for parameter, output in donation.candidates),
    ]
    for number, output, donated in rows:
        if number < len(parameters):
            instruction = parameters[number]
            name = instruction.metadata.op_name or instruction.name
            yield DonationRow(number, name, allocated_size(instruction.shape), output, donated)
