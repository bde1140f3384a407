"""Whether two instructions of one computation compute the same."""

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.hlo.model import HloModule, Instruction

_MOST_COMPARED = 64
"""Pairs of instructions that are compared; beyond, two are not known to be equal."""
_OF_ITS_OWN = frozenset({"custom-call", "infeed", "outfeed", "parameter", "recv", "rng", "send"})
"""Opcodes whose results may differ although the lines are equal."""


def are_duplicates(module: HloModule, place: Place, other: Place) -> bool:
    """Return whether two instructions of one computation do the same to equal operands."""
    lines = module.find(*place), module.find(*other)
    if lines[0] is None or lines[1] is None or place.computation != other.computation:
        return False
    if lines[0].shape.text != lines[1].shape.text:
        return False
    forms = Forms()
    known = module.by_name[place.computation].by_name
    waiting = [(place.instruction, other.instruction)]
    seen = {*waiting}
    for names in waiting:  # it grows meanwhile: with their operands
        first, second = (known.get(name) for name in names)
        if first is None or second is None or not _do_the_same(forms, first, second):
            return False
        pairs = zip(first.operand_names, second.operand_names, strict=True)
        read = {pair for pair in pairs if pair[0] != pair[1]} - seen
        seen |= read
        waiting += read
        if len(seen) > _MOST_COMPARED:
            return False
    return True


def _do_the_same(forms: Forms, line: Instruction, other: Instruction) -> bool:
    """Return whether two instructions compute the same of equal operands."""
    elements = [[text.partition("#")[2] for text in both.operands] for both in (line, other)]
    return (
        line.opcode not in _OF_ITS_OWN
        and forms.of(line) == forms.of(other)
        and line.called == other.called
        and elements[0] == elements[1]
    )
