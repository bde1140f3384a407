"""Grades removals and additions as guesses where too much was rewritten to trust them.

Whole pipelines run between the input and the final module. An instruction that was rewritten twice
looks removed, and its replacement added; within a single pass that is good evidence.
"""

from collections.abc import Collection, Mapping, Sequence

from xlareport.analysis.matching.account.neutral import gives_operand
from xlareport.analysis.matching.account.passed_values import passed_values
from xlareport.analysis.matching.search.nodes import place_of
from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import REDUCED_NOTHING, GivesOperand
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import holders_of
from xlareport.analysis.matching.sides.families import JOIN, family_of, is_heavy_at
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule, Instruction
from xlareport.knowledge.grades import Grade

_FEWEST = 20
_SHARE = 8
"""Divisor: if more than 1/8 of the instructions of a side has no counterpart, it is too much."""
_REASON = "no counterpart was found, and much else was rewritten as well"
_FRAMING = frozenset({"call", "get-tuple-element", "parameter", "tuple"})
"""Opcodes that only pass values on: passes remove and add them without a trace."""
_CARRYING = frozenset({"conditional", "parameter", "while"})
_STAGED = frozenset(
    {
        "async-done",
        "async-start",
        "bitcast",
        "copy",
        "copy-done",
        "copy-start",
        "partition-id",
        "replica-id",
        *_FRAMING,
    }
)
"""Opcodes that the compiler adds of its own."""


def mark_untraced(search: Search, pairings: Collection[Pairing]) -> None:
    """Grade removals and additions as guesses, with a cause, if there are too many.

    Only heavy removals, if the removed are many, and the new are not.
    Not so what the text around it proves: moves that were removed or inserted.
    """
    before, after = search.before.graph.module, search.after.graph.module
    carried = _elements_carried(search, pairings)
    gone = [pairing for pairing in pairings if _is_gone(before, pairing, carried)]
    if not _are_many(gone, before.instruction_count):
        return
    counted = any(_is_collective(before, pairing) for pairing in gone)  # else the partitioner's own
    new = [pairing for pairing in pairings if _is_new(after, pairing, collectives=counted)]
    written_out = sum(map(len, search.generated.values()))  # of what is told of a generator alone
    if _are_many(new, after.instruction_count - written_out):
        _mark(search, [*gone, *new], pairings)
    else:
        _mark(
            search,
            [pairing for pairing in gone if is_heavy_at(before, pairing.before[0])],
            pairings,
        )


def _mark(search: Search, unsure: Sequence[Pairing], pairings: Collection[Pairing]) -> None:
    """Grade pairings as guesses that neither module explains."""
    known = passed_values(search, pairings) if unsure else set()
    given = _given_operands(search.before) if unsure else {}
    for pairing in unsure:
        place = (pairing.before or pairing.after)[0]
        if pairing.before and place in given:
            pairing.grade, pairing.reason = Grade.MATCHED, given[place]
        elif place not in known and pairing.reason != REDUCED_NOTHING:
            pairing.grade, pairing.reason = Grade.GUESSED, _REASON
            pairing.cause = ChangeCause.UNTRACED


def _given_operands(before: Side) -> Mapping[Place, GivesOperand]:
    """Return which operands operations give as they are, such as x of x + 0."""
    given = ((place_of(node), gives_operand(before, node)) for node in before.open())
    return {place: operand for place, operand in given if operand is not None}


def _elements_carried(search: Search, pairings: Collection[Pairing]) -> set[Place]:
    """Return the removed elements of what a loop or branch carries, if it has new elements now.

    These may be the same values under other numbers.
    """
    before, after = search.before.graph.module, search.after.graph.module
    lasting = {
        known.before[0]: known.after[0] for known in pairings if known.before and known.after
    }
    new = {
        _source_of_element(after, known.after[0])
        for known in pairings
        if known.relation is Relation.ADDED
    }
    gone = (known.before[0] for known in pairings if known.relation is Relation.REMOVED)
    sources = ((place, _source_of_element(before, place)) for place in gone)
    return {place for place, source in sources if source in lasting and lasting[source] in new}


def _source_of_element(module: HloModule, place: Place) -> Place | None:
    """Return the parameter, loop or conditional that a get-tuple-element reads; None of others."""
    line, home = module.find(*place), module.by_name[place.computation]
    if line is None or line.opcode != "get-tuple-element":
        return None
    source = home.operand(line)
    if source is None or source.opcode not in _CARRYING:
        return None
    return Place(place.computation, source.name)


def _is_gone(module: HloModule, pairing: Pairing, carried: Collection[Place]) -> bool:
    """Return whether a pairing is a removal that the module after does not explain."""
    known = pairing.cause is not None or pairing.grade is Grade.EXACT
    if known or pairing.relation is not Relation.REMOVED:
        return False
    return pairing.before[0] in carried or not _is_removable(module, pairing)


def _is_new(module: HloModule, pairing: Pairing, *, collectives: bool) -> bool:
    """Return whether a pairing is an addition that the module before does not explain."""
    known = pairing.cause is not None or pairing.grade is Grade.EXACT
    if known or pairing.relation is not Relation.ADDED:
        return False
    place = pairing.after[0]
    line = module.find(*place)
    if line is None or _is_staged(module, place, line):
        return False
    return collectives or family_of(line) != "collective"


def _are_many(pairings: list[Pairing], instructions: int) -> bool:
    return len(pairings) >= _FEWEST and len(pairings) * _SHARE >= instructions


def _is_removable(before: HloModule, pairing: Pairing) -> bool:
    """Return whether an instruction has no counterpart by nature: tuples and annotations."""
    line = before.find(*pairing.before[0])
    return line is None or line.opcode in _FRAMING or _annotates(line)


def _annotates(line: Instruction) -> bool:
    """Return whether a custom call only states how an array is sharded."""
    target = line.call_target
    return line.opcode == "custom-call" and target.startswith(ANNOTATIONS)


ANNOTATIONS = ("Sharding", "SPMD", "xla.sdy.")
"""Beginnings of the targets of such custom calls."""


def _is_staged(module: HloModule, place: Place, line: Instruction) -> bool:
    """Return whether the compiler adds an instruction of its own: a copy, part of a prefetch."""
    if line.opcode in _STAGED or line.call_target == JOIN or _fuses_staged(module, line):
        return True
    holder = holders_of(module).get(place.computation)
    return holder is not None and holder.opcode == "async-start" and line.opcode == "slice"


def _is_collective(before: HloModule, pairing: Pairing) -> bool:
    line = before.find(*pairing.before[0])
    return line is not None and family_of(line) == "collective"


def _fuses_staged(module: HloModule, line: Instruction) -> bool:
    """Return whether a fusion has only what the compiler adds of its own, such as a bitcast."""
    fused = module.callees(line) if line.opcode == "fusion" else ()
    inner = [known.opcode for computation in fused for known in computation.instructions]
    return bool(inner) and _STAGED.issuperset(inner)
