"""The entry signature: arguments and results of a module."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.cost.donation import find_donations
from xlareport.hlo.model import HloModule, Instruction

_ALIAS = re.compile(r"\((\d{1,9}), ?\{[^(){}]*\}, ?(?:may|must)-alias\)")
_ONE_SHARDING = re.compile(r"\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}")
_DONOR = re.compile(r"\((\d{1,9}), ?\{[^(){}]*\}\)")


class Argument(Struct, frozen=True):
    """A parameter of the entry computation."""

    number: int
    instruction: str
    label: str
    """The framework's name (`params['w']`), else the name of the instruction."""
    shape: str
    bytes: int | None
    donated: bool
    """The caller gave its memory away: aliased with an output, or without one."""
    sharding: str
    layout: str = ""
    """The final layout without braces; empty if unknown."""
    aliased: bool = False
    """A result is written into its memory, by `input_output_alias`."""


class Result(Struct, frozen=True):
    """A result; a module that returns a tuple has one for each element."""

    shape: str
    bytes: int | None
    layout: str = ""
    """As that of an argument."""
    sharding: str = ""


class Signature(Struct, frozen=True):
    """The entry signature of a snapshot."""

    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    partitions: int
    """Devices over which the module was partitioned; shapes are per device where it is above 1."""
    reshaped_aliases: int = 0
    """Outputs in the memory of an argument of another shape."""

    @property
    def argument_bytes(self) -> int:
        """Total bytes of the arguments with known size."""
        return sum(argument.bytes or 0 for argument in self.arguments)

    @property
    def result_bytes(self) -> int:
        """Total bytes of the results with known size."""
        return sum(result.bytes or 0 for result in self.results)

    @property
    def returned_arguments(self) -> int:
        """Number of results that pair with an argument of exactly their shape, each with another.

        As in a training step.
        """
        waiting = [argument.shape for argument in self.arguments]
        number = 0
        for result in self.results:
            if result.shape in waiting:
                waiting.remove(result.shape)
                number += 1
        return number


def has_parts(before: Signature, after: Signature) -> bool:
    """Return whether a partitioner made shapes those of one device: some differ."""
    old, new = (
        [argument.shape for argument in side.arguments] + [result.shape for result in side.results]
        for side in (before, after)
    )
    return len(old) == len(new) and old != new


def read_signature(module: HloModule) -> Signature:
    """Read the entry signature of a snapshot; empty for a module without computations."""
    entry = module.entry
    if entry is None or entry.root is None:
        return Signature((), (), 1)
    aliased = _header_numbers(_ALIAS, module.attributes, "input_output_alias")
    donated = aliased | _header_numbers(_DONOR, module.attributes, "buffer_donor")
    arguments = tuple(
        _argument(number, parameter, donated, aliased)
        for number, parameter in enumerate(entry.parameters)
    )
    results = _results(entry.root)
    reshaped = _count_reshaped(module, arguments, results)
    return Signature(arguments, results, module.partition_count, reshaped)


def _count_reshaped(
    module: HloModule, arguments: Sequence[Argument], results: Sequence[Result]
) -> int:
    """Return how many outputs are in the memory of an argument of another shape."""
    number = 0
    for alias in find_donations(module).aliases:
        output = (*alias.output, 0)[0]
        if alias.parameter < len(arguments) and output < len(results):
            number += arguments[alias.parameter].shape != results[output].shape
    return number


def _header_numbers(
    pattern: re.Pattern[str], attributes: Mapping[str, str], name: str
) -> frozenset[int]:
    return frozenset(map(int, pattern.findall(attributes.get(name, ""))))


def _argument(
    number: int, instruction: Instruction, donated: frozenset[int], aliased: frozenset[int]
) -> Argument:
    return Argument(
        number=number,
        instruction=instruction.name,
        label=instruction.metadata.op_name or instruction.name,
        shape=instruction.shape.plain,
        bytes=instruction.shape.byte_size,
        donated=number in donated,
        sharding=instruction.attributes.get("sharding", ""),
        layout=instruction.shape.layout,
        aliased=number in aliased,
    )


def _results(root: Instruction) -> tuple[Result, ...]:
    shape = root.shape
    members = shape.elements if shape.element_type == "tuple" else (shape,)
    shardings = _each_sharding(root.attributes.get("sharding", ""), len(members))
    return tuple(
        Result(member.plain, member.byte_size, member.layout, sharding)
        for member, sharding in zip(members, shardings, strict=True)
    )


def _each_sharding(text: str, members: int) -> list[str]:
    """Return the sharding of each member of a result: two for `{{replicated}, {...}}`."""
    if not text.startswith("{{"):
        return [text] * members
    shardings = _ONE_SHARDING.findall(text[1:-1])
    return shardings if len(shardings) == members else [""] * members
