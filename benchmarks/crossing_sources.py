"""Pairs of elementwise operations that read, behind data movement, other inputs than before."""

from collections.abc import Iterator

from crossing import elementwise_pairs

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, HloModule, Instruction

_MOVES = frozenset({"bitcast", "copy", "reshape", "transpose"})
_INPUTS = frozenset({"get-tuple-element", "parameter"})
_DEEPEST = 8


def source_failures(matching: Matching) -> Iterator[str]:
    """Yield the pairs of which one reads an input that is paired with none the other reads.

    Inputs are parameters and elements of tuples. They are what a value is made of: a pass moves
    them, and exchanges none for another.
    """
    homes = _homes(matching.before), _homes(matching.after)
    for old, new in elementwise_pairs(matching):
        before, after = homes[0][old], homes[1][new]
        was = {matching.partner_after(Place(before.name, name)) for name in _inputs(old, before)}
        now = {Place(after.name, name) for name in _inputs(new, after)}
        if None in was or len(was) != len(now) or not was - now:
            continue
        lost, gained = was - now, now - was
        paired = all(matching.partner_before(place) is not None for place in gained)
        if paired and all(place and place.computation == after.name for place in lost):
            yield f"%{old.name} is %{new.name}, and reads {min(gained)}, not {min(map(str, lost))}"


def _homes(module: HloModule) -> dict[Instruction, Computation]:
    return {line: computation for computation, line in module.placed}


def _inputs(line: Instruction, home: Computation) -> Iterator[str]:
    """Yield the names of the inputs that are operands behind data movement."""
    for name in line.operand_names:
        source = home.by_name.get(name)
        for _ in range(_DEEPEST):
            if source is None or source.opcode not in _MOVES:
                break
            source = home.by_name.get(next(iter(source.operand_names), ""))
        if source is not None and source.opcode in _INPUTS:
            yield source.name
