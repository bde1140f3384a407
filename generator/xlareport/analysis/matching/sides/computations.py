"""Which computation continues which, before any instruction is looked at."""

from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

from msgspec import Struct, field

from xlareport.analysis.matching.sides.clones import only_cloned
from xlareport.analysis.matching.sides.contents import Contents, stem
from xlareport.analysis.matching.sides.facts import Literal, facts_of, literal_of, live_computations
from xlareport.analysis.matching.sides.graph import CallSites
from xlareport.analysis.matching.sides.leftovers import left_over
from xlareport.analysis.matching.sides.renumbered import renumbered
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.grouping import sole_pairs

_FILLS = frozenset({"bitcast", "broadcast", "convert", "reshape"})
_ALIKE = 0.5
"""Share of common opcodes from which two computations of the same name count as the same."""


def _refilled(old: Computation, new: Computation) -> set[Instruction]:
    """Return the moves of constants that have the name of another value in the old computation.

    No pass changes a constant in place: the names were numbered anew.
    """
    waiting = [
        line
        for literal, lines in facts_of(new).constants.items()
        for line in lines
        if literal[0] == "constant" and _names_another(old.by_name.get(line.name), literal)
    ]
    for line in waiting:
        waiting += [user for user in new.users.get(line.name, ()) if user.opcode in _FILLS]
    return set(waiting)


def _names_another(line: Instruction | None, literal: Literal) -> bool:
    return line is not None and line.opcode == literal[0] and literal_of(line) != literal


class Correspondence(Struct):
    """The computations of two modules, as far as they differ."""

    before: dict[str, Computation]
    """Computations of the old module that are not identical in both, by name."""
    after: dict[str, Computation]
    pairs: dict[str, str]
    """Old to new name of computations that differ but continue each other; see `pair`."""
    opened: frozenset[str]
    """Names of computations that are analyzed as if inlined, on both sides."""
    unsteady: frozenset[str]
    """Opened computations that have more call sites on one side than on the other."""
    partners: dict[str, str] = field(default_factory=dict)
    """The same by name after."""
    left: frozenset[str] = frozenset()
    """Those before that stay as they are, without callers, and may continue as others."""

    def __post_init__(self) -> None:
        """Index the pairs in the other direction."""
        self.partners = {new: old for old, new in self.pairs.items()}

    def pair(self, old: str, new: str) -> None:
        """Note that a computation continues another."""
        self.pairs[old] = new
        self.partners[new] = old

    @property
    def most_lines(self) -> int:
        """The lines in differing computations, on the side that has more."""
        sides = (self.before.values(), self.after.values())
        return max(sum(len(computation.instructions) for computation in side) for side in sides)

    def steady(self, name: str) -> bool:
        """Return whether a paired old computation has as many call sites on both sides."""
        return name not in self.unsteady and self.pairs[name] not in self.unsteady

    def kept(self, name: str, other: str) -> frozenset[Instruction]:
        """Return the lines that two paired computations share, apart from fills of other values."""
        old, new = self.before[name], self.after[other]
        shared = frozenset(old.instructions) & frozenset(new.instructions)
        return shared - _refilled(old, new) - frozenset(renumbered(old, new, shared))

    def left_over(self, name: str) -> frozenset[Instruction]:
        """Return the heavy lines of a paired computation that are there after, but unread."""
        return left_over(self.before[name], self.after[self.pairs[name]])


def correspond(
    before: HloModule,
    after: HloModule,
    sites: tuple[CallSites, CallSites],
    contents: tuple[Contents, Contents],
    *,
    same_program: bool = True,
) -> Correspondence:
    """Find the computations that differ; pair them by name, entry computations, and moved ones.

    Names tell nothing of two programs: each numbers its computations by itself. They tell nothing
    of a computation that lost its callers either: a fusion pass built on it, and used the result
    elsewhere. A body that stays without callers as it is counts as one that differs: what is called
    instead may continue it.
    """
    abandoned = live_computations(before) - live_computations(after)
    new = {
        computation.name: computation
        for computation in after.computations
        if before.by_name.get(computation.name) is not computation
    }
    left = frozenset(
        name for name in abandoned & after.by_name.keys() - new.keys() if _is_body(sites[0], name)
    )
    old = {
        computation.name: computation
        for computation in before.computations
        if after.by_name.get(computation.name) is not computation or computation.name in left
    }
    named = old.keys() & new.keys() - abandoned if same_program else ()
    pairs = {name: name for name in old if name in named and _alike(old[name], new[name])}
    first, second = before.entry, after.entry
    if first is not None and second is not None and first.name in old and second.name in new:
        entries = (first.name, second.name)
        pairs = {name: name for name in pairs if name not in entries} | {first.name: second.name}
    shared = [
        [name for name in side if other.by_name.get(name) is None and _goes_on(calls, name)]
        for side, other, calls in ((old, after, sites[0]), (new, before, sites[1]))
    ]
    pairs |= _same_contents(shared[0], shared[1], contents)
    if not same_program:
        opened = frozenset(
            name for calls in sites for name in calls.by_callee if calls.transparent(name)
        )
        return Correspondence(old, new, pairs, opened, opened)
    once, unsteady = _opened(old, new, pairs, sites)
    cloned = only_cloned((before, after), sites, contents)
    opened = (once | unsteady) - cloned
    return Correspondence(old, new, pairs, opened, unsteady - cloned, left=left)


def _is_body(calls: CallSites, name: str) -> bool:
    """Return whether loops or conditionals call a computation."""
    sites = calls.by_callee.get(name, ())
    return any(call.instruction.opcode in ("conditional", "while") for _, call in sites)


def _goes_on(calls: CallSites, name: str) -> bool:
    """Return whether a computation may have another name on the other side.

    One that a single fusion calls is compared by what it holds: fusions are made and merged.
    """
    count = calls.transparent(name)
    sites = calls.by_callee.get(name, ())
    return count > 1 or any(call.instruction.opcode == "call" for _, call in sites[:count])


def _opened(
    old: Mapping[str, Computation],
    new: Mapping[str, Computation],
    pairs: Mapping[str, str],
    sites: tuple[CallSites, CallSites],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the differing computations called once, and those called more on one side."""
    once, unsteady = set(), set()
    partners = {name: other for other, name in pairs.items()}
    called = [(name, pairs.get(name, name)) for name in sites[0].by_callee]
    called += [(partners.get(name, name), name) for name in sites[1].by_callee]
    for name, other in dict.fromkeys(called):
        counts = sites[0].transparent(name), sites[1].transparent(other)
        if counts[0] != counts[1]:
            unsteady |= {name, other}
        elif counts[0] == 1 and (name in old or other in new):
            once |= {name, other}
    return frozenset(once), frozenset(unsteady)


def _alike(computation: Computation, other: Computation) -> bool:
    first, second = Counter(facts_of(computation).opcodes), Counter(facts_of(other).opcodes)
    return (first & second).total() >= _ALIKE * min(first.total(), second.total())


def pair_contents(
    correspondence: Correspondence,
    sites: tuple[CallSites, CallSites],
    contents: tuple[Contents, Contents],
) -> None:
    """Pair closed computations that were only renamed, if there is exactly one candidate.

    Among several with equal contents, such as reduction bodies, the callers decide.
    """
    old, new = (
        list(_keyed(unpaired(correspondence, here), sites[here], contents[here])) for here in (0, 1)
    )
    for name, other in sole_pairs(old, new):
        correspondence.pair(name, other)


def unpaired(correspondence: Correspondence, here: int) -> list[str]:
    """Return the closed computations of a side that have no partner."""
    differing = (correspondence.before, correspondence.after)[here]
    paired = (correspondence.pairs, correspondence.partners)[here]
    return [name for name in differing if name not in paired and name not in correspondence.opened]


def _keyed(
    names: Iterable[str], sites: CallSites, contents: Contents
) -> Iterator[tuple[Hashable, str]]:
    """Yield (key, name) of each computation; without callers, the key includes the name stem."""
    for name in names:
        token = contents.of(name)
        if token != UNKNOWN:
            known = "" if name in sites.by_callee else stem(name)
            yield (token, known), name


def _same_contents(
    old: Iterable[str], new: Iterable[str], contents: tuple[Contents, Contents]
) -> dict[str, str]:
    """Pair computations with equal contents, those with equal name stems first, then in order."""
    waiting: dict[object, deque[str]] = {}
    for name in old:
        token = contents[0].of(name)
        for key in (token, (token, stem(name))):
            waiting.setdefault(key, deque()).append(name)
    result: dict[str, str] = {}
    for name in new:
        token = contents[1].of(name)
        for key in ((token, stem(name)), token):
            best = _next_free(waiting.get(key), result)
            if best is not None:
                result[best] = name
                break
    return result


def _next_free(waiting: deque[str] | None, taken: Collection[str]) -> str | None:
    """Remove names from the queue until one is not in `taken`, and return it; else None."""
    while waiting:
        name = waiting.popleft()
        if name not in taken:
            return name
    return None
