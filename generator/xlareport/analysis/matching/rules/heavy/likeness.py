"""Similarity of heavy instructions of two modules, by their form and their surroundings.

Each instruction has features; a common feature counts more the rarer it is. Arguments, results and
paired instructions are landmarks that are the same on both sides.
"""

from collections.abc import Hashable, Iterator, Sequence

from xlareport.analysis.matching.rules.heavy.sliced_reads import read_other_rows, rows_read
from xlareport.analysis.matching.rules.heavy.surroundings import Neighbor, Surroundings
from xlareport.analysis.matching.search.nodes import name_in_computation, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.depths import greatest
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.stacks import stack_of
from xlareport.knowledge.grades import Grade

_NEIGHBOR, _ORIGIN, _NAME, _FORM, _PART_OF_FORM = 1.0, 1.5, 1.0, 0.5, 0.25
_DEPTH = _LINE = 0.75
_TARGET = 1.0
"""Weights of features, before they are divided by how many instructions have them."""

_HALVING = 12.0
"""The distance at which a neighbor counts half."""
_MOST_ALIKE = 24
"""Instructions of one side with a feature, above which it is not used to find candidates."""

_FAMILIES_OF = {
    "permutes": frozenset({"collective", "product"}),
    "indexing": frozenset({"gather", "scatter"}),
}
"""Families of instructions for which each further depth is compared."""

_Features = dict[Hashable, float]


class _Index:
    """The features of one side's unpaired heavy instructions, and an index of them."""

    def __init__(self, search: Search, side: Side, nodes: Sequence[Node]) -> None:
        self._search = search
        self._is_before = side is search.before
        self._values = side.values
        surroundings = Surroundings(side)
        module = side.graph.module
        self._frames = module.stack_frames if search.parted is None else {}
        """Of one program; lines of another are others after an edit."""
        self._depths = side.depths
        self._further = {kind: side.further_depths[kind] for kind in _comparable(search)}
        self._neighbors = {node: surroundings.of(node) for node in nodes}
        self._own = {node: self._own_features(node) for node in nodes}
        self.rows = {node: rows_read(side, node) for node in nodes}
        self.features: dict[Node, _Features] = {}
        self.holders: dict[Hashable, dict[Node, None]] = {}
        self.viewers: dict[Node, list[Node]] = {}
        """Which open instructions have a node as a neighbor."""
        for node in nodes:
            for neighbor in self._neighbors[node]:
                if neighbor.node is not None:
                    self.viewers.setdefault(neighbor.node, []).append(node)
            self.add(node)

    def add(self, node: Node) -> None:
        """Enter the features that a node has now."""
        features = dict(self._own[node])
        for neighbor in self._neighbors[node]:
            feature = self._feature(neighbor)
            if feature is not None:
                weight = _NEIGHBOR * _HALVING / (_HALVING + neighbor.distance)
                features[feature] = max(weight, features.get(feature, 0.0))
        self.features[node] = features
        for feature in features:
            self.holders.setdefault(feature, {})[node] = None

    def drop(self, node: Node) -> None:
        """Forget the features of a node."""
        for feature in self.features.pop(node, ()):
            del self.holders[feature][node]

    def _own_features(self, node: Node) -> _Features:
        """Return the features of a node apart from its surroundings."""
        form = self._search.forms.of(node.instruction)
        features: _Features = {
            ("form", form): _FORM,
            ("shape", form.shape): _FORM,
            ("opcode", form.opcode): _PART_OF_FORM,
            ("attributes", form.opcode, form.attributes): _PART_OF_FORM,
            ("name", name_in_computation(node)): _NAME,
        }
        family, (above, below) = family_of(node.instruction), self._depths[node]
        features["above", family, above] = features["below", family, below] = _PART_OF_FORM
        features["between", family, above, below] = _DEPTH
        for kind, depths in self._further.items():
            if family not in _FAMILIES_OF[kind]:
                continue
            ahead, behind = depths[node]
            features["above", kind, ahead] = features["below", kind, behind] = _PART_OF_FORM
            features["between", kind, ahead, behind] = _DEPTH
        if node.instruction.call_target:
            features["target", node.instruction.call_target] = _TARGET
        op_name = origin(node)
        if op_name:
            features["op_name", op_name] = _ORIGIN
            frame = self._frames.get(node.instruction.metadata.stack_frame_id or 0)
            if frame is not None:
                features["frame", op_name, frame.file, frame.line, frame.column] = _LINE
                features["stack", op_name, stack_of(node)] = _LINE
        return features

    def _feature(self, neighbor: Neighbor) -> Hashable:
        """Return a key for a neighbor that is valid on both sides; None if it has none."""
        node = neighbor.node
        if node is None:
            result = self._result(neighbor.computation)
            return result and (neighbor.direction, "result", result, neighbor.path)
        if node.kept:
            return (neighbor.direction, name_in_computation(node), neighbor.path)
        if node.partner is not None:
            # A loop that lost an element numbers those behind it anew.
            element = self._values.element(node, neighbor.path)
            return (neighbor.direction, node.token, self._search.of_one_index.get(element, element))
        family = family_of(node.instruction)
        return None if family == "collective" else (neighbor.direction, family)

    def _result(self, computation: str) -> str | None:
        """Return the name before of a computation that continues."""
        known = self._search.computations
        if not self._is_before:
            return known.partners.get(computation)
        return computation if computation in known.pairs else None


def _comparable(search: Search) -> list[str]:
    """Return the kinds of instruction whose longest chain is equally long in both modules."""
    old, new = search.before.further_depths, search.after.further_depths
    return [kind for kind in old if kind in new and greatest(old[kind]) == greatest(new[kind])]


class Likeness:
    """Compares unpaired heavy instructions of both sides."""

    def __init__(self, search: Search, before: Sequence[Node], after: Sequence[Node]) -> None:
        self._before = _Index(search, search.before, before)
        self._after = _Index(search, search.after, after)
        self._parted = search.divides_otherwise
        links = (link for link in search.links if link.grade is Grade.GUESSED)
        self._guessed = {link.before.token for link in links}
        self._taken: tuple[dict[Node, _Features], dict[Node, _Features]] = ({}, {})
        """Nodes that were paired by guesses, old and new, with the features that they had."""

    def candidates(self, node: Node, *, without_guesses: bool = False) -> dict[Node, float]:
        """Return candidates for a node on the other side, with similarities from 0 to 1.

        `without_guesses` ignores guessed pairs, both as landmarks and as used candidates.
        """
        is_before = node in self._before.features
        here, there = (self._before, self._after) if is_before else (self._after, self._before)
        features = self._counting(here.features[node], without_guesses)
        family = family_of(node.instruction)
        others = dict.fromkeys(self._rare(features, here, there))
        weight = self._weight(features)
        taken = self._taken[is_before] if without_guesses else {}
        likeness: dict[Node, float] = {}
        for other in (*others, *taken):
            if family_of(other.instruction) != family:
                continue
            parted = read_other_rows(here.rows[node], there.rows[other])
            parted = parted or self._parted(*((node, other) if is_before else (other, node)))
            if not parted:
                known = there.features[other] if other in others else taken[other]
                theirs = self._counting(known, without_guesses)
                shared = self._shared(features, theirs)
                likeness[other] = 2 * shared / (weight + self._weight(theirs))
        return likeness

    def sees_guesses(self, node: Node) -> bool:
        """Whether a node has a landmark that was guessed."""
        index = self._before if node in self._before.features else self._after
        return any(self._is_guess(feature) for feature in index.features[node])

    def guess(self, before: Node, after: Node) -> None:
        """Note that a pair is a guess; called before the pair is linked."""
        self._guessed.add(before.token)
        self._taken[False][before] = self._before.features[before]
        self._taken[True][after] = self._after.features[after]

    def _counting(self, features: _Features, without_guesses: bool) -> _Features:  # noqa: FBT001 - passed on
        if not without_guesses:
            return features
        return {key: weight for key, weight in features.items() if not self._is_guess(key)}

    def _is_guess(self, feature: Hashable) -> bool:
        return isinstance(feature, tuple) and feature[1] in self._guessed

    def _rare(self, features: _Features, here: _Index, there: _Index) -> Iterator[Node]:
        """Yield nodes that share a rare feature."""
        for feature in features:
            ours, theirs = here.holders.get(feature, ()), there.holders.get(feature, ())
            if len(ours) <= _MOST_ALIKE and len(theirs) <= _MOST_ALIKE:
                yield from theirs

    def _shared(self, ours: _Features, theirs: _Features) -> float:
        return sum(
            min(weight, theirs[feature]) / self._commonness(feature)
            for feature, weight in ours.items()
            if feature in theirs
        )

    def _weight(self, features: _Features) -> float:
        return sum(weight / self._commonness(feature) for feature, weight in features.items())

    def _commonness(self, feature: Hashable) -> int:
        ours, theirs = self._before.holders.get(feature, ()), self._after.holders.get(feature, ())
        return max(len(ours), len(theirs), 1)

    def pair(self, before: Node, after: Node) -> list[Node]:
        """Take a new pair for a landmark; return the open nodes before that may be clearer now."""
        self._before.drop(before)
        self._after.drop(after)
        touched: dict[Node, None] = {}
        for index, node in ((self._before, before), (self._after, after)):
            for viewer in index.viewers.get(node, ()):
                if viewer in index.features:
                    index.drop(viewer)
                    index.add(viewer)
                    touched.update(self._closest(viewer, index))
        return list(touched)

    def _closest(self, viewer: Node, index: _Index) -> dict[Node, None]:
        """Return an old node itself, or the old candidates for a new node."""
        if index is self._before:
            return {viewer: None}
        return dict.fromkeys(self._rare(index.features[viewer], self._after, self._before))
