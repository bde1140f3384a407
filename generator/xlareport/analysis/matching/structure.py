"""Pairs heavy instructions by what stands around them, where a pass rewrote and renamed all between.

Arguments, results and what is already paired are landmarks; each pair found is one more. What two
instructions have around them in common is weighed by how few others have it.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xlareport.analysis.matching.families import family_of
from xlareport.analysis.matching.frames import called
from xlareport.analysis.matching.graph import Node
from xlareport.analysis.matching.nodes import is_free, name_in_computation, origin
from xlareport.analysis.matching.search import Search, Side
from xlareport.analysis.matching.surroundings import Neighbor, Surroundings
from xlareport.analysis.pairing import Grade

_STRUCTURE, _ORIGIN, _NAME, _FORM, _ATTRIBUTES = 1.0, 1.5, 1.0, 0.5, 0.25
"""Weights of what two instructions have in common, before they are divided by how many have it."""

_CLEAR = 0.15
"""By how much the best candidate must be better than the next."""
_ENOUGH = 0.15
"""The least likeness of a pair."""
_MOST_ALIKE = 24
"""Instructions of one side with one feature, above which the feature brings no candidates."""
_MOST_ROUNDS = 200

_Features = dict[Hashable, float]


def heavy_by_structure(search: Search) -> None:
    """Pair heavy instructions that have the same neighbors, and no others the same."""
    open_nodes = _open(search.before), _open(search.after)
    families = {family for family, _ in open_nodes[0]} & {family for family, _ in open_nodes[1]}
    nodes = [[node for family, node in side if family in families] for side in open_nodes]
    if families:
        _Structure(search, nodes[0], nodes[1]).run()


def _open(side: Side) -> list[tuple[str, Node]]:
    found = []
    for node in side.nodes:
        family = family_of(node.instruction) if node.partner is None else None
        if family is not None:
            found.append((family, node))
    return found


@dataclass(slots=True)
class _Heavy:
    """The open heavy instructions of one side, in order."""

    nodes: list[Node]
    neighbors: dict[Node, list[Neighbor]]
    own: dict[Node, _Features]
    """What does not change with what is paired."""
    features: dict[Node, _Features] = field(default_factory=dict)
    holders: dict[Hashable, list[Node]] = field(default_factory=dict)
    """Nodes by feature."""


class _Structure:
    def __init__(self, search: Search, before: list[Node], after: list[Node]) -> None:
        self._search = search
        self._sides = tuple(
            _Heavy(nodes, _neighbors(side, nodes), self._own_features(nodes))
            for side, nodes in ((search.before, before), (search.after, after))
        )

    def run(self) -> None:
        """Pair what is clear; where nothing is, what order alone decides; until nothing is left."""
        for _ in range(_MOST_ROUNDS):
            likeness = self._likeness()
            if not (self._pair_clear(likeness) or self._pair_in_order(likeness)):
                return
            self._forget_paired()

    def _own_features(self, nodes: Sequence[Node]) -> dict[Node, _Features]:
        return {node: self._own(node) for node in nodes}

    def _own(self, node: Node) -> _Features:
        form = self._search.forms.of(node.instruction)
        said = origin(node)
        found: _Features = {
            ("form", form): _FORM,
            ("opcode", form.opcode): _ATTRIBUTES,
            ("attributes", form.opcode, form.attributes): _ATTRIBUTES,
            ("dimensions", _dimensions(node)): _FORM,
            ("name", name_in_computation(node)): _NAME,
        }
        if said:
            found["origin", said] = _ORIGIN
        return found

    def _likeness(self) -> dict[Node, dict[Node, float]]:
        """Return how alike open nodes are, from 0 to 1, as far as they have anything rare alike."""
        for number, side in enumerate(self._sides):
            self._describe(number, side)
        weights = [self._weights(side) for side in self._sides]
        before, after = self._sides
        found: dict[Node, dict[Node, float]] = {}
        for node in before.nodes:
            shared = self._shared(node, before.features[node])
            if shared:
                found[node] = {
                    other: 2 * weight / (weights[0][node] + weights[1][other])
                    for other, weight in shared.items()
                }
        return found

    def _shared(self, node: Node, features: _Features) -> Mapping[Node, float]:
        """Return what a node shares with each candidate, weighed."""
        before, after = self._sides
        family = family_of(node.instruction)
        candidates: dict[Node, float] = {}
        for feature in features:
            others = after.holders.get(feature, ())
            if len(others) <= _MOST_ALIKE and len(before.holders[feature]) <= _MOST_ALIKE:
                for other in others:
                    if family_of(other.instruction) == family:
                        candidates[other] = 0.0
        for other in candidates:
            theirs = after.features[other]
            candidates[other] = sum(
                min(weight, theirs[feature]) / self._commonness(feature)
                for feature, weight in features.items()
                if feature in theirs
            )
        return candidates

    def _commonness(self, feature: Hashable) -> int:
        return max(len(side.holders.get(feature, ())) for side in self._sides)

    def _weights(self, side: _Heavy) -> dict[Node, float]:
        return {
            node: sum(
                weight / self._commonness(feature)
                for feature, weight in side.features[node].items()
            )
            for node in side.nodes
        }

    def _describe(self, number: int, side: _Heavy) -> None:
        side.features = {node: self._features(number, side, node) for node in side.nodes}
        side.holders = defaultdict(list)
        for node in side.nodes:
            for feature in side.features[node]:
                side.holders[feature].append(node)

    def _features(self, number: int, side: _Heavy, node: Node) -> _Features:
        found = dict(side.own[node])
        for neighbor in side.neighbors[node]:
            feature = self._feature(number, neighbor)
            if feature is not None:
                found[feature] = _STRUCTURE
        return found

    def _feature(self, number: int, neighbor: Neighbor) -> Hashable:
        """Return what a neighbor is on both sides; None where it has nothing there."""
        direction, node, place = neighbor
        if node is None:
            name, path = place  # type: ignore[misc]
            known = self._search.computations
            pairs = known.partners if number else known.pairs
            if name not in pairs:
                return None
            return (direction, "result", name if not number else pairs[name], path)
        if node.kept or node.partner is not None:
            return (direction, node.token, place)
        return (direction, family_of(node.instruction))

    def _pair_clear(self, likeness: Mapping[Node, Mapping[Node, float]]) -> bool:
        """Pair those that are most alike, each by far the most like the other."""
        best = _ranked(likeness)
        back = _ranked(_turned(likeness))
        found = False
        for node, (other, value, next_value) in best.items():
            mutual, _, next_back = back[other]
            margin = value - max(next_value, next_back)
            if mutual is node and value >= _ENOUGH and margin >= _CLEAR:
                self._link(node, other, Grade.MATCHED, "the same neighbors and no other has them")
                found = True
        return found

    def _pair_in_order(self, likeness: Mapping[Node, Mapping[Node, float]]) -> bool:
        """Pair, in order, the first group of nodes that are equally alike."""
        best, back = _ranked(likeness), _ranked(_turned(likeness))
        groups: dict[tuple[Node, ...], list[Node]] = {}
        for node, (_, value, _) in best.items():
            if value >= _ENOUGH:
                alike = tuple(o for o, v in likeness[node].items() if v > value - 1e-9)
                groups.setdefault(alike, []).append(node)
        turned = _turned(likeness)
        ready = []
        for others, nodes in groups.items():
            if len(others) != len(nodes):
                continue
            value = best[nodes[0]][1]
            if all(back[o][1] <= value + 1e-9 for o in others):
                margin = value - max(
                    [v for n in nodes for o, v in likeness[n].items() if o not in others]
                    + [v for o in others for n, v in turned[o].items() if n not in nodes]
                    + [0.0]
                )
                ready.append((-(margin + value), nodes, others))
        if not ready:
            return False
        _, nodes, others = min(ready, key=lambda x: x[0])
        order = {node: number for number, node in enumerate(self._sides[1].nodes)}
        grade = Grade.MATCHED if len(nodes) == 1 and best[nodes[0]][1] > 0.5 else Grade.GUESSED
        for node, other in zip(nodes, sorted(others, key=order.__getitem__), strict=True):
            self._link(node, other, grade, "the most alike, in order")
        return True

    def _link(self, node: Node, other: Node, grade: Grade, reason: str) -> None:
        if is_free(node) and is_free(other):
            self._search.link(node, other, grade, reason)

    def _forget_paired(self) -> None:
        for side in self._sides:
            side.nodes = [node for node in side.nodes if node.partner is None]
        called(self._search)


def _neighbors(side: Side, nodes: Sequence[Node]) -> dict[Node, list[Neighbor]]:
    surroundings = Surroundings(side)
    return {node: surroundings.of(node) for node in nodes}


def _dimensions(node: Node) -> Hashable:
    shape = node.instruction.shape
    return shape.text.split("{")[0]


def _turned(likeness: Mapping[Node, Mapping[Node, float]]) -> dict[Node, dict[Node, float]]:
    found: dict[Node, dict[Node, float]] = defaultdict(dict)
    for node, others in likeness.items():
        for other, value in others.items():
            found[other][node] = value
    return found


def _ranked(
    likeness: Mapping[Node, Mapping[Node, float]],
) -> dict[Node, tuple[Node, float, float]]:
    """Return the best candidate of each node, its likeness, and that of the next."""
    found = {}
    for node, others in likeness.items():
        ranked = sorted(others.items(), key=lambda pair: -pair[1])
        found[node] = (*ranked[0], ranked[1][1] if len(ranked) > 1 else 0.0)
    return found
