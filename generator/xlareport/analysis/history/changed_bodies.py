"""What heavy work loops, conditionals, calls and fusions run otherwise, with the same line.

The body of a loop lost heavy work or got some; the matmul of a fusion reads its operands in the
other order.
"""

from collections.abc import Collection, Iterator

from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import DoneBy
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import callees_of, holders_of, homes_of
from xlareport.analysis.matching.sides.families import family_of, is_heavy_at
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.operands import compare_operands
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import CONTROL_FLOW, DENSE_PRODUCTS
from xlareport.runtime.english import first_few
from xlareport.runtime.remembered import remembered

_MOST_NAMES = 4
_NOT_KNOWN = frozenset({ChangeCause.UNCALLED, ChangeCause.UNTRACED})
_HOLDERS = CONTROL_FLOW | {"fusion"}


def holders_of_changed_bodies(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Yield what calls a computation, old and new, that has other heavy work than it had."""
    before, after = matching.before, matching.after
    for pairing in matching.pairings:
        if _is_one_sided(pairing) or _is_moved(matching, pairing):
            for module, places in ((before, pairing.before), (after, pairing.after)):
                if places and is_heavy_at(module, places[0]):
                    yield from _holder(matching, places[0], CONTROL_FLOW, is_old=module is before)
        elif pairing.after and _is_swapped(matching, pairing.after[0]):
            yield from _holder(matching, pairing.after[0], {"fusion"}, is_old=False)


def changed_body(matching: Matching, before: Place, after: Place) -> str:
    """Return which heavy work what is called lost, got, or does otherwise; '' if none.

    The line of a loop stays the same, apart from names, when its body loses an all-reduce.
    """
    old, new = matching.before.find(*before), matching.after.find(*after)
    if old is None or new is None or not {old.opcode, new.opcode} <= _HOLDERS:
        return ""
    if new.opcode == "fusion":
        sides = [("has the operands swapped of", [*_swapped(matching, new)])]
    else:
        sides = [
            *_one_sided(matching, old, after.computation, is_old=True),
            *_one_sided(matching, new, before.computation, is_old=False),
        ]
    parts = [f"{words} {first_few(names, _MOST_NAMES)}" for words, names in sides if names]
    return "; ".join(parts)


def _one_sided(
    matching: Matching, holder: Instruction, outside: str, *, is_old: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield the heavy instructions of a body that only it has, and those that others have outside.

    Of an old body, what was removed and what is outside now; of a new one, what is new and what was
    outside.
    """
    module = matching.before if is_old else matching.after
    pairing_of = matching.pairing_before if is_old else matching.pairing_after
    partner_of = matching.partner_after if is_old else matching.partner_before
    alone, crossing = list[str](), list[str]()
    for place in _heavy_of(module, holder):
        pairing, partner = pairing_of(place), partner_of(place)
        if partner is not None and partner.computation == outside:
            crossing.append(f"%{place.instruction}")
        elif pairing is not None and _is_one_sided(pairing):
            alone.append(f"%{place.instruction}")
    yield "its body lost" if is_old else "its body has the new", alone
    yield "moved out of its body:" if is_old else "moved into its body:", crossing


def _swapped(matching: Matching, fusion: Instruction) -> Iterator[str]:
    """Yield the products in a fusion that read their operands in the other order."""
    for place in _heavy_of(matching.after, fusion):
        if matching.pairing_after(place) is not None and _is_swapped(matching, place):
            yield f"%{place.instruction}"


def _is_swapped(matching: Matching, after: Place) -> bool:
    """Return whether a matmul or a convolution reads its operands in the other order."""
    new = matching.after.find(*after)
    if new is None or new.opcode not in DENSE_PRODUCTS:
        return False
    before = matching.partner_before(after)
    old = None if before is None else matching.before.find(*before)
    if before is None or old is None or old.opcode != new.opcode:
        return False
    return Kind.TURNED in compare_operands(matching, (before, old), (after, new))


def _heavy_of(module: HloModule, holder: Instruction) -> Iterator[Place]:
    for name in callees_of(holder):
        home = module.by_name.get(name)
        for line in () if home is None else _heavy_lines(home):
            yield Place(name, line.name)


@remembered
def _heavy_lines(computation: Computation) -> tuple[Instruction, ...]:
    return tuple(line for line in computation.instructions if family_of(line) is not None)


def _is_one_sided(pairing: Pairing) -> bool:
    """Return whether an instruction is known to be gone or new, and no other does its work."""
    if pairing.relation not in {Relation.ADDED, Relation.REMOVED}:
        return False
    return pairing.cause not in _NOT_KNOWN and not isinstance(pairing.reason, DoneBy)


def _is_moved(matching: Matching, pairing: Pairing) -> bool:
    """Return whether the first pair is in computations that do not continue each other."""
    if pairing.relation is not Relation.SAME:
        return False
    home = pairing.before[0].computation
    return matching.computations.get(home, home) != pairing.after[0].computation


def _holder(
    matching: Matching, place: Place, opcodes: Collection[str], *, is_old: bool
) -> Iterator[tuple[Place, Place]]:
    """Yield what calls the computation of a place, with its counterpart; nothing without one."""
    module = matching.before if is_old else matching.after
    holder = holders_of(module).get(place.computation)
    if holder is None or holder.opcode not in opcodes:
        return
    here = Place(homes_of(module)[place.computation], holder.name)
    there = matching.partner_after(here) if is_old else matching.partner_before(here)
    if there is not None:
        yield (here, there) if is_old else (there, here)
