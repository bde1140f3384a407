"""Which instructions of a snapshot nothing needs, by the operands in its text alone."""

from collections import defaultdict

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule, Instruction

_EFFECTS = ("custom-call", "domain", "infeed", "outfeed", "recv", "rng", "send")
"""Beginnings of opcodes that are kept for more than their result."""


def is_dead(module: HloModule, place: Place) -> bool:
    """Return whether neither the result nor an effect of its computation reads an instruction."""
    home = module.by_name.get(place.computation)
    line = home.by_name.get(place.instruction) if home is not None else None
    if home is None or line is None:
        return False
    readers: dict[str, list[Instruction]] = defaultdict(list)
    for user in home.instructions:
        for name in user.operand_names:
            readers[name].append(user)
    seen, waiting = {line.name}, [line]
    while waiting:
        user = waiting.pop()
        if user is home.root or _may_have_effect(module, user):
            return False
        further = [reader for reader in readers[user.name] if reader.name not in seen]
        seen.update(reader.name for reader in further)
        waiting += further
    return True


def _may_have_effect(module: HloModule, line: Instruction) -> bool:
    callees = (module.by_name[name] for _, name in line.called if name in module.by_name)
    return line.opcode.startswith(_EFFECTS) or any(
        _may_have_effect(module, inner) for callee in callees for inner in callee.instructions
    )
