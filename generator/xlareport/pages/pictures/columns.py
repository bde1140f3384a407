"""What instructions look like in pictures, in columns: what many have in common stands once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures.boxes import attribute_words, family, shape_line
from xlareport.pictures.shade import Known, Shade, shade_of
from xlareport.storage.folding import fold_strings

_LONGEST_ARGUMENT = 12
_WITH_ARGUMENT = frozenset({"parameter", "constant", "get-tuple-element"})


@dataclass(slots=True)
class Interned:
    """Values by their numbers, each once, in the order of their first use."""

    values: dict[Any, int] = field(default_factory=dict)

    def number(self, value: Any) -> int:
        """Return the number of a value."""
        return self.values.setdefault(value, len(self.values))


@dataclass(frozen=True, slots=True)
class Seen:
    """An instruction with its module; `fused` where it stands in a fusion."""

    instruction: Instruction
    module: HloModule
    fused: bool = False


def columns(rows: Iterable[Seen], known: Known) -> Mapping[str, Any]:
    """Return names, looks, shapes and what else a box says or is coloured by.

    A shape comes with its elements and bytes, where these are known.
    """
    names: list[str] = []
    looks, shapes, shades = Interned(), Interned(), Interned()
    result: list[tuple[int, int, int]] = []
    arguments: list[str] = []
    for row in rows:
        instruction = row.instruction
        size = instruction.shape.element_count, instruction.shape.byte_size
        shade = shade_of(instruction, known)
        names.append(instruction.name)
        arguments.append(argument_words(instruction))
        result.append(
            (
                looks.number(look(row)),
                shapes.number((shape_line(instruction), *size)),
                shades.number(_shade(shade)),
            )
        )
    return {
        "names": fold_strings(names).listed(),
        "arguments": _arguments(arguments),
        "look": [number for number, _, _ in result],
        "shape": [number for _, number, _ in result],
        "shade": [number for _, _, number in result],
        "looks": [list(value) for value in looks.values],
        "shapes": [list(value) for value in shapes.values],
        "shades": [list(value) for value in shades.values],
    }


def _shade(shade: Shade) -> tuple[Any, ...]:
    """Return cost, sharding and scope, and the measured time only where there is one."""
    timed = () if shade.time is None else (short(shade.time),)
    return (short(shade.cost), shade.sharding, "\n".join(shade.scope), *timed)


def short(part: float | None) -> float | None:
    """Return a part of something with as many digits as anyone reads."""
    return None if part is None else float(f"{part:.3g}")


def look(row: Seen) -> tuple[str, str, str, str]:
    """Return opcode, the kind of a fusion, the colour, and the attribute that is worth a line."""
    instruction = row.instruction
    message = "".join(attribute_words(instruction))
    return (
        instruction.opcode,
        instruction.attributes.get("kind", ""),
        family(instruction, row.module, fused=row.fused),
        message,
    )


def _arguments(words: list[str]) -> list[Any]:
    """Return the words, and for each instruction which of them, from 1; 0 for none."""
    known = Interned()
    known.number("")
    numbers = list(map(known.number, words))
    return [fold_strings(list(known.values)).listed(), numbers]


def argument_words(instruction: Instruction) -> str:
    """Return the number of a parameter, a short constant, or which element is taken."""
    argument = instruction.argument or instruction.attributes.get("index", "")
    known = instruction.opcode in _WITH_ARGUMENT and len(argument) <= _LONGEST_ARGUMENT
    return argument if known else ""


def interned(values: Iterable[Any]) -> list[Any]:
    """Return the values, each once, and for each place which of them."""
    known = Interned()
    numbers = list(map(known.number, values))
    return [list(known.values), numbers]


def flat(rows: Iterable[Iterable[Any]]) -> list[Any]:
    """Return how long the rows are, and all that is in them."""
    kept = [list(row) for row in rows]
    return [list(map(len, kept)), list(chain(*kept))]
