"""Pairs heavy instructions by their surroundings, where a pass rewrote and renamed the rest.

Each pair is a landmark for the next ones. Clear pairs come first; among instructions that nothing
else distinguishes, the order decides, which is graded as a guess.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from functools import cached_property
from typing import NamedTuple

from xlareport.analysis.matching.rules.frames import called
from xlareport.analysis.matching.rules.heavy.collectives import link_wrapped
from xlareport.analysis.matching.rules.heavy.likeness import Likeness
from xlareport.analysis.matching.search.alike import pairs_in_order
from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.leftovers import unread_heavy
from xlareport.analysis.matching.sides.repeats import most_repeated, without_repeats
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade

_CLEAR = 0.15
"""By how much the best candidate must be better than the next."""
_ENOUGH = 0.15
"""The least likeness of a pair."""
_AT_ONCE = 3
"""Inverse of the share of groups that is paired in order before clear pairs are searched again."""
_EVEN = 1e-9
"""Similarity differences that are due to rounding."""


def heavy_by_structure(search: Search) -> None:
    """Pair heavy instructions by their surroundings until no more can be distinguished."""
    while True:
        count = len(search.links)
        before, after = _open_heavy(search.before), _open_heavy(search.after)
        families = {family_of(node.instruction) for node in before}
        families &= {family_of(node.instruction) for node in after}
        if not families:
            return
        before = [node for node in before if family_of(node.instruction) in families]
        after = [node for node in after if family_of(node.instruction) in families]
        _Structure(search, *_distinct(search, before, after)).run()
        if len(search.links) == count:
            return
        called(search)


def _open_heavy(side: Side) -> list[Node]:
    """Return the unpaired heavy nodes in order, without unread leftovers."""
    heavy = [node for node in side.nodes if node.partner is None and family_of(node.instruction)]
    return [node for node in heavy if node.instruction not in unread_heavy(node.frame.computation)]


def _distinct(
    search: Search, before: list[Node], after: list[Node]
) -> tuple[list[Node], list[Node]]:
    """Leave out nodes that repeat a value more often than the other side does.

    Such repeats are copies of a node or were merged with it; they have no counterpart.
    """
    old, new = search.before.own_values, search.after.own_values
    counts = most_repeated(before, old), most_repeated(after, new)
    return without_repeats(before, old, counts[1]), without_repeats(after, new, counts[0])


class _Best(NamedTuple):
    """The best candidates of a node, all equally good, and the likeness of the next."""

    nodes: tuple[Node, ...]
    likeness: float
    next_likeness: float


class _Structure:
    def __init__(self, search: Search, before: Sequence[Node], after: Sequence[Node]) -> None:
        self._search = search
        self._likeness = Likeness(search, before, after)
        self._open = dict.fromkeys(before)
        self._order = {node: number for number, node in enumerate(after)}
        self._waiting = dict.fromkeys(before)
        """Open nodes before that may have become clear."""

    def run(self) -> None:
        """Link clear pairs, then pairs by order, then the rest by similarity."""
        self._pair_clear()
        while self._pair_in_order() or self._pair_rest():
            self._pair_clear()

    def _pair_clear(self) -> None:
        """Pair nodes that are by far the most similar to each other."""
        while self._waiting:
            node = next(iter(self._waiting))
            del self._waiting[node]
            best = self._best(node) if node in self._open else None
            if best is not None and len(best.nodes) == 1 and self._is_clear(best):
                back = self._best(best.nodes[0])
                if back is not None and back.nodes == (node,) and self._is_clear(back):
                    reason = "the same surroundings, which no other has"
                    self._link(node, best.nodes[0], self._grade(node, best.nodes[0]), reason)

    def _grade(self, node: Node, other: Node) -> Grade:
        """Return the grade of a clear pair: a guess if it depends on other guesses."""
        if not (self._likeness.sees_guesses(node) or self._likeness.sees_guesses(other)):
            return Grade.MATCHED
        for start, end in ((node, other), (other, node)):
            best = self._best(start, without_guesses=True)
            if best is None or best.nodes != (end,) or not self._is_clear(best):
                return Grade.GUESSED
        return Grade.MATCHED

    def _is_clear(self, best: _Best) -> bool:
        return best.likeness - best.next_likeness >= _CLEAR

    def _best(self, node: Node, *, without_guesses: bool = False) -> _Best | None:
        candidates = self._likeness.candidates(node, without_guesses=without_guesses)
        ranked = sorted(candidates.items(), key=lambda pair: -pair[1])
        if not ranked or ranked[0][1] < _ENOUGH:
            return None
        likeness = ranked[0][1]
        even = tuple(other for other, value in ranked if value > likeness - _EVEN)
        further = ranked[len(even)][1] if len(ranked) > len(even) else 0.0
        return _Best(even, likeness, further)

    def _pair_in_order(self) -> bool:
        """Pair groups of equal nodes in order, the most similar first, unless affected."""
        groups = self._groups()
        for best, nodes in groups[: 1 + len(groups) // _AT_ONCE]:
            untouched = not any(node in self._waiting for node in nodes)
            if untouched and all(is_free(node) for node in (*nodes, *best.nodes)):
                self._link_group(nodes, best)
        return bool(groups)

    def _pair_rest(self) -> bool:
        """Pair the most similar nodes of the same framework op, the clearest first."""
        ranked = [(best, node) for node in self._open if (best := self._best(node)) is not None]
        ranked.sort(key=lambda pair: pair[0].next_likeness - pair[0].likeness)
        count = len(self._open)
        for best, node in ranked:
            other = best.nodes[0]
            back = self._best(other) if is_free(node) and is_free(other) else None
            mutual = back is not None and node in back.nodes
            if mutual and origin(node) and origin(node) == origin(other):
                self._link(node, other, Grade.GUESSED, "the most alike of one framework op")
        return len(self._open) < count

    def _groups(self) -> list[tuple[_Best, list[Node]]]:
        """Return groups of nodes with equally similar candidates, the clearest first."""
        groups: dict[tuple[Node, ...], list[Node]] = {}
        bests: dict[Node, _Best] = {}
        for node in self._open:
            best = self._best(node)
            if best is not None:
                bests[node] = best
                groups.setdefault(tuple(sorted(best.nodes, key=self._place)), []).append(node)
        ready = [
            (bests[nodes[0]]._replace(nodes=others), nodes)
            for others, nodes in groups.items()
            if len(others) == len(nodes) and self._is_mutual(nodes, others)
        ]
        return sorted(ready, key=lambda group: group[0].next_likeness - 2 * group[0].likeness)

    def _place(self, node: Node) -> int:
        return self._order[node]

    def _is_mutual(self, nodes: Collection[Node], others: Collection[Node]) -> bool:
        """Return whether the nodes are the best candidates for the others."""
        wanted = set(nodes)
        back = (self._best(other) for other in others)
        return all(best is not None and wanted.issuperset(best.nodes) for best in back)

    def _link_group(self, nodes: Sequence[Node], best: _Best) -> None:
        alone = len(nodes) == 1
        reason = "the most alike surroundings" if alone else "equal surroundings, in order"
        for node, other in pairs_in_order(self._search, nodes, best.nodes):
            self._link(node, other, Grade.GUESSED, reason)

    @cached_property
    def _works(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """How many differing instructions of each module are of one framework op and form."""
        old, new = (
            Counter(self._work(node) for node in side.nodes if family_of(node.instruction))
            for side in (self._search.before, self._search.after)
        )
        return old, new

    def _work(self, node: Node) -> Hashable:
        """Return a node's framework op, opcode and attributes; None without a framework op."""
        form, op_name = self._search.forms.of(node.instruction), origin(node)
        return (op_name, form.opcode, form.attributes) if op_name else None

    def _is_sole(self, node: Node, other: Node) -> bool:
        """Return whether two nodes alone are of their framework op, opcode and attributes.

        Two matmuls of one op differ in the dimensions that they sum over, as in a backward pass.
        """
        work = self._work(node)
        alike = work is not None and work == self._work(other)
        return alike and all(works[work] == 1 for works in self._works)

    def _link(self, node: Node, other: Node, grade: Grade, reason: str) -> None:
        if grade is Grade.GUESSED and self._is_sole(node, other):
            grade, reason = Grade.MATCHED, "the only one of its framework op and attributes"
        if not link_wrapped(self._search, node, other, grade, reason):
            self._search.link(node, other, grade, reason)
        del self._open[node]
        if grade is Grade.GUESSED:
            self._likeness.guess(node, other)
        touched = self._likeness.pair(node, other)
        self._waiting |= dict.fromkeys(near for near in touched if near in self._open)
