"""Instructions that became calls of new computations: an expander outlines what it expands to.

Data flow is seen through calls, so that such an instruction became what is in the computation.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableSequence
from typing import NamedTuple

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.grades import Grade
from xlareport.runtime import units

_NEW = frozenset({Relation.ADDED, Relation.OUTLINED})
_GONE = frozenset({Relation.EXPANDED, Relation.REMOVED, Relation.REPLACED})


def explain_new_calls(search: Search, pairings: MutableSequence[Pairing]) -> None:
    """Let old instructions say that they became new calls, or that these call what they became."""
    calls = {} if search.parted is not None else _new_calls(search, pairings)
    if not calls:
        return
    modules = search.before.graph.module, search.after.graph.module
    matching = Matching(*modules, search.computations.pairs, tuple(pairings))
    known = _former_by_call(matching, calls)
    owners = dict[str, Pairing]()
    for place, former in known.items():
        pairing = matching.pairing_before(former)
        if pairing is not None and pairing.relation is Relation.EXPANDED:
            owners[calls[place].callee.name] = pairing
    for place, former in known.items():
        call, computation = calls[place]
        owner = owners.get(computation.name)
        if owner is not None and former in owner.before:
            _divide_parts(matching, pairings, call, owners, computation)
        else:
            _replace_by_call(matching, pairings, call, former, computation)


class _NewCall(NamedTuple):
    pairing: Pairing
    callee: Computation


def _new_calls(search: Search, pairings: Iterable[Pairing]) -> dict[Place, _NewCall]:
    """Return the new calls of new computations, by their places."""
    calls = ((pairing, _callee(search, pairing)) for pairing in pairings)
    return {
        pairing.after[0]: _NewCall(pairing, callee)
        for pairing, callee in calls
        if callee is not None
    }


def _former_by_call(matching: Matching, calls: Collection[Place]) -> dict[Place, Place]:
    """Return the old instructions whose results new calls have, by the calls."""
    known = dict[Place, Place]()
    waiting = [(place, former) for place in calls if (former := _former(matching, place))]
    for place, former in waiting:
        if place not in known:
            known[place] = former
            waiting += _operands(matching, former, place, calls)
    return known


def _callee(search: Search, pairing: Pairing) -> Computation | None:
    """Return the new computation that the new call of a pairing calls; None of anything else."""
    after = search.after.graph.module
    is_new = pairing.relation in _NEW and len(pairing.after) == 1
    line = after.find(*pairing.after[0]) if is_new else None
    callee = after.callee(line) if line is not None and line.opcode == "call" else None
    if callee is None or callee.name in search.computations.partners:
        return None
    return None if callee.name in search.before.graph.module.by_name else callee


def _former(matching: Matching, call: Place) -> Place | None:
    """Return the old instruction that a user of a call, or its computation, had in its place."""
    home = matching.after.by_name[call.computation]
    for user in home.users.get(call.instruction, ()):
        before = matching.partner_before(Place(home.name, user.name))
        old = None if before is None else matching.before.find(*before)
        names = [] if old is None else [*old.operand_names]
        if before is not None and len(names) == len(user.operand_names):
            name = names[[*user.operand_names].index(call.instruction)]
            return _gone(matching, Place(before.computation, name), call)
    former = matching.before.by_name.get(matching.computation_before(home.name))
    is_root = home.root is not None and home.root.name == call.instruction
    root = former.root if former is not None and is_root else None
    return (
        None if former is None or root is None else _gone(matching, (former.name, root.name), call)
    )


def _gone(matching: Matching, place: tuple[str, str], call: Place) -> Place | None:
    """Return an old place that has the result of a new call and no counterpart of its own."""
    old, line = matching.before.find(*place), matching.after.find(*call)
    pairing = matching.pairing_before(Place(*place))
    if old is None or line is None or pairing is None or pairing.relation not in _GONE:
        return None
    is_alone = len(pairing.before) == 1 and bool(pairing.after)
    now = matching.after.find(*pairing.after[0]) if is_alone else None
    stays = old.opcode == "call" or (now is not None and now.opcode == old.opcode)
    return Place(*place) if old.shape == line.shape and not stays else None


def _operands(
    matching: Matching, former: Place, call: Place, calls: Collection[Place]
) -> Iterator[tuple[Place, Place]]:
    """Yield the new calls that a new call reads, each with what its former instruction read."""
    old, line = _line(matching.before.find(*former)), _line(matching.after.find(*call))
    if len(old) != len(line):
        return
    for name, now in zip(old, line, strict=True):
        read = Place(call.computation, now)
        source = _gone(matching, (former.computation, name), read) if read in calls else None
        if source is not None:
            yield read, source


def _line(line: Instruction | None) -> list[str]:
    return [] if line is None else [*line.operand_names]


def _replace_by_call(
    matching: Matching,
    pairings: MutableSequence[Pairing],
    call: Pairing,
    former: Place,
    computation: Computation,
) -> None:
    """Let an instruction be replaced with a call, whose result it was told to be."""
    pairing = matching.pairing_before(former)
    other = pairing is None or pairing.relation is Relation.EXPANDED
    if (
        pairing is None
        or other
        or [place for place in pairing.after if place[0] != computation.name]
    ):
        return
    pairing.before = tuple(place for place in pairing.before if place != former)
    if not pairing.before and pairing.after:
        pairing.relation, pairing.reason = Relation.ADDED, "it is the root of its computation"
        pairing.further = None
    elif not pairing.before:
        pairings.remove(pairing)
    call.before, call.relation, call.grade = (former,), Relation.REPLACED, Grade.MATCHED
    call.reason = f"it calls the new %{computation.name}"


def _divide_parts(
    matching: Matching,
    pairings: MutableSequence[Pairing],
    call: Pairing,
    owners: Mapping[str, Pairing],
    computation: Computation,
) -> None:
    """Let a call be of what an instruction was expanded into: all in the computation, root first.

    What is in another computation is a part of what was expanded into that.
    """
    pairing = owners[computation.name]
    own = [place for place in pairing.after if place.computation == computation.name]
    others = [place for place in pairing.after if place.computation != computation.name]
    root = None if computation.root is None else Place(computation.name, computation.root.name)
    added = None if root is None else matching.pairing_after(root)
    if root is None or any(place.computation not in owners for place in others):
        return
    if added is not None and added.relation is Relation.ADDED and added in pairings:
        pairings.remove(added)
    elif root not in own:
        return
    for place in others:
        owner = owners[place.computation]
        _set_parts(owner, (*owner.after, place))
    further = _work_beside(matching, computation)
    pairings[:] = [known for known in pairings if id(known) not in further]
    _set_parts(pairing, (root, *own, *(known.after[0] for known in further.values())))
    call.before, call.relation, call.grade = (), Relation.ADDED, Grade.MATCHED
    call.reason = f"calls what %{pairing.before[0].instruction} was expanded into"


def _work_beside(matching: Matching, computation: Computation) -> dict[int, Pairing]:
    """Return what is added in a computation and is no dead code: its other results are of it too.

    A generator of random numbers also gives its next state, made of constants.
    """
    dead = dead_names(computation)
    places = (
        Place(computation.name, line.name)
        for line in computation.instructions
        if line.opcode != "parameter" and line.name not in dead
    )
    known = (matching.pairing_after(place) for place in places)
    return {id(pair): pair for pair in known if pair and pair.relation is Relation.ADDED}


def _set_parts(pairing: Pairing, parts: tuple[Place, ...]) -> None:
    pairing.after = tuple(dict.fromkeys(parts))
    pairing.reason = f"into {units.plural(len(pairing.after), 'instruction')}"
