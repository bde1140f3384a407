"""Which instructions of a snapshot nothing needs, by the operands in its text alone."""

from collections import defaultdict

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule, Instruction

_PURE_CALLERS = frozenset(
    {"map", "reduce", "reduce-window", "scatter", "select-and-scatter", "sort"}
)
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
        if user is home.root or _may_have_effect(user):
            return False
        further = [reader for reader in readers[user.name] if reader.name not in seen]
        seen.update(reader.name for reader in further)
        waiting += further
    return True


def _may_have_effect(line: Instruction) -> bool:
    return line.opcode.startswith(_EFFECTS) or (
        bool(line.called) and line.opcode not in _PURE_CALLERS
    )
