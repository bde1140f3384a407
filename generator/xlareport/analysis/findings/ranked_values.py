"""Values that are put in order, by a sort, a top-k or an argmax: rounding changes their order."""

from itertools import chain

from xlareport.analysis.collectives.find import Collective
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.hlo.value_readers import follow_readers
from xlareport.knowledge.opcodes import opcode_work

_ORDERING = frozenset({"sort", "topk"})
_ORDERING_CALLS = ("TopK", "Sort")
"""Parts of the targets of library calls."""
_MOVES = REARRANGEMENTS | {
    *("all-gather", "all-gather-done", "all-gather-start", "all-to-all", "broadcast"),
    *("collective-permute", "collective-permute-done", "collective-permute-start"),
    *("concatenate", "copy-done", "copy-start", "dynamic-slice", "pad", "slice"),
}
"""Opcodes whose result consists of elements of an operand."""


def are_ranked(module: HloModule, home: Computation, value: Instruction) -> bool:
    """Return whether a sort, a top-k or an argmax makes a value, or reads it or what is computed.

    What is computed of each element by itself, as far as it goes.
    """
    fused = module.callees(value) if value.opcode == "fusion" else ()
    inside = (line for computation in fused for line in computation.instructions)
    readers = (line for _, line in follow_readers(module, home, value, _is_of_each))
    return any(map(_is_ordering, chain(inside, readers)))


def are_ranked_after(module: HloModule, collective: Collective) -> bool:
    """Return whether the results of a collective are put in order."""
    home = module.by_name[collective.computation]
    return are_ranked(module, home, home.by_name[collective.done or collective.instruction])


def _is_of_each(line: Instruction) -> bool:
    """Return whether each element of a result is computed of one element of an operand."""
    return line.opcode in _MOVES or line.opcode in opcode_work().by_element


def _is_ordering(line: Instruction) -> bool:
    is_argmax = line.opcode == "reduce" and len(line.shape.elements) > 1
    is_call = any(part in line.call_target for part in _ORDERING_CALLS)
    return line.opcode in _ORDERING or is_argmax or is_call
