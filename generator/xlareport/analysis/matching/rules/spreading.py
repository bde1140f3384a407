"""Extends links from linked nodes to their operands and users."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator

from xlareport.analysis.matching.rules.movement.moved_copies import (
    is_done_again,
    is_done_on_turned,
)
from xlareport.analysis.matching.rules.no_ops import (
    behind_identity,
    behind_idle_bitcasts,
    behind_neutral,
    behind_no_op,
)
from xlareport.analysis.matching.rules.replaced_users import replaces_another_user
from xlareport.analysis.matching.rules.shares import is_resharding, may_be_share
from xlareport.analysis.matching.rules.sources import (
    COLLECTIVE,
    are_moves_of_op,
    behind_collectives,
    behind_share,
    copy_behind,
    crossed_copies,
    has_like_behind,
    move_laid_out,
    passed_by,
    same_move_behind,
    sources_behind,
    work_behind,
    works_on_moved,
)
from xlareport.analysis.matching.rules.stand_ins import (
    PASSING,
    are_of_reordered,
    are_placed,
    are_reordered,
    could_do_its_work,
    is_behind_moves,
    is_masked_part,
    is_moved_by_copy,
    is_read_as_another,
    is_reshaped,
    is_retyped,
    is_turned_by_constant,
    is_work_behind,
    keep_places,
    may_be_resized,
    moves_same,
    needs_constant,
    only_gathers,
    reads_added,
    start_loops,
    start_now,
    was_evaluated,
)
from xlareport.analysis.matching.rules.user_keys import SHARED, UserKeys
from xlareport.analysis.matching.search.nodes import (
    Names,
    are_other_fills,
    has_same_origin,
    is_array_call,
    is_free,
    is_read_by_free,
    name_new_use,
    name_read,
    origin,
    reads_free,
    reason_of_use,
    same_arity,
    same_form,
    same_shape,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import TRANSPARENT
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement, opcode_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key


def neighbors(search: Search) -> None:
    """Pair the operands of linked nodes by position, and their only unpaired users."""
    _Spread(search).run()


def successors(search: Search) -> None:
    """Pair the operands that replaced others, where no closer evidence is left."""
    spread = _Spread(search)
    spread.run()
    while spread.replace():
        spread.run()


_UserKey = tuple[Hashable, int, Hashable]
"""What a user is, at which position it reads a value, and which element of it."""


class _Spread:
    def __init__(self, search: Search) -> None:
        self._search = search
        self._names = Names(search.before), Names(search.after)
        self._keys = UserKeys(search)
        self._open_after: dict[Hashable, list[Node]] | None = None
        self._open_before: dict[Hashable, list[Node]] | None = None
        self._queue = deque(pair for pair in search.unsettled if self._is_unsettled(pair))
        search.unsettled = list(self._queue)

    def run(self) -> None:
        """Pair neighbors until none are left."""
        while self._queue:
            before, after = self._queue.popleft()
            self._pair_operands(before, after)
            self._pair_users(before, after)

    def replace(self) -> bool:
        """Pair operands that replaced others; return whether there were any."""
        search = self._search
        search.unsettled = [pair for pair in search.unsettled if self._is_unsettled(pair)]
        for before, after in list(search.unsettled):
            for node, other in self._exchanged(before, after):
                if not (is_free(node) and is_free(other) and could_do_its_work(node, other)):
                    continue
                again = is_done_again(search.before, node, other)
                again = again or works_on_moved(search, node, other)
                again = again or behind_neutral(search.before, node, other) is not node
                if not again and not self._continues_elsewhere(node, other):
                    self._link(node, other, f"{name_new_use(after, other)} instead", before)
        return bool(self._queue)

    def _continues_elsewhere(self, node: Node, other: Node) -> bool:
        """Return whether another operation replaced the operand, and a better one is unpaired."""
        message = origin(node)
        if self._search.divided and family_of(other.instruction) == COLLECTIVE:
            return opcode_of(node) != opcode_of(other) and self._is_left_elsewhere(node, other)
        if not message or opcode_of(node) in PASSING or opcode_of(node) == opcode_of(other):
            return False
        return message != origin(other) and self._is_left_elsewhere(node, other)

    def _is_left_elsewhere(self, node: Node, other: Node) -> bool:
        """Return whether an unpaired new operation, beside `other`, is of a node's framework op."""
        if not origin(node):
            return False
        if self._open_after is None:
            self._open_after = group_by_key(
                (_operation(known, known.frame), known) for known in self._search.after.open()
            )
        return any(map(is_free, self._open_after.get(_operation(node, other.frame), ())))

    def _is_left_before(self, node: Node, other: Node) -> bool:
        """Return whether a new move is of the framework op of another old one that is unpaired."""
        search = self._search
        message = origin(other)
        if opcode_of(other) not in REARRANGEMENTS or not message or message == origin(node):
            return False
        if self._open_before is None:
            moves = (known for known in search.before.open() if opcode_of(known) in REARRANGEMENTS)
            self._open_before = group_by_key(
                ((known.frame.number, origin(known)), known) for known in moves
            )
        return any(map(is_free, self._open_before.get((other.frame.number, message), ())))

    def _is_unsettled(self, pair: tuple[Node, Node]) -> bool:
        """Return whether both nodes of a pair have free operands, or both have free users."""
        before, after = self._search.before, self._search.after
        return (reads_free(before, pair[0]) and reads_free(after, pair[1])) or (
            is_read_by_free(before, pair[0]) and is_read_by_free(after, pair[1])
        )

    def _link(self, before: Node, after: Node, reason: str, neighbor: Node) -> None:
        """Pair two nodes, the first an operand or a user of a `neighbor` that has a pair."""
        grade = Grade.EXACT if before.token == after.token else Grade.MATCHED
        if self._search.link(before, after, grade, reason):
            self._search.links[-1].led_from = neighbor
            self._queue.append((before, after))

    def _pair_operands(self, before: Node, after: Node) -> None:
        ours, theirs = self._operands(before, after)
        if len(ours) != len(theirs) or are_reordered(before, after):
            return
        for (read, path), (other, other_path) in zip(ours, theirs, strict=True):
            if path != other_path:
                continue
            node = behind_identity(self._search, read, other)
            starts = start_loops(before, (node, other))
            if starts or self._could_be(node, other):
                now = start_now(node, other) if starts else self._names[1].clone(node, other)
                is_clone = now is not other and not starts
                self._link(node, now, reason_of_use(before, node, is_clone=is_clone), before)

    def _operands(
        self, before: Node, after: Node
    ) -> tuple[tuple[NodeElement, ...], tuple[NodeElement, ...]]:
        graphs = self._search.before.graph, self._search.after.graph
        return graphs[0].operands(before), graphs[1].operands(after)

    def _could_be(self, node: Node, other: Node) -> bool:
        if not (is_free(node) and is_free(other)) or self._goes_by_name(node, other):
            return False
        if self._keys.crosses and is_array_call(node):
            return opcode_of(other) == "copy" and self._keys.edge(node) == self._keys.edge(other)
        return same_form(self._search, node, other) or has_same_origin(node, other)

    def _goes_by_name(self, node: Node, other: Node) -> bool:
        """Whether names say otherwise of two nodes, and the values do not settle it."""
        if node.instruction.name == other.instruction.name:
            return False
        if node.token == other.token:
            old, new = self._names
            return new.claim_copy(node) or new.claim_by_user(node) or old.claim_by_user(other)
        if node.instruction.opcode in TRANSPARENT:
            return True
        return self._names[1].claim(node) or self._names[0].claim(other)

    def _pair_users(self, before: Node, after: Node) -> None:
        if before.constant and self._search.divided:
            return
        fills = before.constant
        places = keep_places(before, after)
        keys = self._keys.of_places if self._fills_share(before) else self._keys.keys
        for key_of in keys:
            ours = self._lone_users(self._search.before, before, key_of, places=places)
            if not ours:
                return
            theirs = self._lone_users(self._search.after, after, key_of, places=places)
            for key, node in ours.items():
                other = theirs.get(key)
                if node is None or other is None or not same_arity(node, other, typed=not fills):
                    continue  # of another work: many read a constant or an index
                instead = replaces_another_user(self._search, (before, after), (node, other))
                instead = instead or (key_of in self._keys.lines and not may_be_share(node, other))
                if not instead and self._may_be_lone(node, other):
                    read = name_read(before, node, key[1])
                    shared = SHARED[key_of.__name__]
                    reason = f"the only unmatched user of {read} with this {shared}"
                    self._link(node, other, f"{reason}; the counterpart of that is known", before)

    def _fills_share(self, node: Node) -> bool:
        """Return whether arrays of any shape may be filled with a value, and work is divided.

        A share has the shape of another array then, which is filled with the value as well.
        """
        source = node
        if opcode_of(node) == "broadcast" and self._search.before.graph.operands(node):
            source = self._search.before.graph.operands(node)[0][0]
        shape = source.instruction.shape
        return self._search.divided and not shape.dimensions and not shape.elements

    def _may_be_lone(self, node: Node, other: Node) -> bool:
        """Return whether names, and the depths of matmuls, allow two sole users to be a pair.

        A pass that swaps the operands of one dot makes it look like another user.
        """
        others = only_gathers(node, other) or are_other_fills(node, other)
        others = others or are_of_reordered(node, other, *self._operands(node, other))
        if others or self._goes_by_name(node, other) or self._reads_another_element(node, other):
            return False
        if not origin(other) and self._is_left_elsewhere(node, other):
            return False
        if self._is_left_before(node, other) or is_resharding(self._search, node, other):
            return False
        if is_read_as_another(self._search, node, other):
            return False
        search = self._search
        if family_of(node.instruction) != "product" or search.parted is not None:
            return True
        return search.before.depths.get(node) == search.after.depths.get(other)

    def _reads_another_element(self, node: Node, other: Node) -> bool:
        """Return whether two nodes read different elements of a tuple and of its counterpart."""
        ours, theirs = self._operands(node, other)
        old, new = self._search.before.values, self._search.after.values
        return any(
            operand.partner is read
            and bool(path)
            and (
                reads_added(operand, (read, there))
                or (
                    keep_places(operand, read)
                    and old.element(operand, path) != new.element(read, there)
                )
            )
            for (operand, path), (read, there) in zip(ours, theirs, strict=False)
        )

    def _lone_users(
        self, side: Side, node: Node, key_of: Callable[[Node], Hashable], *, places: bool
    ) -> dict[_UserKey, Node | None]:
        """Return unpaired users by kind and operand position; None where several share a key.

        With `places`, those of each element of a tuple are apart, whatever its number is now.
        """
        nodes: dict[_UserKey, Node | None] = {}
        for user, position in side.users.get(node, ()):
            if is_free(user):
                path = side.graph.operands(user)[position][1] if places else ()
                key = (key_of(user), position, side.values.element(node, path) if path else path)
                nodes[key] = None if key in nodes else user
        return nodes

    def _could_replace(self, node: Node, other: Node) -> bool:
        """Return whether two nodes have the same shape, or move the same data."""
        like = is_masked_part(node, other) or is_reshaped(node, other) or is_retyped(node, other)
        if like or same_shape(self._search, node, other):
            return not is_done_on_turned(self._search, node, other)
        moves = opcode_of(node) in REARRANGEMENTS and opcode_of(other) in REARRANGEMENTS
        same = moves and moves_same(self._search, node, other)
        return same or has_like_behind(self._search, node, other)

    def _behind_moves(self, node: Node, other: Node) -> tuple[Node, Node]:
        """Return the pair of an operation and its counterpart, if only a move was inserted."""
        node = behind_no_op(self._search.before, node, other)
        other = behind_idle_bitcasts(self._search.after, other)
        graph = self._search.after.graph
        copy = copy_behind(graph, node, other) or move_laid_out(graph, node, other)
        if copy is not None or opcode_of(other) == "constant" or are_moves_of_op(node, other):
            return node, copy or other  # what was folded into a constant is the move
        ours, theirs = self._search.before.graph, self._search.after.graph
        for source in sources_behind(theirs, other, passed_by(node) | {"broadcast"}):
            if is_free(source) and has_same_origin(node, source):
                return node, source
            if is_free(source) and (
                source.token == node.token
                or is_moved_by_copy(node, other, source)
                or is_behind_moves(node, source)
            ):
                return node, source
        for source in sources_behind(ours, node, passed_by(other)):
            if is_free(source) and (
                has_same_origin(source, other)
                or self._is_same_of_same(source, other)
                or is_work_behind(source, node, other)
            ):
                return source, other
        for source in sources_behind(ours, node, past_paired=True):
            is_work = opcode_of(source) not in REARRANGEMENTS
            alike = is_work and same_form(self._search, source, other)
            if is_free(source) and (alike or has_same_origin(source, other)):
                return source, other
        return node, work_behind(theirs, node, other)

    def _is_same_of_same(self, node: Node, other: Node) -> bool:
        """Return whether two nodes have the same opcode and operands, whatever their shape."""
        search = self._search
        read = search.before.values.read(node)
        alike = opcode_of(node) == opcode_of(other) and bool(read)
        return alike and read == search.after.values.read(other)

    def _exchanged(self, before: Node, after: Node) -> Iterator[tuple[Node, Node]]:
        """Yield operands in the same position, or the only unpaired operand of either side."""
        ours, theirs = self._operands(before, after)
        if len(ours) == len(theirs) and not are_reordered(before, after):
            turned = is_turned_by_constant(before, ours, theirs)
            now = theirs[::-1] if turned else theirs
            for (node, path), (other, other_path) in zip(ours, now, strict=True):
                sent = None if path else behind_collectives(self._search, node, (other, other_path))
                sent = sent or behind_share(self._search, node, other)
                if sent is not None:
                    yield node, sent
                elif crossed := () if path else crossed_copies(self._search, node, other):
                    yield from crossed
                elif path == other_path and self._could_replace(node, other):
                    move = same_move_behind(self._search.before, node, self._search.after, other)
                    yield (move, other) if move else self._behind_moves(node, other)
                elif (path and was_evaluated(node, other)) or (
                    may_be_resized(node, other) and self._is_same_of_same(node, other)
                ):
                    yield node, other
        open_ours = [number for number, (node, _) in enumerate(ours) if is_free(node)]
        open_theirs = [number for number, (node, _) in enumerate(theirs) if is_free(node)]
        if not len(open_ours) == len(open_theirs) == 1:
            return
        placed = len(ours) == len(theirs) and are_placed(self._search, before, ours, theirs)
        node, other = ours[open_ours[0]][0], theirs[open_theirs[0]][0]
        if self._is_no_substitute(before, after, (node, other)):
            return
        if same_shape(self._search, node, other) and (not placed or open_ours == open_theirs):
            yield node, other

    def _is_no_substitute(self, before: Node, after: Node, pair: tuple[Node, Node]) -> bool:
        """Return whether what is read now copies another operand, or cannot be a constant."""
        node, other = pair
        is_copy = other.token in self._search.before.values.read(before)
        return is_copy or (other.constant and needs_constant(before, after, node))


def _operation(node: Node, frame: Frame) -> Hashable:
    return (frame.number, opcode_of(node), origin(node))
