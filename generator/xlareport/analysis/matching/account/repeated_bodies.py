"""New computations that are equal to a new one with an original: bodies of loops that were cloned.

A pass clones what several calls run, and later passes change all the clones alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.computations import unpaired
from xlareport.analysis.matching.sides.contents import stem
from xlareport.analysis.matching.sides.facts import callees_of, facts_of
from xlareport.analysis.matching.sides.paired_lines import pair_lines
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Computation
from xlareport.knowledge.grades import Grade, weakest
from xlareport.runtime.grouping import group_by_key


def repeated_bodies(search: Search) -> Mapping[Place, Place]:
    """Return the lines of new computations, with the lines that they repeat in another new one.

    That continues what the counterpart of a caller calls, or has the other's name but for numbers
    and marks at its end, and a caller that is new.
    """
    names, modules = unpaired(search.computations, 1), search.after.graph.module.by_name
    if not names or search.parted is not None:
        return {}
    opcodes = group_by_key(
        (facts_of(modules[name]).opcodes, name)
        for name in search.computations.partners
        if name in modules
    )
    repeated: dict[Place, Place] = {}
    for name in names:
        original = _original(search, name, opcodes.get(facts_of(modules[name]).opcodes, ()))
        if original is not None:
            repeated |= _repeated_lines(search, original, name)
    return repeated


def by_place_after(pairings: Iterable[Pairing]) -> Mapping[Place, Pairing]:
    """Return pairings by the places after whose sources they tell.

    A fusion that holds most of an inlined call is not what that became.
    """
    telling = (pairing for pairing in pairings if pairing.relation is not Relation.ABSORBED)
    return {place: pairing for pairing in telling for place in pairing.after}


def repeated_from(pairing: Pairing, like: Place, place: Place) -> tuple[Grade, str]:
    """Return how sure it is that a line repeats another, of a known source, and why."""
    grade = weakest((Grade.MATCHED, pairing.known_of(pairing.before[0], like).grade))
    return grade, f"%{place.computation} repeats %{like.computation}"


def _original(search: Search, name: str, alike: Sequence[str]) -> str | None:
    """Return which of new computations with the same opcodes one repeats; None if none does."""
    continued = set(_called_alike(search, name)) if alike else ()
    called = [other for other in alike if other in continued]
    named = [other for other in alike if stem(other) == stem(name)]
    token = search.contents[1].of(name) if called or named else UNKNOWN
    equal = (
        other
        for other in (*called, *named)
        if token != UNKNOWN and search.contents[1].of(other) == token
    )
    return next(equal, None)


def _called_alike(search: Search, name: str) -> Iterator[str]:
    """Yield what continues the computations that the counterparts of the callers of one call."""
    for computation, call in search.after.graph.call_sites(name):
        home = search.after.homes.get(computation.name)
        node = None if home is None else home.nodes.get(call.instruction.name)
        partner = None if node is None else node.partner
        called = () if partner is None else partner.instruction.called
        position = [callee for _, callee in call.instruction.called].index(name)
        if position < len(called):
            yield search.computations.pairs.get(called[position][1], "")


def _repeated_lines(search: Search, original: str, name: str) -> Iterator[tuple[Place, Place]]:
    """Yield the lines of a computation, and of those that it calls, with those of an equal one."""
    modules = search.after.graph.module.by_name
    waiting, seen = [(original, name)], {name}
    for first, second in waiting:
        computation, repeated = modules[first], modules[second]
        lines = pair_lines(computation, repeated)
        for line in computation.instructions:
            other = lines.get(line.name)
            if other is None:
                continue
            yield Place(second, other.name), Place(first, line.name)
            for callee, copied in zip(callees_of(line), callees_of(other), strict=False):
                if copied not in seen and _is_repeated(search, modules, callee, copied):
                    seen.add(copied)
                    waiting.append((callee, copied))


def _is_repeated(
    search: Search, modules: Mapping[str, Computation], callee: str, copied: str
) -> bool:
    """Return whether a called computation is another than the first and continues none."""
    known = callee != copied and callee in modules and copied in modules
    return known and copied not in search.computations.partners
