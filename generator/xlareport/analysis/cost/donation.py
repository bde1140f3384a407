"""Donated inputs, whose memory an output reuses, and inputs that could be donated."""

import re
from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.cost.tiling import allocated_size
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import Shape

_ALIAS = re.compile(r"\{([0-9, ]{0,100})\}: \((\d{1,9}), \{[0-9, ]{0,100}\}(?:, [a-z-]{1,20})?\)")
_DONOR = re.compile(r"\((\d{1,9}), \{([0-9, ]{0,100})\}\)")
ElementPath = tuple[int, ...]


class Alias(Struct, frozen=True):
    """An output that is written into the memory of an input."""

    output: ElementPath
    """The place in the output's tuple; empty for the whole."""
    parameter: int


class Donation(Struct, frozen=True):
    """The donated inputs of a module, from its header and entry computation."""

    aliases: tuple[Alias, ...]
    donors: tuple[tuple[int, ElementPath], ...]
    """(parameter, place in it) of inputs given away without a fixed output."""
    candidates: tuple[tuple[int, ElementPath], ...]
    """(parameter, output) of the same type, dimensions and layout, neither taken: the caller could
    donate the input if it does not need it afterwards."""


def find_donations(module: HloModule) -> Donation:
    """Read the aliases and donors from the header, and look for inputs that fit an output."""
    header = module.attributes
    aliases = tuple(
        Alias(_path(match[1]), int(match[2]))
        for match in _ALIAS.finditer(header.get("input_output_alias", ""))
    )
    donors = tuple(
        (int(match[1]), _path(match[2]))
        for match in _DONOR.finditer(header.get("buffer_donor", ""))
    )
    given = {alias.parameter for alias in aliases} | {parameter for parameter, _ in donors}
    taken = {alias.output for alias in aliases}
    return Donation(aliases, donors, _candidates(module, given, taken))


def _candidates(
    module: HloModule, given: set[int], taken: set[ElementPath]
) -> tuple[tuple[int, ElementPath], ...]:
    entry = module.entry
    if entry is None or entry.root is None:
        return ()
    free: dict[tuple[str, tuple[int | None, ...], str], list[ElementPath]] = {}
    for path, shape in _outputs(entry.root.shape):
        if path not in taken and shape.dimensions:
            free.setdefault(_comparable_shape(shape), []).append(path)
    candidates: list[tuple[int, ElementPath]] = []
    for number, parameter in enumerate(entry.parameters):
        fitting = free.get(_comparable_shape(parameter.shape), [])
        if number not in given and fitting:
            candidates.append((number, fitting.pop(0)))
    return tuple(candidates)


def _outputs(shape: Shape) -> list[tuple[ElementPath, Shape]]:
    if shape.element_type != "tuple":
        return [((), shape)]
    return [((number,), element) for number, element in enumerate(shape.elements)]


def _comparable_shape(shape: Shape) -> tuple[str, tuple[int | None, ...], str]:
    return shape.element_type, shape.dimensions, shape.layout


def _path(text: str) -> ElementPath:
    return tuple(int(part) for part in text.replace(",", " ").split())


class DonationRow(Struct, frozen=True):
    """An input and the output that is written over it, or could be."""

    parameter: int
    name: str
    size: int | None
    """Bytes of its buffer, with the padding of tiles; None if unknown."""
    output: tuple[int, ...] | None
    """The place in the output's tuple; None for an input given away without one."""
    donated: bool


def list_donations(module: HloModule) -> Iterator[DonationRow]:
    """Yield the aliased inputs, the donors, then those that could be donated."""
    donation, parameters = find_donations(module), module.parameters
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
