"""Whether two computations that instructions apply, such as reducers, do the same."""

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.forms import effective_attributes
from xlareport.hlo.model import Computation, Instruction

_MOST = 32
"""Instructions of a computation that are compared."""


def apply_the_same(matching: Matching, old: Instruction, new: Instruction) -> bool:
    """Return whether two lines apply computations of equal text, apart from names."""
    names = zip(old.called, new.called, strict=False)
    pairs = [
        (matching.before.by_name.get(ours), matching.after.by_name.get(theirs))
        for (_, ours), (_, theirs) in names
    ]
    return len(old.called) == len(new.called) and all(
        before is not None and after is not None and _are_equal(before, after)
        for before, after in pairs
    )


def _are_equal(old: Computation, new: Computation) -> bool:
    count = len(old.instructions)
    if count != len(new.instructions) or count > _MOST:
        return False
    numbers = [
        {line.name: number for number, line in enumerate(home.instructions)} for home in (old, new)
    ]
    return all(
        (ours.opcode, ours.shape.text, ours.argument if not ours.operands else "")
        == (theirs.opcode, theirs.shape.text, theirs.argument if not theirs.operands else "")
        and not ours.called
        and not theirs.called
        and effective_attributes(ours.attributes_text)
        == effective_attributes(theirs.attributes_text)
        and [numbers[0].get(name) for name in ours.operand_names]
        == [numbers[1].get(name) for name in theirs.operand_names]
        for ours, theirs in zip(old.instructions, new.instructions, strict=True)
    )
