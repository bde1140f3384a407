"""Heavy instructions that a step inserted before another heavy one: a sort before a scatter."""

from collections.abc import Iterator
from itertools import islice

from xlareport.analysis.history.heavy_fusions import is_heavy
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.families import family_of
from xlareport.hlo.model import Instruction
from xlareport.runtime.english import first_few
from xlareport.runtime.graphs import nearest_first

_MOST_NAMES = 4
_MOST_READ = 64
"""Instructions behind a reader that are looked at."""


def inserted_before(matching: Matching, after: Place) -> str:
    """Return `reads the new %sort` of heavy work that reads new heavy work; '' of any other."""
    line = matching.after.find(*after)
    if line is None or not is_heavy(matching.after, line):
        return ""
    names = [f"%{name}" for name in dict.fromkeys(_new_heavy(matching, after.computation, line))]
    return f"reads the new {first_few(names, _MOST_NAMES)}" if names else ""


def _new_heavy(matching: Matching, home: str, reader: Instruction) -> Iterator[str]:
    """Yield the names of the nearest new heavy instructions behind what a reader reads.

    What stood between was added as well: behind anything else, the reader reads what it did. New
    library calls take the place of others, and new custom calls give memory.
    """
    lines = matching.after.by_name[home].by_name

    def operands(name: str) -> Iterator[str]:
        line = lines.get(name)
        if line is not None and _is_new(matching, Place(home, name)) and family_of(line) is None:
            yield from line.operand_names

    for name in islice(nearest_first(reader.operand_names, operands), _MOST_READ):
        line = lines.get(name)
        known = line is not None and line.opcode != "custom-call" and family_of(line)
        if known and _is_new(matching, Place(home, name)):
            yield name


def _is_new(matching: Matching, place: Place) -> bool:
    pairing = matching.pairing_after(place)
    return pairing is not None and pairing.relation is Relation.ADDED and pairing.cause is None
