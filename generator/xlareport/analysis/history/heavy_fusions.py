"""Which instructions of a module do heavy work, by themselves or as fusions that hold it."""

from xlareport.analysis.matching.sides.families import family_of
from xlareport.hlo.model import HloModule, Instruction
from xlareport.runtime.remembered import remembered


def is_heavy(module: HloModule, line: Instruction) -> bool:
    """Return whether an instruction is heavy, or a fusion with a heavy one, nested or not."""
    if line.opcode != "fusion":
        return family_of(line) is not None
    return any(name in _with_heavy(module) for _, name in line.called)


@remembered
def _with_heavy(module: HloModule) -> frozenset[str]:
    """Return the names of the computations with heavy instructions, through nested fusions."""
    known: set[str] = set()
    for computation in module.computations:  # XLA prints what is called before its callers
        for line in computation.instructions:
            called = {name for _, name in line.called} if line.opcode == "fusion" else set()
            if family_of(line) is not None or not known.isdisjoint(called):
                known.add(computation.name)
                break
    return frozenset(known)
