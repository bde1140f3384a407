"""Pairs of elementwise operations on one value each, which are paired with two others."""

from collections.abc import Iterator

from crossing import elementwise_pairs

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, HloModule, Instruction

_PASSED = frozenset({"bitcast", "convert", "copy", "reshape", "transpose"})
_ELEMENT = "get-tuple-element"
_DEEPEST = 8


def value_failures(matching: Matching) -> Iterator[str]:
    """Yield the pairs whose only operands, behind moves and converts, are no pair.

    Each of them has a counterpart of its opcode in the computation of the other. A pass moves data
    and converts before an operation or behind it, and does not exchange the value for another. Of
    two that read one another, the operation has passed the second.
    """
    homes = _homes(matching.before), _homes(matching.after)
    for old, new in elementwise_pairs(matching):
        before, after = homes[0][old], homes[1][new]
        source, known = _source(old, before), _source(new, after)
        if source is None or known is None or old.name == new.name:
            continue
        now = matching.partner_after(Place(before.name, source.name))
        was = matching.partner_before(Place(after.name, known.name))
        if now is None or was is None or now == (after.name, known.name):
            continue
        if was == (before.name, source.name):  # a clone of it
            continue
        if not (_continues(source, now, after) and _continues(known, was, before)):
            continue
        if not (_reads(known, after, now.instruction) or _reads(source, before, was.instruction)):
            yield f"%{old.name} of %{source.name} is %{new.name} of %{known.name}, not of {now}"


def _continues(line: Instruction, place: Place, home: Computation) -> bool:
    """Return whether an instruction is one of its opcode in a computation."""
    other = home.by_name.get(place.instruction) if place.computation == home.name else None
    return other is not None and other.opcode == line.opcode


def _homes(module: HloModule) -> dict[Instruction, Computation]:
    return {line: computation for computation, line in module.placed}


def _source(line: Instruction, home: Computation) -> Instruction | None:
    """Return the only operand, behind moves and converts; None of several, and of an element."""
    names = [*line.operand_names]
    source = home.by_name.get(names[0]) if len(names) == 1 else None
    source = None if source is None else _behind(source, home)
    return None if source is None or source.opcode == _ELEMENT else source


def _behind(line: Instruction, home: Computation) -> Instruction:
    for _ in range(_DEEPEST):
        source = home.by_name.get(next(iter(line.operand_names), ""))
        if source is None or line.opcode not in _PASSED:
            break
        line = source
    return line


def _reads(line: Instruction, home: Computation, name: str) -> bool:
    read = (home.by_name[operand] for operand in line.operand_names if operand in home.by_name)
    return any(_behind(operand, home).name == name for operand in read)
