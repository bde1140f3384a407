"""Loops, conditionals and calls whose bodies lost heavy work in a step, or got new heavy work."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import DoneBy
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import callees_of, holders_of, homes_of
from xlareport.analysis.matching.sides.families import family_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import CONTROL_FLOW
from xlareport.runtime.english import first_few
from xlareport.runtime.remembered import remembered

_MOST_NAMES = 4
_NOT_KNOWN = frozenset({ChangeCause.UNCALLED, ChangeCause.UNTRACED})


def holders_of_changed_bodies(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Yield the loops, conditionals and calls, old and new, whose bodies have other heavy work."""
    before, after = matching.before, matching.after
    for pairing in matching.pairings:
        if not _is_one_sided(pairing) and not _is_moved(matching, pairing):
            continue
        for module, places in ((before, pairing.before), (after, pairing.after)):
            if places and _is_heavy(module, places[0]):
                yield from _holder(matching, places[0], is_old=module is before)


def changed_body(matching: Matching, before: Place, after: Place) -> str:
    """Return which heavy work a loop, conditional or call lost or got; '' of any other.

    Its line stays the same, apart from names, when its body loses an all-reduce.
    """
    old, new = matching.before.find(*before), matching.after.find(*after)
    if old is None or new is None or not {old.opcode, new.opcode} <= CONTROL_FLOW:
        return ""
    sides: list[tuple[str, list[str]]] = [
        ("its body lost", [*_gone(matching, old, after.computation)]),
        ("its body has the new", [*_new(matching, new, before.computation)]),
    ]
    parts = [f"{words} {first_few(names, _MOST_NAMES)}" for words, names in sides if names]
    return "; ".join(parts)


def _gone(matching: Matching, holder: Instruction, outside: str) -> Iterator[str]:
    """Yield the heavy instructions of a body that were removed, or are outside of it now."""
    for place in _heavy_of(matching.before, holder):
        pairing = matching.pairing_before(place)
        if pairing is None:
            continue
        partner = matching.partner_after(place)
        if partner is not None and partner.computation == outside:
            yield f"%{place.instruction}, which is outside now"
        elif _is_one_sided(pairing):
            yield f"%{place.instruction}"


def _new(matching: Matching, holder: Instruction, outside: str) -> Iterator[str]:
    """Yield the heavy instructions of a body that were added, or were outside of it before."""
    for place in _heavy_of(matching.after, holder):
        pairing = matching.pairing_after(place)
        former = None if pairing is None else matching.partner_before(place)
        if former is not None and former.computation == outside:
            yield f"%{place.instruction}, which was outside before"
        elif pairing is not None and _is_one_sided(pairing):
            yield f"%{place.instruction}"


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


def _is_heavy(module: HloModule, place: Place) -> bool:
    line = module.find(*place)
    return line is not None and family_of(line) is not None


def _holder(matching: Matching, place: Place, *, is_old: bool) -> Iterator[tuple[Place, Place]]:
    """Yield what calls the computation of a place, with its counterpart; nothing without one."""
    module = matching.before if is_old else matching.after
    holder = holders_of(module).get(place.computation)
    if holder is None or holder.opcode not in CONTROL_FLOW:
        return
    here = Place(homes_of(module)[place.computation], holder.name)
    there = matching.partner_after(here) if is_old else matching.partner_before(here)
    if there is not None:
        yield (here, there) if is_old else (there, here)
