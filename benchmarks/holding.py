"""What a new fusion or call is said to be made of, beside what its computations hold."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from xlareport.analysis.history.instruction import sources_of
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import GROUPS, Matching
from xlareport.hlo.model import HloModule, Instruction
from xlareport.knowledge.grades import Grade

_HOLDERS = ("call", "fusion")
_FRAME = ("get-tuple-element", "parameter", "tuple")
_MOVES = ("bitcast", "broadcast", "copy", "reshape", "transpose")
"""Opcodes of which one is written for another in place."""


def holding_failures(matching: Matching) -> Iterator[str]:
    """Yield what the sources of new fusions and calls lack or have too much, if told as exact.

    What a fusion holds is read from its computations here, those that it calls further included.
    Each of it needs a source that is listed, and is counted; each listed source stands for one of
    it; and no opcode is on one side alone. A fusion that goes on tells of what it took in.
    """
    for pairing in matching.pairings:
        new_holder = pairing.relation in (Relation.FUSED, Relation.OUTLINED)
        if new_holder and pairing.grade is Grade.EXACT:
            yield from (f"{pairing.after[0]} {words}" for words in _failures(matching, pairing))
        elif pairing.before and pairing.after and pairing.relation not in GROUPS:
            yield from (f"{pairing.after[0]} {words}" for words in _not_taken_in(matching, pairing))


def _not_taken_in(matching: Matching, pairing: Pairing) -> Iterator[str]:
    """Yield what a fusion that goes on holds now, from elsewhere, and its history does not tell."""
    new, old = matching.after.find(*pairing.after[0]), matching.before.find(*pairing.before[0])
    if new is None or old is None or new.opcode != "fusion" or old.opcode != "fusion":
        return
    inside = {place for place, _ in _held(matching.before, old, frozenset())}
    held = (place for place, _ in _held(matching.after, new, frozenset()))
    sources = {source for place in held for source in _sources(matching, place)}
    works = {source for source in sources if _works(matching.before.find(*source))}
    told = {*sources_of(matching, pairing.after[0])}
    yield from _named("goes on and does not tell of", works - inside - told)


def _works(line: Instruction | None) -> bool:
    return line is not None and bool(line.operands) and _counts(line)


def _failures(matching: Matching, pairing: Pairing) -> Iterator[str]:
    line = matching.after.find(*pairing.after[0])
    held = dict(_held(matching.after, line, frozenset())) if line else {}
    before = {place: matching.before.find(*place) for place in pairing.before}
    listed = {place for place, known in before.items() if known and _counts(known)}
    own = {place: _sources(matching, place) for place in held}
    sources = {source for places in own.values() for source in places}
    yield from _named("holds what has no source", (place for place in own if not own[place]))
    yield from _named("lacks the source", sources - listed)
    yield from _named("is not made of", listed - sources)
    stated = re.findall(r"[\d,]+ instruction", str(pairing.reason))
    if stated != [f"{len(sources):,} instruction"]:
        yield f"{pairing.reason} and was {len(sources)}"
    firsts = {places[0] for places in own.values() if places}
    opcodes = Counter(_opcode(before.get(place)) for place in firsts)
    counts = Counter(map(_opcode, held.values()))
    if opcodes - counts:
        yield f"is made of {dict(opcodes - counts)} more than it holds"
    if counts.keys() - opcodes.keys():
        yield f"holds {sorted(counts.keys() - opcodes.keys())}, of which no source is"


def _held(
    module: HloModule, holder: Instruction, inside: frozenset[str]
) -> Iterator[tuple[Place, Instruction]]:
    """Yield what a fusion or call holds, at all depths, but for what only carries values."""
    for _, name in holder.called:
        computation = module.by_name.get(name)
        if computation is None or name in inside:
            continue
        for line in computation.instructions:
            if line.opcode in _HOLDERS:
                yield from _held(module, line, inside | {name})
            elif _counts(line):
                yield Place(name, line.name), line


def _counts(line: Instruction) -> bool:
    return line.opcode not in _FRAME and line.opcode not in _HOLDERS


def _opcode(line: Instruction | None) -> str:
    opcode = "" if line is None else line.opcode
    return "a move" if opcode in _MOVES else opcode


def _sources(matching: Matching, place: Place) -> tuple[Place, ...]:
    """Return what an instruction of a fusion was before the step, as its own history has it."""
    pairing = matching.pairing_after(place)
    if pairing is not None:
        return pairing.before
    same = matching.partner_before(place)
    return () if same is None else (same,)


def _named(words: str, places: Iterable[Place]) -> Iterator[str]:
    names = sorted(map(str, places))
    if names:
        yield f"{words} {', '.join(names[:4])}"
