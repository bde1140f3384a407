"""Moves that were removed from between a value and its users, or inserted there.

The module before and the module after show that by themselves, however much else was rewritten.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from xlareport.analysis.matching.account.reads import has_other_operands, read_place
from xlareport.analysis.matching.search.nodes import (
    is_root,
    node_after,
    node_before,
    place_of,
    read_at,
    target_of,
)
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.families import JOIN
from xlareport.analysis.matching.sides.graph import Node, opened_root
from xlareport.analysis.matching.sides.passed import (
    dimensions_of,
    passed_operand,
    values_behind,
)
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import COMMUTATIVE, REARRANGEMENTS
from xlareport.runtime.grouping import group_by_key

_LONGEST = 32
"""Moves in a row that are looked through."""
_BOTH = (0, 1)
_CONTINUING = frozenset(
    {
        Relation.CLONED,
        Relation.MERGED,
        Relation.REPLACED,
        Relation.REWRITTEN,
        Relation.SAME,
        Relation.SWAPPED,
    }
)
"""Relations whose new instructions do each the work of the first old one."""
_INSERTED = REARRANGEMENTS | {"convert"}
_NUMBERED = frozenset({"broadcast", "convolution", "dot", "gather", "reduce", "scatter"})
"""Opcodes whose attributes number the dimensions of their operands."""
_EXCHANGED = frozenset({("divide", "multiply")})
"""Operations by a constant that became others by another constant."""
_TRANSFERS = frozenset(
    {"async-done", "async-start", "bitcast", "copy", "copy-done", "copy-start", "slice-done"}
)
"""Opcodes that bring values to other memories; a `ConcatBitcast` joins what slices brought."""


def passed_values(search: Search, pairings: Collection[Pairing]) -> set[Place]:
    """Return the places before of moves that were removed, and those after of inserted moves.

    The users of a removed move read the value that it passed on. So do those of operations that
    change nothing, such as a multiply by 1, and these have no other use of their constants.
    """
    removals, insertions = _Removals(search, pairings), _Insertions(search, pairings)
    places = {*_all_passed(search.before, removals.gone, removals.is_passed)}
    places.update(_all_passed(search.after, insertions.new, insertions.is_inserted))
    places.update(insertions.holders(places))
    return places


class _Removals:
    """Which removed nodes only passed on a value that their users read now."""

    def __init__(self, search: Search, pairings: Collection[Pairing]) -> None:
        self._search = search
        self._known: dict[Node, bool] = {}
        relations = {place: known for known in pairings for place in known.before}
        self.gone = _places(pairings, Relation.REMOVED)
        self._expanded = {
            place for place, known in relations.items() if known.relation is Relation.EXPANDED
        }

    def is_passed(self, node: Node) -> bool:
        """Return whether a removed node passed on what is read now, or was only read by such."""
        if node not in self._known:
            self._known[node] = False
            self._known[node] = self._passes_on(node) or self._is_for_passed(node)
        return self._known[node]

    def _passes_on(self, node: Node) -> bool:
        sources = [*self._sources(node)]
        if not sources:
            return False
        verdicts = [self._reads_source(*use, sources) for use in self._readers(node)]
        return True in verdicts and False not in verdicts

    def _sources(self, node: Node) -> Iterator[tuple[Node, Node]]:
        """Yield the values that a node passes on, each with its counterpart, from the nearest."""
        for source, path in values_behind(self._search.before, (node, ())):
            after = None if path else node_after(self._search, source)
            if after is not None:
                yield source, after

    def _readers(self, node: Node) -> Iterator[tuple[Node, int]]:
        """Yield the users of a node, behind removed nodes that pass it on."""
        waiting = [node]
        for passed in waiting:
            for user, place in self._search.before.users.get(passed, ()):
                further = place_of(user) in self.gone and user.partner is None
                if further and passed_operand(self._search.before, user) == place:
                    waiting.append(user)
                else:
                    yield user, place

    def _reads_source(
        self, user: Node, place: int, sources: Collection[tuple[Node, Node]]
    ) -> bool | None:
        """Return whether a user reads one of the sources now; None if it is dead."""
        partner = user.partner
        if partner is None:
            if place_of(user) in self._expanded:
                return True
            return False if place_of(user) in self.gone else None
        read = read_at(self._search.before, user, place)
        if read is None or has_other_operands(user, partner):
            return False
        now = read_at(self._search.after, partner, read_place(self._search, read, user, place))
        now = None if now is None else behind_transfers(self._search.after, now)
        pairs = (pair for pair in sources if now is not None and self._continues(*pair, now))
        source = next(pairs, (None,))[0]
        if source is None or now is None:
            return False
        return (
            dimensions_of(read) == dimensions_of(source)
            or (_numbers_dimensions(user) and self._keeps_dimensions(user, partner))
            or (_numbers_dimensions(source) and self._keeps_dimensions(read, now))
        )

    def _continues(self, source: Node, after: Node, now: Node) -> bool:
        """Return whether what is read now is the counterpart of a value, or a copy of that."""
        copied = self._search.copies.get(now, (None,))[0]
        return now is after or now.token == after.token or copied is source

    def _keeps_dimensions(self, node: Node, other: Node) -> bool:
        """Return whether a new result has the dimensions of an old one, or a device's share."""
        before, after = dimensions_of(node), dimensions_of(other)
        if not self._search.divided:
            return before == after
        pairs = zip(before, after, strict=False)
        return len(before) == len(after) and all(
            old == new or (old and new and old % new == 0) for old, new in pairs
        )

    def _is_for_passed(self, node: Node) -> bool:
        """Return whether a constant is only read by removed nodes that pass another value on."""
        users = [user for user, _ in self._search.before.users.get(node, ())]
        return node.constant and bool(users) and all(map(self._needs_no_constant, users))

    def _needs_no_constant(self, user: Node) -> bool:
        """Return whether a user is another operation now, or passed another value on."""
        partner = user.partner
        if partner is not None:
            return (user.instruction.opcode, partner.instruction.opcode) in _EXCHANGED
        if place_of(user) in self._expanded:
            return True
        return place_of(user) in self.gone and self.is_passed(user)


class _Insertions:
    """Which new moves are between a value and a user that read that value before."""

    def __init__(self, search: Search, pairings: Collection[Pairing]) -> None:
        self._search = search
        self.new = _places(pairings, Relation.ADDED)
        self._originals = {
            place: known.before[0]
            for known in pairings
            if known.before and known.relation in _CONTINUING
            for place in known.after
        }
        self._before: Mapping[Place, list[Node]] = group_by_key(
            (place_of(node), node) for node in search.before.open()
        )

    def is_inserted(self, node: Node) -> bool:
        """Return whether all users of a new move read, before, what it moves."""
        source = self._source(node)
        uses = [*self._uses(node)]
        if source is None or not uses:
            return False
        return all(self._read_before(source, user, place) for user, place in uses)

    def _source(self, node: Node) -> Node | None:
        """Return what a chain of new moves moves, in the module before."""
        for _ in range(_LONGEST):
            node = behind_transfers(self._search.after, node)
            if not self._is_move(node):
                return self._original(node)
            operands = self._search.after.graph.operands(node)
            if len(operands) != 1 or operands[0][1]:
                return None
            node = operands[0][0]
        return None

    def _is_move(self, node: Node) -> bool:
        return node.instruction.opcode in _INSERTED and place_of(node) in self.new

    def _uses(self, node: Node) -> Iterator[tuple[Node, int]]:
        """Yield the users of a move, behind further new moves; not the fusion that it is in."""
        waiting = [node]
        for move in waiting:
            for user, place in self._search.after.users.get(move, ()):
                if self._is_move(user):
                    waiting.append(user)
                elif is_root(user) or opened_root(user) is not move:
                    yield user, place

    def _original(self, node: Node) -> Node | None:
        """Return the instruction before that a node continues, or is a further copy of."""
        known = node_before(self._search, node)
        if known is None:
            place = self._originals.get(place_of(node))
            known = None if place is None else next(iter(self._before.get(place, ())), None)
        return known

    def _read_before(self, source: Node, user: Node, place: int) -> bool:
        """Return whether what a user was read a value, or that behind moves."""
        original = self._original(user)
        if original is None or has_other_operands(original, user):
            return False
        places = _BOTH if original.instruction.opcode in COMMUTATIVE else (place,)
        reads = (read_at(self._search.before, original, number) for number in places)
        return any(read is not None and self._passes_on(read, source) for read in reads)

    def _passes_on(self, read: Node, source: Node) -> bool:
        """Return whether an instruction is a value, or has its elements."""
        behind = (node for node, path in values_behind(self._search.before, (read, ())) if not path)
        return read is source or source in behind

    def holders(self, places: Collection[Place]) -> Iterator[Place]:
        """Yield the new fusions and calls in which every instruction is one of these moves."""
        for frame in self._search.after.graph.frames:
            holder = frame.caller
            if holder is None or place_of(holder) not in self.new:
                continue
            lines = frame.computation.instructions
            moves = [line.name for line in lines if line.opcode != "parameter"]
            if moves and all(Place(frame.computation.name, name) in places for name in moves):
                yield place_of(holder)


def _places(pairings: Collection[Pairing], relation: Relation) -> Mapping[Place, Pairing]:
    """Return the pairings of a relation without a cause, by their only place."""
    return {
        (known.before or known.after)[0]: known
        for known in pairings
        if known.relation is relation and known.cause is None
    }


def _all_passed(
    side: Side, places: Collection[Place], holds: Callable[[Node], bool]
) -> Iterator[Place]:
    """Yield the places of which every node, one for each call of its computation, holds."""
    nodes = group_by_key((place_of(node), node) for node in side.open())
    for place in places:
        if place in nodes and all(map(holds, nodes[place])):
            yield place


def _numbers_dimensions(node: Node) -> bool:
    """Return whether an operation states by itself which dimensions of its operands it uses."""
    return node.instruction.opcode in _NUMBERED


def behind_transfers(side: Side, node: Node) -> Node:
    """Return what new copies between memories, and bitcasts of these, have the value of."""
    for _ in range(_LONGEST):
        operands = side.graph.operands(node)
        if node.partner is not None or node.kept or not operands or not _transfers(node):
            break
        node = operands[0][0]
    return node


def _transfers(node: Node) -> bool:
    return node.instruction.opcode in _TRANSFERS or target_of(node) == JOIN
