"""The element types of what matmuls and collectives read, where a step changed them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from xlareport.analysis.history.same_lines import same_lines
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.families import family_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.english import first_few
from xlareport.runtime.remembered import remembered

_PRODUCT = "product"
_TYPED = frozenset({"collective", _PRODUCT})
"""Families whose operands may have another element type than the result."""
_FACTORS = 2
_MOST_NAMES = 4


def retyped_operands(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Return the matmuls and collectives, old and new, whose operands have other element types now.

    The line of one stays the same when only the type of an operand changes.
    """
    return same_lines(matching, _typed_lines, operand_types)


def operand_types(matching: Matching, before: Place, after: Place) -> str:
    """Return the types of what a matmul or collective reads; '' if equal.

    As `operands f32, f32 → bf16, f32`, and which converts were folded into it.
    """
    old = _operands(matching.before, before)
    new = _operands(matching.after, after)
    types = [[line.shape.element_type for line in lines] for lines in (old, new)]
    if len(old) != len(new) or types[0] == types[1] or not all((*types[0], *types[1])):
        return ""
    folded = [
        f"%{line.name}"
        for line, read in zip(old, new, strict=True)
        if _is_convert_of(matching, before.computation, line, Place(after.computation, read.name))
    ]
    change = f"operands {_listed(types[0])} → {_listed(types[1])}"
    if not folded:
        return change
    verb = "was" if len(folded) == 1 else "were"
    return f"{change}; {first_few(folded, _MOST_NAMES)} {verb} folded into it"


def _listed(types: Sequence[str]) -> str:
    """Return the types of two operands, or how many operands of each type there are of more."""
    if len(types) <= _FACTORS:
        return ", ".join(types)
    return ", ".join(f"{count} {name}" for name, count in Counter(types).items())


def _is_convert_of(matching: Matching, home: str, line: Instruction, read: Place) -> bool:
    """Return whether a former operand is a convert of what is read in its place."""
    source = next(iter(line.operand_names), "")
    return line.opcode == "convert" and matching.partner_after(Place(home, source)) == read


def _operands(module: HloModule, place: Place) -> list[Instruction]:
    """Return the factors of a matmul or the operands of a collective; empty of anything else.

    Also where one is a tuple, which has no element type of its own.
    """
    line, home = module.find(*place), module.by_name.get(place.computation)
    family = None if line is None else family_of(line)
    if line is None or home is None or family not in _TYPED:
        return []
    names = [*line.operand_names]
    if family == _PRODUCT:
        names = names[:_FACTORS] if len(names) >= _FACTORS else []
    lines = [home.by_name[name] for name in names if name in home.by_name]
    return [] if any(read.shape.elements for read in lines) else lines


@remembered
def _typed_lines(computation: Computation) -> tuple[Instruction, ...]:
    return tuple(line for line in computation.instructions if family_of(line) in _TYPED)
