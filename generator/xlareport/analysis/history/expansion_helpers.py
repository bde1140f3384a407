"""Parts of expansions that nothing was before: constants, and indices by the device's number."""

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.constants import is_constant, is_of_device
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_LITERALS = REARRANGEMENTS | {"broadcast", "constant", "convert"}
"""Opcodes of constants and what only moves them: arithmetic on constants is work."""


def is_helper(matching: Matching, pairing: Pairing | None, place: Place) -> bool:
    """Return whether a place is a constant or an index that an expansion uses.

    The SPMD partitioner makes an index from the number of the device, for each of its expansions.
    Passes merge it with equal ones of others, which are no work of the expanded instruction.
    """
    if pairing is None or pairing.relation is not Relation.EXPANDED or place == pairing.after[0]:
        return False
    line = matching.after.find(*place)
    if line is not None and line.opcode in _LITERALS and is_constant(matching.after, place):
        return True
    own = is_of_device(matching.before, pairing.before[0])
    return (
        not own and not is_constant(matching.after, place) and is_of_device(matching.after, place)
    )
