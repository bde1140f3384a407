"""Lines that a step kept, of which more is to be told than they show."""

from collections.abc import Callable, Iterable, Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, Instruction

Lines = Callable[[Computation], Iterable[Instruction]]
"""Returns the lines of a computation of which something may be told."""
Words = Callable[[Matching, Place, Place], str]
"""Returns what is told of a line, from its places before and after; '' if nothing is."""


def same_lines(
    matching: Matching, lines_of: Lines, words_of: Words
) -> Iterator[tuple[Place, Place]]:
    """Yield the old and new places of lines of changed computations, of which something is told."""
    for computation in matching.after.computations:
        former = matching.computation_before(computation.name)
        if matching.before.by_name.get(former) is computation:
            continue
        for line in lines_of(computation):
            after = Place(computation.name, line.name)
            before = matching.partner_before(after)
            if before is not None and words_of(matching, before, after):
                yield before, after
