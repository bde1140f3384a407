"""How many updates scatters make, where a step changed it: the partitioner divides them.

The result of a scatter stays the same when it has fewer updates, so that its line may say nothing.
"""

from collections.abc import Iterator
from math import prod

from xlareport.analysis.history.same_lines import same_lines
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.remembered import remembered
from xlareport.runtime.whole_numbers import parse_whole_number

_SCATTER = "scatter"
_ARRAYS = 2
"""Operands and updates of a scatter: as many of each as it has results, around the indices."""


def scatters_of_other_updates(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Return the scatters, old and new, that make more or fewer updates now."""
    return same_lines(matching, _scatters, scattered_updates)


def scattered_updates(matching: Matching, before: Place, after: Place) -> str:
    """Return `makes 64 → 32 updates`; '' of what is no scatter or makes as many as before."""
    was, now = _count(matching.before, before), _count(matching.after, after)
    if was is None or now is None or was == now:
        return ""
    return f"makes {was:,} → {now:,} updates"


def _count(module: HloModule, place: Place) -> int | None:
    """Return how many places a scatter updates, as its indices say; None where not known."""
    line = module.find(*place)
    if line is None or line.opcode != _SCATTER:
        return None
    operands = module.by_name[place.computation].operands(line)
    indices = operands[len(operands) // _ARRAYS] if len(operands) % _ARRAYS else None
    vector = parse_whole_number(line.attributes.get("index_vector_dim", ""))
    if indices is None or vector is None:
        return None
    sizes = [size for number, size in enumerate(indices.shape.dimensions) if number != vector]
    known = [size for size in sizes if size is not None]
    return prod(known) if len(known) == len(sizes) else None


@remembered
def _scatters(computation: Computation) -> tuple[Instruction, ...]:
    return tuple(line for line in computation.instructions if line.opcode == _SCATTER)
