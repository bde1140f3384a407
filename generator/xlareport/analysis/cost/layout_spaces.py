"""Memory spaces in layouts: the `S(n)` of shapes, by the backend's numbers."""

import re
from collections import Counter

from msgspec import Struct

from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import BOUNDARIES

_SPACE = re.compile(r"S\((\d{1,3})\)")


class LayoutSpace(Struct, frozen=True):
    """The values that layouts of the final module place in one memory space, by `S(n)`."""

    number: int
    values: int
    size: int
    """Bytes, of all values, whether they live at once or not."""


def space_of(layout: str) -> int | None:
    """Return the memory space that the text of an array's shape names; None without `S(n)`."""
    match = _SPACE.search(layout)
    return int(match[1]) if match else None


def sum_layout_spaces(module: HloModule) -> tuple[LayoutSpace, ...]:
    """Count the values outside of fusions by the memory space that their layout names."""
    counts: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for _, instruction in outside_fusions(module):
        for shape in instruction.shape.members if instruction.opcode not in BOUNDARIES else ():
            space = space_of(shape.text)
            if space is not None:
                counts[space] += 1
                sizes[space] += shape.byte_size or 0
    return tuple(LayoutSpace(number, counts[number], sizes[number]) for number in sorted(counts))
