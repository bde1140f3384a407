"""The values by which boxes can be colored, besides the kind of their opcode."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from xlareport.analysis.source.scopes import split_path
from xlareport.hlo.model import Instruction
from xlareport.runtime.grouping import common_prefix

_MOST_LEVELS = 12
_DIGITS = re.compile(r"\d+")


def scopes_of(instruction: Instruction) -> tuple[str, ...]:
    """Return the scopes around an instruction, outermost first: `("jvp(GPT2)", "h_4")`.

    The last word of an `op_name` is the operation and the first, `jit(f)`, the program.
    """
    return _scopes(instruction.metadata.op_name)


@lru_cache(maxsize=1 << 16)
def _scopes(op_name: str) -> tuple[str, ...]:
    words = split_path(op_name)[:-1]
    while words and words[0].startswith(("jit(", "pjit(", "xla_computation(")):
        words = words[1:]
    return tuple(words[:_MOST_LEVELS])


def stem(title: str) -> str:
    """Return a title without its numbers: `h_4` and `h_11` have the stem `h_#`."""
    return _DIGITS.sub("#", title)


BoxShares = Mapping[str, float]
"""Parts that instructions have in the time of their module, by their names."""


class ColorData(Struct, frozen=True):
    """Cost and time of the instructions of a module."""

    cost: BoxShares = field(default_factory=dict)
    """Of the estimated time."""
    time: BoxShares = field(default_factory=dict)
    """Share of the measured time of all runs, including nested events; only if it ran."""


NO_COLOR_DATA: ColorData = ColorData()


class Shade(NamedTuple):
    """The values of a box for color modes; empty for a box without instructions."""

    cost: float | None = None
    """The part, 0 to 1, of the estimated time of the module."""
    memory: int | None = None
    """Bytes of the result, of several instructions together."""
    sharding: str = ""
    """As written; `several` where members of a group differ, empty without one."""
    scope: tuple[str, ...] = ()
    """The framework's scope, outermost first; for several instructions, the common part."""
    time: float | None = None
    """The part, 0 to 1, of the measured time of all runs; more where threads overlap."""


UNKNOWN = Shade()
SEVERAL = "several"


def shade_of(instruction: Instruction, known: ColorData) -> Shade:
    """Return the color values of an instruction."""
    sharding = (
        instruction.attributes.get("sharding", "")
        if "sharding" in instruction.attributes_text
        else ""
    )
    return Shade(
        known.cost.get(instruction.name),
        instruction.shape.byte_size,
        sharding,
        scopes_of(instruction),
        known.time.get(instruction.name),
    )


def shade_of_group(members: Iterable[Instruction], known: ColorData) -> Shade:
    """Return the color values of instructions that are drawn as one box."""
    shades = [shade_of(member, known) for member in members]
    costs = [shade.cost for shade in shades if shade.cost is not None]
    sizes = [shade.memory for shade in shades if shade.memory is not None]
    times = [shade.time for shade in shades if shade.time is not None]
    shardings = {shade.sharding for shade in shades if shade.sharding}
    return Shade(
        sum(costs) if costs else None,
        sum(sizes) if sizes else None,
        next(iter(shardings), "") if len(shardings) < 2 else SEVERAL,
        common_prefix([shade.scope for shade in shades if shade.scope]),
        sum(times) if times else None,
    )
