"""What instructions look like in pictures, in columns: what many have in common stands once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures.boxes import attribute_words, family, shape_line
from xlareport.pictures.shade import Known, Shade, shade_of
from xlareport.storage.folding import folded

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
    found: list[tuple[int, int, int]] = []
    arguments: list[str] = []
    for row in rows:
        one = row.instruction
        size = one.shape.element_count, one.shape.byte_size
        shade = shade_of(one, known)
        names.append(one.name)
        arguments.append(argument_words(one))
        found.append(
            (
                looks.number(look(row)),
                shapes.number((shape_line(one), *size)),
                shades.number(_shade(shade)),
            )
        )
    return {
        "names": folded(names).listed(),
        "arguments": _arguments(arguments),
        "look": [one for one, _, _ in found],
        "shape": [one for _, one, _ in found],
        "shade": [one for _, _, one in found],
        "looks": [list(one) for one in looks.values],
        "shapes": [list(one) for one in shapes.values],
        "shades": [list(one) for one in shades.values],
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
    one = row.instruction
    said = "".join(attribute_words(one))
    return (
        one.opcode,
        one.attributes.get("kind", ""),
        family(one, row.module, fused=row.fused),
        said,
    )


def _arguments(words: list[str]) -> list[Any]:
    """Return the words, and for each instruction which of them, from 1; 0 for none."""
    known = Interned()
    known.number("")
    numbers = list(map(known.number, words))
    return [folded(list(known.values)).listed(), numbers]


def argument_words(one: Instruction) -> str:
    """Return the number of a parameter, a short constant, or which element is taken."""
    argument = one.argument or one.attributes.get("index", "")
    known = one.opcode in _WITH_ARGUMENT and len(argument) <= _LONGEST_ARGUMENT
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
