"""Where instructions that are only after come from."""

from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property

from xlareport.analysis.matching.account.combined_parts import reasons_by_partial_results
from xlareport.analysis.matching.account.computed_elements import computed_element
from xlareport.analysis.matching.account.copies_by_name import CopiesByName
from xlareport.analysis.matching.account.copy_starts import (
    between_spaces,
    reason_of_copy_start,
    reason_of_sliced_copy,
)
from xlareport.analysis.matching.account.fused_copies import FusedCopies
from xlareport.analysis.matching.account.holders import holds_no_old_work
from xlareport.analysis.matching.account.inserted_chains import inserted_chain
from xlareport.analysis.matching.account.inserted_fusions import inserted_fusion
from xlareport.analysis.matching.account.joined_pads import list_joined_pads
from xlareport.analysis.matching.account.led_to import led_to
from xlareport.analysis.matching.account.moved_starts import list_moved_starts
from xlareport.analysis.matching.account.new_results import given_value, result_of
from xlareport.analysis.matching.account.originals import (
    does_the_same,
    has_same_op,
    read_by_original,
    same_iota,
)
from xlareport.analysis.matching.account.reshaped_copies import NO_CLONES, ReshapedCopies
from xlareport.analysis.matching.account.reshardings import resharding
from xlareport.analysis.matching.account.taken_out import element_taken_out, list_joined, taken_out
from xlareport.analysis.matching.rules.buffers import reason_of_buffer
from xlareport.analysis.matching.search.nodes import (
    PairVerdict,
    has_same_origin,
    is_free,
    is_fused,
    is_root,
    is_written_operand,
    node_after,
    origin,
    read_at,
    reader_beside,
    same_count,
    same_form,
    same_type,
)
from xlareport.analysis.matching.search.pairing import ChangeCause, Relation
from xlareport.analysis.matching.search.reasons import PastBroadcast, Reason
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Frame, Node
from xlareport.analysis.matching.sides.leftovers import is_dead_copy, is_idle
from xlareport.hlo.opcode_groups import REARRANGEMENTS, SAME_ORDER
from xlareport.knowledge.grades import Grade, weakest
from xlareport.runtime import units

_DEEPEST = 100
"""Limit on the readers in a chain behind a constant."""
IDLE = "it has no users"
"""The reason of what was added for nothing."""
DEAD = "only dead instructions use it"
"""The reason of what was added for nothing, and is used for nothing."""


class Additions:
    """Explains instructions that are only in the new module."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._sources: dict[Node, Node | None] = {}
        self._depth = 0
        self._named = CopiesByName(search)
        self._fused = FusedCopies(search)
        self._reshaped = ReshapedCopies(search)
        self._doubts: dict[Node, Grade] = {}
        """Upper bounds for the grades of copies, from the grades of other copies."""

    def verdict(self, node: Node) -> PairVerdict:
        """Return where a node comes from."""
        known = self._search.copies.get(node)
        moved = known is not None and (node.constant or isinstance(known[1], PastBroadcast))
        source = None if moved else self.source(node)
        if source is not None and is_dead_copy(source, node):
            unread = is_idle(node.instruction, node.frame.computation)
            return PairVerdict(None, Grade.EXACT, IDLE if unread else DEAD)
        if source is not None:
            return PairVerdict(source, self._doubts.get(node, Grade.EXACT), "a further copy")
        copied = self._copied_otherwise(node)
        if copied is not None:
            return copied
        if node.instruction.opcode == "parameter":
            words = self._reason_of_parameter(node)
            if words is not None:
                return PairVerdict(None, Grade.EXACT, words, ChangeCause.PARAMETER)
        for grade, reason in self._reasons(node):
            spaces = between_spaces(self._search.after.graph.module, node)
            return PairVerdict(None, grade, f"copied{spaces}, {reason}" if spaces else reason)
        return PairVerdict(None, Grade.GUESSED, "no source was found")

    def _copied_otherwise(self, node: Node) -> PairVerdict | None:
        """Return the original of a copy that is not the same expression as it."""
        known = self._search.copies.get(node)
        if known is not None:
            return PairVerdict(known[0], Grade.MATCHED, known[1])
        original = None if self._search.parted else self._reshaped.original(node)
        if original is not None:
            return PairVerdict(original, Grade.MATCHED, "a further copy, in another shape")
        source = None if self._search.parted else self._named.original(node)
        reason = "a further copy, by name, form and framework op"
        if source is None and self._search.parted is None:
            source, reason = self._fused.original(node), "a further copy, by value and framework op"
        return None if source is None else PairVerdict(source, Grade.MATCHED, reason)

    def source(self, node: Node) -> Node | None:
        """Return the instruction before that a node is a copy of; None of another program's."""
        if self._search.parted is not None:
            return None
        if node not in self._sources:
            if self._depth > _DEEPEST:
                return None
            self._sources[node] = None
            self._depth += 1
            self._sources[node] = self._find_source(node)
            self._depth -= 1
        return self._sources[node]

    def _read_by_copies(self, node: Node, equal: Node | None = None) -> Node | None:
        """Return the equal instruction that a reader's counterpart read in the old module.

        `equal` is one whose value a node is known to have; its duplicates have it as well.
        """
        for user, position in self._search.after.users.get(node, ()):
            known = user.partner or self.source(user) or self._search.copies.get(user, (None,))[0]
            read = None if known is None else read_by_original(self._search, known, user, position)
            if read is None or known is None:
                continue
            if read.token == node.token or self._are_equal(read, node):
                return read
            iota = same_iota(self._search, read, node)
            if iota is not None:
                return iota
            alike = user.instruction.opcode == known.instruction.opcode
            if alike and equal is not None and self._is_twin(read, node, equal):
                return read
        return None

    def _is_twin(self, read: Node, node: Node, equal: Node) -> bool:
        """Return whether what a reader read is the original of a node rather than its equal.

        It is a duplicate of that, or the one of its framework op: of a forward pass that is
        computed again, an optimization barrier hides that the values are equal.
        """
        values = self._search.before.own_values
        value = values.get(equal)
        if value is not None and values.get(read) == value:
            return True
        of_its_op = has_same_op(read, node) and not has_same_op(equal, node)
        return of_its_op and same_form(self._search, read, node)

    def _are_equal(self, node: Node, other: Node) -> bool:
        """Return whether two constants are computed the same way, without values of kept lines.

        Only literals, and operations that repeat a literal.
        """
        line, known = node.instruction, other.instruction
        fills = line.opcode == known.opcode == "broadcast" and same_type(node, other)
        alike = self._search.forms.of(line) == self._search.forms.of(known)
        if not alike and not (fills and same_count(node, other)):
            return False
        if not line.operands:
            return literal_of(line) == literal_of(known)
        read, now = read_at(self._search.before, node, 0), read_at(self._search.after, other, 0)
        return fills and read is not None and now is not None and self._are_equal(read, now)

    def _find_source(self, node: Node) -> Node | None:
        opcode = node.instruction.opcode
        if self._search.divided and opcode == "slice":
            return None  # equal slices are parts of different slices of whole arrays
        source = self._equal(node)
        if source is None or not does_the_same(source, node) or not same_type(source, node):
            return None
        if opcode == "copy" and not _has_layout_of(node, source):
            return None  # what a copy is for is the layout
        repeats = opcode == "broadcast" and not node.constant
        of_another = (repeats or opcode in REARRANGEMENTS) and origin(source) != origin(node)
        beside = source.frame.number == node.frame.number
        moves = beside and (opcode in SAME_ORDER or of_another)
        return None if moves and not self._is_of_copy(node, source) else source

    def _is_of_copy(self, node: Node, source: Node) -> bool:
        """Return whether a move reads a new copy of what an old move reads: a copied chain."""
        read = read_at(self._search.after, node, 0)
        copied = self.source(read) if read is not None and is_free(read) else None
        return copied is not None and copied is read_at(self._search.before, source, 0)

    def _equal(self, node: Node) -> Node | None:
        """Return the instruction before that computes the same."""
        if node.instruction.opcode in NO_CLONES and not _is_fused_copy(node):
            return None
        search, known = self._search, self._known_equal(node)
        is_given = self._search.divided and not node.instruction.operands
        is_literal = node.instruction.opcode == "constant"
        of_one_op = known is not None and not is_literal and has_same_origin(node, known)
        fill = node.instruction.opcode == "broadcast" and is_fused(node)
        if node.constant and (is_given or not of_one_op or fill):
            return self._read_by_copies(node)  # that another is equal does not make it a copy
        if known is None:
            link = self._linked_repeats.get(search.after.own_values.get(node))
            if link is None:
                return None
            self._doubts[node] = weakest((link.grade, Grade.MATCHED))
            known = link.before
        self._sources[node] = known  # for what reads it, and is asked for meanwhile
        return self._read_by_copies(node, known) or known

    def _known_equal(self, node: Node) -> Node | None:
        """Return the instruction before that was linked for its value, or stands as it did."""
        beside = self._links_by_frame.get((node.token, node.frame))
        link = beside or self._search.by_token.get(node.token)
        if link is not None:
            return link.before
        kept = self._search.after.values.kept_twin(node)
        return None if kept is None else self._search.itself_before(kept)

    @cached_property
    def _links_by_frame(self) -> Mapping[tuple[int, Frame], NodePair]:
        """The first link of each value in each frame: the original of a copy that is beside it."""
        links: dict[tuple[int, Frame], NodePair] = {}
        for link in self._search.links:
            links.setdefault((link.after.token, link.after.frame), link)
        return links

    @cached_property
    def _linked_repeats(self) -> Mapping[Hashable, NodePair]:
        """The first link of each value, by the value numbers of the new module alone."""
        values = self._search.after.own_values
        links: dict[Hashable, NodePair] = {}
        for link in self._search.links:
            if link.relation is not Relation.COMBINED and not link.after.kept:
                links.setdefault(values.get(link.after), link)
        links.pop(None, None)
        return links

    def _reason_of_parameter(self, node: Node) -> str | None:
        """Return which caller's parameter is new; None for a computation that is not opened."""
        line, caller = node.instruction, node.frame.caller
        if caller is not None:
            return f"parameter {line.argument} of %{caller.instruction.name}"
        if self._is_in_entry(node):
            return f"parameter {line.argument} of the module"
        calls = [
            call for _, call in self._search.after.graph.call_sites(node.frame.computation.name)
        ]
        if [call.instruction.opcode for call in calls] == ["async-start"]:
            return f"parameter {line.argument} of %{calls[0].instruction.name}"
        if calls:
            return None
        return f"parameter {line.argument} of a computation without callers"

    def _reasons(self, node: Node) -> Iterator[tuple[Grade, Reason]]:
        callers = self._search.after.graph.callers(node.frame.computation.name)
        if node in self._known_reasons:
            yield Grade.MATCHED, self._known_reasons[node]
        yield from self._reasons_by_readers(node)
        yield from self._reasons_by_callers(node, callers)

    def _reasons_by_work(self, node: Node) -> Iterator[tuple[Grade, Reason]]:
        """Yield what a node does for instructions of the old module."""
        yield from reasons_by_partial_results(self._search.after, node)
        given = reason_of_copy_start(self._search.after, node)
        given = given or reason_of_sliced_copy(node) or reason_of_buffer(self._search, node)
        if given:
            yield Grade.MATCHED, given
        taken = taken_out(self._search, self._joined, node)
        taken = taken or element_taken_out(self._search, node)
        if taken is not None:
            yield Grade.MATCHED, taken
        yield from _reasons_by_loops(node)
        computed = computed_element(self._search, node) or resharding(node)
        if computed is not None:
            yield Grade.MATCHED, computed

    def _reasons_by_readers(self, node: Node) -> Iterator[tuple[Grade, Reason]]:
        line = node.instruction
        yield from self._reasons_by_work(node)
        held = node.frame.callees.get(line.name)
        if held is not None and not holds_no_old_work(self._search, held):
            yield Grade.GUESSED, "no instruction before was found for what it holds"
        users = self._search.after.users.get(node, ())
        for user, position in users:
            if user.partner is not None:
                yield Grade.MATCHED, self._put_in(node, user, position)
        if is_root(node) and users and users[0][0].frame is not node.frame:
            yield Grade.MATCHED, f"the result of %{node.frame.computation.name}"
        if users:
            inserted = inserted_chain(self._search, node, *users[0])
            yield Grade.MATCHED, inserted or self._read_by_new(node, *users[0])
        readers = node.frame.computation.users.get(line.name, ())
        if readers:
            inserted = inserted_fusion(self._search, node)
            yield Grade.MATCHED, inserted or given_value(self._search, node, readers[0])
        if not users and not is_root(node):
            yield Grade.EXACT, IDLE

    def _read_by_new(self, node: Node, user: Node, position: int) -> str:
        """Return text on a new user of a new node, and on what that leads to."""
        led = led_to(self._search.after, user, position)
        link = "an operand of" if is_written_operand(user, node) else "its value is used by"
        new = "" if user in self._search.copies else "the new "  # copies have an original
        return f"{link} {new}%{user.instruction.name}{led}"

    @cached_property
    def _known_reasons(self) -> Mapping[Node, Reason]:
        """Why parts of regrouped sums, joined pads, and start values of loops were added."""
        search = self._search
        return search.regrouped | list_joined_pads(search) | list_moved_starts(search)

    @cached_property
    def _joined(self) -> Mapping[Node, Node]:
        """What became of the operations that were joined."""
        return list_joined(self._search.links)

    def _reasons_by_callers(self, node: Node, callers: list[str]) -> Iterator[tuple[Grade, str]]:
        if not callers and not self._is_in_entry(node):
            yield Grade.EXACT, "its computation has no callers"
        elif callers and node.frame.computation.name not in self._search.computations.partners:
            yield Grade.MATCHED, f"its computation is new, called by %{callers[0]}"
        elif is_root(node):
            yield Grade.MATCHED, result_of(node)

    def _is_in_entry(self, node: Node) -> bool:
        return node.frame.computation is self._search.after.graph.module.entry

    def _put_in(self, node: Node, user: Node, position: int) -> str:
        """Return text on how a node came between a known user and the operand it read before."""
        reader = reader_beside(node, user)
        name = reader.instruction.name
        if not is_written_operand(reader, node):
            return f"its value is used by %{name}"
        partner = user.partner
        read = None if partner is None else read_at(self._search.before, partner, position)
        sources = [operand for operand, _ in self._search.after.graph.operands(node)]
        between = None if read is None else node_after(self._search, read)
        if between is not None and between in sources:
            number = _element_taken(node, reader)
            number = sources.index(between) if number is None else number
            names = list(node.instruction.operand_names)[number : number + 1]
            if names:
                return f"inserted between %{names[0]} and %{name}"
        return inserted_chain(self._search, node, user, position) or f"used by %{name}"


def _reasons_by_loops(node: Node) -> Iterator[tuple[Grade, str]]:
    """Yield which loop starts with a copy, whoever else reads it."""
    line, users = node.instruction, node.frame.computation.users
    for reader in users.get(line.name, ()) if line.opcode == "copy" else ():
        for loop in users.get(reader.name, ()) if reader.opcode == "tuple" else ():
            if loop.opcode == "while":
                source = next(iter(line.operand_names), "")
                others = len({user.name for user in users[line.name]}) - 1
                more = f" and {units.plural(others, 'other user')}" if others else ""
                yield Grade.MATCHED, f"a copy of %{source} for the start of %{loop.name}{more}"


def _is_fused_copy(node: Node) -> bool:
    """Return whether a node is a copy in a fusion, where none is put: it came with its reader."""
    return is_fused(node) and node.instruction.opcode == "copy"


def _has_layout_of(node: Node, source: Node) -> bool:
    """Return whether a node has the layout of one before, or that of its counterpart."""
    known = [source, *([source.partner] if source.partner is not None else [])]
    layouts = {other.instruction.shape.layout for other in known}
    return node.instruction.shape.layout in layouts


def _element_taken(node: Node, reader: Node) -> int | None:
    """Return which operand of a new tuple a reader takes as its element; None of other readers."""
    taken = reader.instruction.opcode == "get-tuple-element"
    if node.instruction.opcode != "tuple" or not taken:
        return None
    return reader.instruction.taken_element
