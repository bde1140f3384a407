"""Computations that lost their callers to another that holds the same, and stay as they are.

A later pass removes them, or clones the other for each caller again.
"""

from collections.abc import Iterator, MutableSequence

from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Place, Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import TRANSPARENT, live_computations
from xlareport.analysis.matching.sides.paired_lines import pair_lines
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Instruction
from xlareport.knowledge.grades import Grade


def add_merged_callees(search: Search, pairings: MutableSequence[Pairing]) -> None:
    """Add that the lines of what is called no longer were merged into those called instead."""
    merged = _merged_callees(search)
    if not merged:
        return
    in_pairings = {place for pairing in pairings for place in pairing.before}
    groups = dict[Place, Pairing]()
    module = search.before.graph.module.by_name
    for old, new in merged.items():
        reason = f"%{old} held the same as %{new}"
        for name, line in pair_lines(module[old], module[new]).items():
            place, kept = Place(old, name), Place(new, line.name)
            if not in_pairings.isdisjoint((place, kept)):
                continue
            pairing = groups.get(kept)
            if pairing is None:
                pairing = Pairing((kept,), (kept,), Grade.EXACT, reason, Relation.MERGED)
                pairing.cause = ChangeCause.UNCALLED
                groups[kept] = pairing
            pairing.before = (*pairing.before, place)
            pairing.add_evidence((place, kept), Grade.EXACT, reason)
    pairings += groups.values()


def _merged_callees(search: Search) -> dict[str, str]:
    """Return the computations that lost their callers, with the equal ones called instead."""
    if search.parted is not None:
        return {}
    waiting = [
        pair
        for link in search.links
        if link.before.instruction.opcode in TRANSPARENT
        for pair in _changed(link.before.instruction, link.after.instruction)
        if _is_merged(search, *pair)
    ]
    merged = dict[str, str]()
    module = search.before.graph.module.by_name
    for old, new in waiting:  # it grows meanwhile: with what these call
        if old in merged:
            continue
        merged[old] = new
        for name, line in pair_lines(module[old], module[new]).items():
            called = _changed(module[old].by_name[name], line)
            waiting += [pair for pair in called if _is_merged(search, *pair)]
    return merged


def _changed(line: Instruction, other: Instruction) -> Iterator[tuple[str, str]]:
    """Yield the computations that a line calls, with those called in their places by another."""
    for (_, old), (_, new) in zip(line.called, other.called, strict=False):
        if old != new:
            yield old, new


def _is_merged(search: Search, old: str, new: str) -> bool:
    """Return whether both computations stay as they are and hold the same, one without callers."""
    before, after = search.before.graph.module, search.after.graph.module
    stay = all(
        name in before.by_name and after.by_name.get(name) is before.by_name[name]
        for name in (old, new)
    )
    if not stay or old in live_computations(after) or old not in live_computations(before):
        return False
    token = search.contents[0].of(old)
    return token == search.contents[0].of(new) != UNKNOWN
