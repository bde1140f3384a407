"""What the branches of conditionals get, where a step changed its number of elements or shape.

The line of a conditional names the tuples, and stays the same when these hold something else.
"""

from collections.abc import Iterator

from xlareport.analysis.history.same_lines import same_lines
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import callees_of
from xlareport.analysis.steps.shape_changes import compare_shapes
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import Shape, without_layout
from xlareport.runtime import units
from xlareport.runtime.english import first_few
from xlareport.runtime.remembered import remembered

_CONDITIONAL = "conditional"
_MOST_BRANCHES = 4


def conditionals_given_otherwise(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Return the conditionals, old and new, of which a branch gets something of another shape."""
    return same_lines(matching, _conditionals, branch_operands)


def branch_operands(matching: Matching, before: Place, after: Place) -> str:
    """Return what the branches of a conditional get in another shape; '' if there is nothing."""
    old, new = matching.before.find(*before), matching.after.find(*after)
    if old is None or new is None or not old.opcode == new.opcode == _CONDITIONAL:
        return ""
    shapes = (
        _shapes(matching.before.by_name[before.computation], old),
        _shapes(matching.after.by_name[after.computation], new),
    )
    branches = callees_of(new)
    if not len(shapes[0]) == len(shapes[1]) == len(branches):
        return ""
    words = [
        f"%{branch} gets {change}"
        for branch, was, now in zip(branches, *shapes, strict=True)
        if (change := _change(was, now))
    ]
    return first_few(words, _MOST_BRANCHES)


def _change(was: Shape, now: Shape) -> str:
    """Return how many elements there are now, or how one differs; '' if only layouts differ."""
    counts = len(was.elements), len(now.elements)
    if counts[0] != counts[1]:
        return f"{units.plural(counts[1], 'element')} instead of {counts[0]}"
    if without_layout(was.text) == without_layout(now.text):
        return ""
    return next(map(str, compare_shapes(was, now).values()), "")


def _shapes(home: Computation, conditional: Instruction) -> list[Shape]:
    """Return the shapes of what the branches get; empty where one is not known."""
    given = home.operands(conditional)[1:]
    shapes = [line.shape for line in given if line is not None]
    return shapes if len(shapes) == len(given) else []


@remembered
def _conditionals(computation: Computation) -> tuple[Instruction, ...]:
    return tuple(line for line in computation.instructions if line.opcode == _CONDITIONAL)
