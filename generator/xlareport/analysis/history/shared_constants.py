"""Which final instructions an instruction leads to, without constants that others share."""

from collections.abc import Sequence

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule


def without_constants(module: HloModule, places: Sequence[Place]) -> Sequence[Place]:
    """Return places without constants, unless all are.

    An operation that became several may leave an index that was folded. Passes merge it with equal
    constants, whose copies are all over the module and say nothing of the operation.
    """
    computing = [place for place in places if not _is_constant(module, place)]
    return computing or places


def _is_constant(module: HloModule, place: Place) -> bool:
    line = module.find(*place)
    return line is not None and line.opcode == "constant"
