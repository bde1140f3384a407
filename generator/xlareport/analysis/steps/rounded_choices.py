"""Operations that choose a value or its sign: rounding before them is the same as after them.

So do reductions by such operations, over elements or over devices.

`convert(maximum(a, b))` and `maximum(convert(a), convert(b))` are equal bit for bit, as rounding
keeps the order of values.
"""

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.arithmetic import narrows
from xlareport.analysis.steps.reducers import chooses
from xlareport.hlo.model import Computation, HloModule, Instruction

_CHOICES = frozenset({"abs", "clamp", "maximum", "minimum", "negate"})
_REDUCTIONS = frozenset({"all-reduce", "reduce", "reduce-scatter", "reduce-window"})
EXACT = frozenset({"0", "-0", "inf", "-inf"})
"""Literals that every element type of floats with infinities has."""


def is_alike_in_types(
    old: Instruction,
    new: Instruction,
    homes: tuple[Computation | None, Computation | None],
    modules: tuple[HloModule, HloModule],
) -> bool:
    """Return whether a choice or constant of another type has the same values in the end.

    All that reads the wider choice rounds it to the narrower type, or it chooses from values of
    that type. `homes` are the computations of both, in their modules.
    """
    if old.opcode == new.opcode == "constant":
        return old.argument == new.argument and old.argument in EXACT
    if old.opcode != new.opcode or not all(map(_is_choice, modules, (old, new))):
        return False
    types = old.shape.element_type, new.shape.element_type
    wide, home, narrow = (old, homes[0], types[1]) if narrows(*types) else (new, homes[1], types[0])
    if home is None or not narrows(wide.shape.element_type, narrow):
        return False
    return _is_rounded(wide, home, narrow) or _is_upcast(wide, home, narrow)


def _is_choice(module: HloModule, line: Instruction) -> bool:
    reduces = line.opcode in _REDUCTIONS and chooses(module, line)
    return line.opcode in _CHOICES or reduces


def is_choice_of(place: Place, narrow: str, matching: Matching, *, is_new: bool) -> bool:
    """Return whether a choice has a counterpart of a type, to which a convert of it rounds."""
    here, there = (matching.after, matching.before) if is_new else (matching.before, matching.after)
    partner = (matching.partner_before if is_new else matching.partner_after)(place)
    line, other = here.find(*place), there.find(*partner) if partner else None
    if line is None or other is None or line.opcode != other.opcode:
        return False
    return line.opcode in _CHOICES and other.shape.element_type == narrow


def _is_rounded(wide: Instruction, home: Computation, narrow: str) -> bool:
    users = home.users.get(wide.name, ())
    return not wide.is_root and all(_converts(user, narrow) for user in users)


def _converts(line: Instruction, narrow: str) -> bool:
    return line.opcode == "convert" and line.shape.element_type == narrow


def _is_upcast(wide: Instruction, home: Computation, narrow: str) -> bool:
    operands = home.operands(wide)
    return all(operand is not None and _fits_type(operand, home, narrow) for operand in operands)


def _fits_type(line: Instruction, home: Computation, narrow: str) -> bool:
    """Return whether the narrower type has all values of an instruction."""
    sources = home.operands(line)
    if line.opcode == "broadcast":
        return all(source is not None and _fits_type(source, home, narrow) for source in sources)
    if line.opcode == "convert":
        return all(source is not None and source.shape.element_type == narrow for source in sources)
    return line.opcode == "constant" and line.argument in EXACT
