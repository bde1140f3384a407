"""What computations that instructions apply, such as reducers, do, and whether two do the same."""

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.contents import Contents
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.values import UNKNOWN, Tokens
from xlareport.hlo.model import HloModule, Instruction

SUMS = "sums"
"""What adds up elements does."""
_MOST = 32
"""Instructions of a computation that are compared."""
_PRODUCTS = frozenset({"convolution", "dot"})
_AROUND = frozenset({"convert", "parameter", "tuple"})
"""Opcodes of a reducer beside what combines two values."""
_CHOOSING = frozenset(
    {"and", "compare", "constant", "maximum", "minimum", "or", "parameter", "select", "tuple"}
)
"""Opcodes of a reducer that rounds nothing: it gives one of two values."""


def reducing_opcode(module: HloModule, line: Instruction) -> str:
    """Return the opcode by which a reduction combines values; empty where several or none do."""
    reducer = module.callee(line, "to_apply")
    opcodes = {inner.opcode for inner in reducer.instructions} - _AROUND if reducer else set()
    return opcodes.pop() if len(opcodes) == 1 else ""


def name_reduction(module: HloModule, line: Instruction) -> str:
    """Return what a reduction or product does over elements: `sums`, `reduces by maximum`."""
    opcode = "add" if line.opcode in _PRODUCTS else reducing_opcode(module, line)
    if opcode == "add":
        return SUMS
    return f"reduces by {opcode}" if opcode else "reduces"


def chooses(module: HloModule, line: Instruction) -> bool:
    """Return whether a reduction only chooses values, such as a maximum, which is exact."""
    reducer = module.callee(line, "to_apply")
    return reducer is not None and all(inner.opcode in _CHOOSING for inner in reducer.instructions)


def apply_the_same(matching: Matching, old: Instruction, new: Instruction) -> bool:
    """Return whether two lines apply computations of equal value, whatever their names.

    Not of calls: a pass that gives each call a computation of its own did just that.
    """
    if old.opcode == "call" or len(old.called) != len(new.called):
        return False
    forms, tokens = Forms(), Tokens()
    before, after = (
        Contents(module, forms, tokens) for module in (matching.before, matching.after)
    )
    pairs = zip(old.called, new.called, strict=True)
    return all(
        _value_number(before, ours) == _value_number(after, theirs) is not None
        for (_, ours), (_, theirs) in pairs
    )


def _value_number(contents: Contents, name: str) -> int | None:
    """Return the value number of a small computation; None if it has none."""
    computation = contents.module.by_name.get(name)
    is_small = computation is not None and len(computation.instructions) <= _MOST
    value = contents.of(name) if is_small else UNKNOWN
    return None if value == UNKNOWN else value
