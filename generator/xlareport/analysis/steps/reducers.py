"""Whether two computations that instructions apply, such as reducers, do the same."""

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.contents import Contents
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.values import UNKNOWN, Tokens
from xlareport.hlo.model import Instruction

_MOST = 32
"""Instructions of a computation that are compared."""


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
