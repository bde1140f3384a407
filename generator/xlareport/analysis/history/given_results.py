"""New instructions that give the result of an old one: elements of tuples, moves, and starts.

A reader of both tells, and what a start runs. A reshape or a bitcast may be of a value that has
other dimensions now, or is in another memory: a prefetch. A convert of a constant is that constant
in another type.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.reasons import TakenOut
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.constants import is_constant
from xlareport.hlo.model import Computation, HloModule, Instruction

_MOVES = frozenset({"bitcast", "reshape"})
_CONVERT = "convert"
_START = "async-start"
_GIVING = _MOVES | {"get-tuple-element", _CONVERT, _START}
_PASSING = _MOVES | {"copy-done", "copy-start"}
_OF_CONSTANTS = _PASSING | {_CONVERT}
"""Of a constant another type is folded: it is a number of the program, however it is written."""
_LONGEST = 6
"""Moves in a row that are looked behind."""


class GivenResult(NamedTuple):
    """The old instruction whose result a new tuple element or move gives."""

    source: Place
    why: str
    is_moved: bool = False
    """It is moved back into the dimensions in which a reader read it before."""


def given_result(matching: Matching, place: Place) -> GivenResult | None:
    """Return whose result a new tuple element, move or start gives; None of what was none before.

    A reader of both tells, where what gives the element now has taken the old instruction in.
    """
    line = matching.after.find(*place)
    if line is None or line.opcode not in _GIVING or matching.partner_before(place):
        return None
    home = matching.after.by_name[place.computation]
    if line.opcode in _MOVES:
        return _moved_back(matching, home, line, _PASSING)
    if line.opcode == _START:
        return _started(matching, home, line)
    if line.opcode == _CONVERT:
        is_folded = is_constant(matching.after, place)
        return _moved_back(matching, home, line, _OF_CONSTANTS) if is_folded else None
    giver = Place(home.name, next(iter(line.operand_names), ""))
    for user in home.users.get(line.name, ()):
        former = matching.partner_before(Place(home.name, user.name))
        source = None if former is None else _read_before(matching, former, user, line.name)
        if source is not None:
            way = _way_into(matching, source, giver)
            return GivenResult(source, f"gives its result: {way}") if way else None
    return None


def _started(matching: Matching, home: Computation, start: Instruction) -> GivenResult | None:
    """Return the start of the operation that a new start runs, or the operation; None of others.

    The offload to a SparseCore calls a collective, which had a start of its own.
    """
    former = matching.computation_before(home.name)
    for place, line in _roots(matching.after, start):
        source = matching.partner_before(place)
        old = None if source is None else matching.before.find(*source)
        if source is None or old is None or source.computation != former:
            continue
        if old.opcode in {line.opcode, f"{line.opcode}-start"}:
            return GivenResult(source, f"it runs %{line.name}, which was %{old.name}")
    return None


def _roots(module: HloModule, start: Instruction) -> Iterator[tuple[Place, Instruction]]:
    """Yield the result of what a start runs, and that of each call within it in turn."""
    line = start
    for _ in range(_LONGEST):
        callee = module.callee(line)
        root = None if callee is None else callee.root
        if callee is None or root is None:
            return
        yield Place(callee.name, root.name), root
        if root.opcode != "call":
            return
        line = root


def _read_before(matching: Matching, former: Place, user: Instruction, name: str) -> Place | None:
    """Return what the counterpart of a user read in place of an operand of that name."""
    old = matching.before.find(*former)
    names = [] if old is None or old.opcode != user.opcode else [*old.operand_names]
    if len(names) != len(user.operand_names):
        return None
    return Place(former.computation, names[[*user.operand_names].index(name)])


def _way_into(matching: Matching, source: Place, giver: Place) -> str:
    """Return how an old instruction got into what gives several results; '' if it did not."""
    line, pairing = matching.after.find(*giver), matching.pairing_before(source)
    old = matching.before.find(*source)
    if line is None or pairing is None or old is None or old.shape.elements:
        return ""
    if giver in pairing.after:
        several = f"%{giver.instruction} gives several now"
        words = {Relation.ABSORBED: "merged", Relation.COMBINED: "combined"}
        word = words.get(pairing.relation)
        if word is not None:
            return f"it was {word} into %{giver.instruction}"
        return several if pairing.relation is Relation.SAME else ""
    callee = matching.after.callee(line) if line.opcode == "fusion" else None
    is_inside = callee is not None and pairing.after[:1] and pairing.after[0][0] == callee.name
    return f"it was fused into %{giver.instruction}" if is_inside else ""


def _moved_back(
    matching: Matching, home: Computation, line: Instruction, passing: Collection[str]
) -> GivenResult | None:
    """Return what a reader of a new move read before, if both are moves of one value."""
    behind = _behind(matching.after, Place(home.name, line.name), passing)
    taken = next(filter(None, (_taken_out(matching, place) for place in behind[1:])), None)
    if taken is not None:
        return taken
    known = next(filter(None, map(matching.partner_before, behind[1:])), None)
    for user in home.users.get(line.name, ()) if known is not None else ():
        former = matching.partner_before(Place(home.name, user.name))
        read = None if former is None else _read_before(matching, former, user, line.name)
        if read is not None and known in _behind(matching.before, read, passing):
            why = f"%{user.name} reads it in place of %{read.instruction}, whose value it has"
            return GivenResult(read, why, is_moved=True)
    return None


def _taken_out(matching: Matching, place: Place) -> GivenResult | None:
    """Return whose result a new slice takes out of a joined whole; None of anything else."""
    pairing = matching.pairing_after(place)
    reason = None if pairing is None else pairing.reason
    if not isinstance(reason, TakenOut):
        return None
    source = Place(reason.computation, reason.member)
    return GivenResult(source, f"%{place.instruction} {reason}", is_moved=True)


def _behind(module: HloModule, place: Place, passing: Collection[str]) -> list[Place]:
    """Return an instruction, and what it has the elements of, in order, behind moves."""
    home, places = module.by_name[place.computation], [place]
    line = home.by_name.get(place.instruction)
    while line is not None and line.opcode in passing and len(places) < _LONGEST:
        line = home.operand(line)
        if line is not None:
            places.append(Place(home.name, line.name))
    return places
