"""Compares the operands of an instruction before and after a step."""

from collections.abc import Collection, Sequence
from functools import partial

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import TRANSPARENT, called_by
from xlareport.analysis.steps.details import Difference, ReadPastMove
from xlareport.analysis.steps.duplicates import are_duplicates
from xlareport.analysis.steps.folding import is_literal
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.loop_elements import given_values
from xlareport.analysis.steps.operand_chains import passing_chain, written_operand
from xlareport.analysis.steps.operand_words import (
    SAME_TYPE,
    Operand,
    folded_move,
    instead,
    named_types,
    operand_name,
    reads_other_copy,
    through_new,
    turned_result,
    types_of,
)
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import COMMUTATIVE, DENSE_PRODUCTS
from xlareport.runtime import english, units
from xlareport.runtime.graphs import reachable
from xlareport.runtime.whole_numbers import parse_whole_number

_NAMED = 4
"""Operands that a change names at most."""
_COMPUTING = frozenset({"convolution", "dot", "reduce", "scatter", "sort"})
"""Opcodes of which the element type of an operand matters, apart from that of the result."""
_IN_PARTS = frozenset({Relation.ASYNC, Relation.COMBINED, Relation.REWRITTEN, Relation.SPLIT})


def compare_operands(
    matching: Matching, before: tuple[Place, Instruction], after: tuple[Place, Instruction]
) -> dict[Kind, Difference]:
    """Return the changes of operands by kind; empty if there are none.

    REWIRED: the same value from another instruction. REDIRECTED: an added instruction, or the
    operand of a removed one. Both follow from other changes. SHARED: an instruction that
    computes the same.
    """
    (here, old), (there, new) = before, after
    if old.operands == new.operands:
        return {}
    read = [written_operand(here, text) for text in old.operands]
    reads = [written_operand(there, text) for text in new.operands]
    inside = _taken_in(matching, there, new, read)
    if inside or len(read) != len(reads):
        return {Kind.OPERANDS: _aligned(matching, read, reads, inside)}
    if old.opcode == "fusion" or _starts_loop(matching, there):
        read, reads = _unpaired(matching, read, reads)
    if old.opcode in COMMUTATIVE and _are_crossed(matching, read, reads):
        reads.reverse()
    pairs = zip(read, reads, strict=True)
    other = [(was, now) for was, now in pairs if not _goes_on(matching, was, now)]
    moves = [folded_move(matching, was, now, new.opcode) for was, now in other]
    named = _first_few(
        [
            instead(was, now, named_types(matching, was, now), move)
            for (was, now), move in zip(other, moves, strict=True)
        ]
    )
    kind = _kind(matching, other)
    if kind is Kind.REDIRECTED and old.opcode in _COMPUTING and _other_types(matching, other):
        kind = Kind.OPERANDS
    copied = other if new.opcode == "copy" and kind is Kind.REWIRED else []
    if any(reads_other_copy(matching, was, now) for was, now in copied):
        kind = Kind.OPERANDS
    equal = ", which computes the same" if kind is Kind.SHARED else ""
    result: dict[Kind, Difference] = {}
    if other:
        words = f"uses {', '.join(named)}{equal}"
        result[kind] = ReadPastMove(words) if any(moves) else words
    if old.opcode == new.opcode in DENSE_PRODUCTS and _are_swapped(matching, read, reads):
        through = through_new(matching, read, reads[::-1])
        result[Kind.TURNED] = turned_result(old.shape.text, new.shape.text, through)
    return result


def _starts_loop(matching: Matching, place: Place) -> bool:
    """Return whether a tuple is what a loop starts with, whose elements a pass may reorder."""
    readers = matching.after.by_name[place.computation].users.get(place.instruction, ())
    return matching.same_program and [user.opcode for user in readers] == ["while"]


def _are_crossed(matching: Matching, read: list[Operand], reads: list[Operand]) -> bool:
    """Return whether one of two operands was made of what is read in the place of the other."""
    if len(read) != len(SAME_TYPE) or any(map(partial(_goes_on, matching), read, reads)):
        return False
    straight, crossed = (
        any(map(partial(_is_derived_from, matching), read, others))
        for others in (reads, reads[::-1])
    )
    return crossed and not straight


def _is_derived_from(matching: Matching, was: Operand, now: Operand) -> bool:
    """Return whether an operand before read what continues as an operand after."""
    line = matching.before.find(*was.place)
    texts = () if line is None or was.element else line.operands
    return any(_goes_on(matching, written_operand(was.place, text), now) for text in texts)


def _are_swapped(matching: Matching, read: list[Operand], reads: list[Operand]) -> bool:
    """Return whether two operands are read in the other order, behind what only moves them."""
    stays = any(_is_moved_value(matching, was, now) for was, now in zip(read, reads, strict=True))
    turned = zip(read, reversed(reads), strict=True)
    return not stays and all(_is_moved_value(matching, was, now) for was, now in turned)


def _is_moved_value(matching: Matching, was: Operand, now: Operand) -> bool:
    """Return whether both represent one value, which a transpose may have moved on either side."""
    return any(
        _is_same_value(matching, read, reads)
        for read in _with_source(matching.before, was)
        for reads in _with_source(matching.after, now)
    )


def _with_source(module: HloModule, operand: Operand) -> list[Operand]:
    """Return an operand, and what it is a transpose or, for a convolution, the reverse of."""
    last = passing_chain(module, operand)[-1]
    line = None if last.element else module.find(*last.place)
    if line is None or line.opcode not in {"reverse", "transpose"}:
        return [operand]
    return [operand, written_operand(last.place, line.operands[0])]


def _taken_in(
    matching: Matching, there: Place, holder: Instruction, read: list[Operand]
) -> list[Operand]:
    """Return the former operands of a fusion or call of which it contains the work now.

    Those that compute come first.
    """
    modules, known = (matching.before, matching.after), matching.after.by_name
    called = [name for _, name in holder.called if name in known and holder.opcode in TRANSPARENT]
    inside = {*reachable(called, partial(called_by, modules[1]))}
    taken = [was for was in read if not was.element and _is_taken_in(matching, was, there, inside)]
    return sorted(taken, key=lambda was: is_literal(modules[0], was.place))


def _is_taken_in(matching: Matching, was: Operand, holder: Place, inside: Collection[str]) -> bool:
    """Return whether an operand goes on inside of a fusion, or was a fusion merged into it."""
    partner, pairing = matching.partner_after(was.place), matching.pairing_before(was.place)
    merged = pairing is not None and pairing.relation is Relation.ABSORBED
    merged = merged and pairing is not None and holder in pairing.after
    return merged or (partner is not None and partner.computation in inside)


def _aligned(
    matching: Matching, read: list[Operand], reads: list[Operand], inside: list[Operand]
) -> str:
    """Return how operands differ in number, and what the fusion contains now.

    What goes on at another place is left out, and no place says what replaces an operand.
    """
    gone, left = _unpaired(matching, [was for was in read if was not in inside], reads)
    same = [(was, now) for was in gone for now in left if _is_same_value(matching, was, now)]
    known = [was for was, _ in same], [now for _, now in same]
    count = units.plural(len(reads), "operand")
    words = [f"uses {count} instead of {len(read)}"] * (len(reads) != len(read))
    if inside:
        words.insert(0, f"takes in {_listed(inside)}")
    words += _first_few([instead(was, now) for was, now in same])
    lost = [was for was in gone if was not in known[0]]
    words += _first_few([_lost(matching, was, reads) for was in lost])
    new = [now for now in left if now not in known[1]]
    words += [f"also uses {_listed(new)}"] * bool(new)
    return ", ".join(words)


def _listed(operands: Sequence[Operand]) -> str:
    """Return `%a, %b and 3 more`."""
    names = [f"%{operand_name(operand)}" for operand in operands]
    more = [f"{len(names) - _NAMED:,} more"] * (len(names) > _NAMED)
    return english.listing(names[:_NAMED] + more)


def _lost(matching: Matching, was: Operand, reads: list[Operand]) -> str:
    """Return that an operand is read no longer, or not as often."""
    again = any(_goes_on(matching, was, now) for now in reads)
    return f"%{operand_name(was)} fewer times" if again else f"without %{operand_name(was)}"


def _first_few(phrases: list[str]) -> list[str]:
    """Return the first phrases, and how many more there are."""
    more = len(phrases) - _NAMED
    return [*phrases[:_NAMED], f"and {more:,} more"] if more > 0 else phrases


def _unpaired(
    matching: Matching, read: list[Operand], reads: list[Operand]
) -> tuple[list[Operand], list[Operand]]:
    """Return the operands before and after without a counterpart, whatever their positions."""
    gone, left = [*read], []
    for now in reads:
        was = next((was for was in gone if _goes_on(matching, was, now)), None)
        if was is None:
            left.append(now)
        else:
            gone.remove(was)
    return gone, left


def _kind(matching: Matching, other: list[tuple[Operand, Operand]]) -> Kind:
    if any(_is_duplicate(matching, was, now) for was, now in other) and all(
        _is_duplicate(matching, was, now) or _is_same_value(matching, was, now)
        for was, now in other
    ):
        return Kind.SHARED
    if all(_is_same_value(matching, was, now) for was, now in other):
        return Kind.REWIRED
    if all(_is_another_event(matching, was, now) for was, now in other):
        return Kind.REDIRECTED
    return Kind.OPERANDS


def _other_types(matching: Matching, other: list[tuple[Operand, Operand]]) -> bool:
    """Return whether an operand has another element type: a convert was folded, say."""
    return any(types_of(matching, was, now) != SAME_TYPE for was, now in other)


def _is_duplicate(matching: Matching, was: Operand, now: Operand) -> bool:
    """Return whether an instruction is read that computed the same as what was read before."""
    known = matching.partner_before(now.place)
    if known is None or was.element != now.element or was.place.instruction == known.instruction:
        return False
    return are_duplicates(matching.before, was.place, known)


def _goes_on(matching: Matching, was: Operand, now: Operand) -> bool:
    return matching.partner_after(was.place) == now.place and was.element == now.element


def _is_another_event(matching: Matching, was: Operand, now: Operand) -> bool:
    """Return whether another change explains this: an operand was added or removed."""
    if _goes_on(matching, was, now):
        return True
    gone = matching.pairing_before(was.place)
    new = matching.pairing_after(now.place)
    return (gone is not None and not gone.after) or (new is not None and not new.before)


def _is_same_value(matching: Matching, was: Operand, now: Operand) -> bool:
    """Return whether both represent one value, behind what only hands it on, or are copies."""
    if was.element == now.element and _is_copy(matching, was.place, now.place):
        return True
    if was.element == now.element == "" and (
        _is_passed(matching, was.place, now.place) or _has_passed(matching, was.place, now.place)
    ):
        return True
    old, new = passing_chain(matching.before, was), passing_chain(matching.after, now)
    copies = (operand.place for operand in new if not operand.element)
    if not was.element and any(_is_copy(matching, was.place, place) for place in copies):
        return True
    continued = {
        continuing
        for operand in old
        for partner in _partners(matching, operand.place)
        for continuing in _continuing(matching, operand, partner)
    }
    known = not continued.isdisjoint(new) or _is_part(matching, was.place, now)
    return known or (
        was.element == now.element == "" and _was_given(matching, was.place, now.place)
    )


def _was_given(matching: Matching, was: Place, now: Place) -> bool:
    """Return whether what is read now continues or copies what a loop carried as what was read."""
    pairing = matching.pairing_after(now)
    if pairing is None or pairing.relation not in _SUNK:
        return False
    return any(
        given in pairing.before or matching.partner_after(given) in pairing.after
        for given in given_values(matching.before, was)
    )


def _partners(matching: Matching, place: Place) -> Sequence[Place]:
    """Return what continues an instruction: its partner, and further copies of it."""
    pairing = matching.pairing_before(place)
    if pairing is not None and pairing.relation is Relation.CLONED:
        return pairing.after
    partner = matching.partner_after(place)
    return () if partner is None else (partner,)


def _is_passed(matching: Matching, was: Place, now: Place) -> bool:
    """Return whether a move that was read is read before what is read now, which it passed."""
    pairing = matching.pairing_before(was)
    if pairing is None or pairing.relation not in _MOVED:
        return False
    if not isinstance(pairing.reason, Past):
        return False
    return now in _partners(matching, Place(was.computation, pairing.reason.instruction))


def _has_passed(matching: Matching, was: Place, now: Place) -> bool:
    """Return whether what is read now has passed what was read before, and reads that or a copy."""
    pairing, line = matching.pairing_after(now), matching.after.find(*now)
    if pairing is not None and pairing.relation is Relation.CLONED:
        reason = pairing.known_of(pairing.before[0], now).reason
        partner = matching.partner_after(was) or was  # named by its new name
        return isinstance(reason, Past) and reason.instruction in {was[1], partner[1]}
    if pairing is None or pairing.relation not in _MOVED or line is None:
        return False
    if pairing.relation is not Relation.SWAPPED and not isinstance(pairing.reason, Past):
        return False
    return matching.partner_after(was) in {Place(now.computation, n) for n in line.operand_names}


_MOVED = frozenset({Relation.COMBINED, Relation.SPLIT, Relation.SWAPPED})
"""Relations of what passed an instruction: also as one for each operand, or as one for all."""
_SUNK = frozenset({Relation.CLONED, Relation.MERGED, Relation.SAME})
_WITH_COPIES = frozenset({Relation.CLONED, Relation.REPLACED, Relation.SWAPPED})
"""Relations whose further places after are copies of the one before."""


def _is_copy(matching: Matching, was: Place, now: Place) -> bool:
    """Return whether what is read now is a further copy of what was read before."""
    pairing = matching.pairing_after(now)
    return pairing is not None and pairing.relation in _WITH_COPIES and was in pairing.before


def _continuing(matching: Matching, was: Operand, partner: Place) -> tuple[Operand, ...]:
    """Return the operands that continue an operand; an array may be in a tuple of one now."""
    old, new = matching.before.find(*was.place), matching.after.find(*partner)
    same = Operand(partner, was.element)
    if old is None or new is None or was.element or old.shape.elements:
        return (same,)
    return (same, Operand(partner, "0")) if len(new.shape.elements) == 1 else (same,)


def _is_part(matching: Matching, was: Place, now: Operand) -> bool:
    """Return whether a line is the end of what was split, or an element of what was combined."""
    pairing = matching.pairing_before(was)
    if pairing is None or pairing.relation not in _IN_PARTS:
        return False
    if now.place in pairing.after and not now.element:
        return True
    element = parse_whole_number(now.element) if now.element else None
    whole = now.place
    line = matching.after.find(*now.place)
    if line is not None and line.opcode == "get-tuple-element":
        element = line.taken_element
        whole = Place(whole.computation, next(iter(line.operand_names), ""))
    place = 0 if len(pairing.before) == 1 else pairing.before.index(was)
    return whole in pairing.after and element == place
