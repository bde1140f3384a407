"""The state of a search: two sides, the links so far, and the unpaired nodes."""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.reasons import Reason, Regrouped
from xlareport.analysis.matching.sides.computations import Correspondence
from xlareport.analysis.matching.sides.contents import Contents, stem
from xlareport.analysis.matching.sides.element_orders import keep_order
from xlareport.analysis.matching.sides.elements import kept_elements
from xlareport.analysis.matching.sides.families import REWRITES
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.graph import (
    Node,
    fills_with_array,
    swaps_parameters,
)
from xlareport.analysis.matching.sides.inputs import contradict
from xlareport.analysis.matching.sides.leftovers import is_dead_form, live_apart
from xlareport.analysis.matching.sides.parameters import can_continue
from xlareport.analysis.matching.sides.share_sizes import count_others, is_no_share
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import Tokens
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import MOVES
from xlareport.knowledge.grades import Grade

_CHANGED_IN_PLACE = frozenset(
    {
        "call",
        "conditional",
        "custom-call",
        "fusion",
        "parameter",
        "tuple",
        "while",
    }
)
"""Opcodes whose shape and operands the compiler changes without making a new instruction."""


_LIBRARY_CALL = "custom-call"


class NodePair(Struct):
    """Two nodes that were found to belong together."""

    before: Node
    after: Node
    grade: Grade
    reason: Reason
    equal: bool
    """They compute the same expression over the same values."""
    relation: Relation = Relation.SAME
    led_from: Node | None = None
    """The old node of the pair of whose neighbors it was made, without equal values."""


class Search(Struct):
    """Both sides and the links between them."""

    before: Side
    after: Side
    forms: Forms
    tokens: Tokens
    computations: Correspondence
    contents: tuple[Contents, Contents]
    divided: bool
    """Whether the arguments have other shapes, so that equal constants may be coincidence."""
    parted: Callable[[Node, Node], bool] | None = None
    """For two programs: whether the places of two nodes contradict a pair; else None.

    Instruction names of two programs are not related.
    """
    moved_apart: Callable[[Node, Node], bool] | None = None
    """For one program: whether two nodes moved, one of them to where the other was; else None."""
    links: list[NodePair] = field(default_factory=list)
    unsettled: list[tuple[Node, Node]] = field(default_factory=list)
    """Linked pairs whose neighbors may still be paired."""
    by_token: dict[int, NodePair] = field(default_factory=dict)
    """The first link of each value number, set when the search is finished."""
    by_token_in_frame: dict[tuple[int, int], NodePair] = field(default_factory=dict)
    """The first link of each value number in each old frame, by the frame's number."""
    further: dict[Node, list[Node]] = field(default_factory=dict)
    """New nodes that do the work of an old node together with its partner."""
    inlined: dict[Node, list[Node]] = field(default_factory=dict)
    """New nodes that do once what a former loop or conditional did."""
    selected: dict[Node, int] = field(default_factory=dict)
    """How many selects give the results of a former conditional, of which both branches run."""
    copies: dict[Node, tuple[Node, Reason]] = field(default_factory=dict)
    """Original and reason of new nodes that a rule recognized as copies of an old node."""
    callers: dict[str, Node] = field(default_factory=dict)
    """The old call by which a computation was paired, by the old name, where a call showed it."""
    regrouped: dict[Node, Reason] = field(default_factory=dict)
    """Sums and products within regrouped ones, old and new: what is made of the same terms."""
    regrouped_into: dict[Node, Node] = field(default_factory=dict)
    """The new sum or product that has the terms of an old one within a regrouped one."""
    without_origin: set[Node] = field(default_factory=set)
    """New nodes that continue no old node, such as reciprocals of divisors."""
    generated: dict[Node, tuple[Node, ...]] = field(default_factory=dict)
    """What computes the bits of a former generator of random bits, its result first."""
    of_one_index: dict[int, int] = field(default_factory=dict)
    """For elements of unknown origin: the value of the old one of their index, if that is left."""
    named: int = 0
    """The number of values that links have made."""
    settled: int = -1
    """The number of links at which a new evaluation last changed nothing."""

    def link(
        self,
        before: Node,
        after: Node,
        grade: Grade,
        reason: Reason,
        relation: Relation = Relation.SAME,
        *,
        anywhere: bool = False,
        unread: bool = False,
    ) -> bool:
        """Make two nodes partners with one value number; return whether that is possible.

        Incompatible parameters are never linked, whichever rule asks for it; nor what reads other
        inputs, nor another value within a regrouped sum; nor what is no device's share of divided
        work; nor what two programs have at other places, unless it may be anywhere; nor what came
        where something left a loop; nor what is dead on one side only, unless unread or exact.
        """
        if self._has_no_partner(before, after) or self.divides_otherwise(before, after):
            return False
        possible = can_continue(before.instruction, after.instruction)
        if not possible or swaps_parameters(before, after) or fills_with_array(before, after):
            return False
        unlike = is_dead_form if grade is Grade.EXACT else live_apart
        if not unread and unlike(before, after):
            return False
        others = not isinstance(reason, Regrouped)  # whose terms were compared, in any order
        if others and contradict(self.before, before, self.after, after):
            return False
        apart = (None if anywhere else self.parted, self.moved_apart)
        if any(are_apart is not None and are_apart(before, after) for are_apart in apart):
            return False
        equal = before.token == after.token
        if not equal:
            before.token = after.token = self._new_token()
        before.partner, after.partner = after, before
        self._name_result(before, after)
        self.unsettled.append((before, after))
        self.links.append(NodePair(before, after, grade, reason, equal, relation))
        return True

    def divides_otherwise(self, before: Node, after: Node) -> bool:
        """Return whether the sizes of two nodes of one program exclude a device's share of work."""
        return self._is_partitioned and is_no_share(before, after, self._devices)

    def counts_otherwise(self, before: Node, after: Node) -> bool:
        """Return whether work on other numbers of elements is too unlike for a guess."""
        return self._is_partitioned and count_others(before, after, self._devices)

    @property
    def _is_partitioned(self) -> bool:
        return self.divided and self.parted is None

    @property
    def _devices(self) -> int:
        return self.after.graph.module.partition_count

    def _has_no_partner(self, before: Node, after: Node) -> bool:
        """Return whether a rule recognized one of two nodes as what has no counterpart."""
        of_sums = not self.regrouped.keys().isdisjoint((before, after))
        is_other_part = of_sums and before.token != after.token
        return is_other_part or before in self.inlined or after in self.without_origin

    def _new_token(self) -> int:
        """Return a value number that is not in use."""
        self.named += 1
        return self.tokens.of(("link", self.named))

    def _name_result(self, before: Node, after: Node) -> None:
        """Give the first element of a library call the value of the single result of its partner.

        The other elements are workspace. Elements of tuples of different length are matched.
        """
        old, new = before.instruction.shape, after.instruction.shape
        if old.elements and new.elements:
            self._name_elements_kept(before, after)
        if not old.elements and _has_result_first(after):
            self.after.values.name_element(after, (0,), before.token)
        if not new.elements and _has_result_first(before):
            self.before.values.name_element(before, (0,), before.token)

    def _name_elements_kept(self, before: Node, after: Node) -> None:
        """Give matching elements of two paired tuples the same values.

        Passes drop, add and reorder loop-carried elements. The others keep their positions if all
        have the same kinds in the same order and no other origin is known.
        """
        kept = kept_elements(self, before, after)
        old, new = before.instruction.shape, after.instruction.shape
        same_order, taken = keep_order(old, new), set(kept.origins.values())
        for number, first in kept.merged.items():
            token = self.tokens.of(("element", before.token, (first,)))
            self.before.values.name_element(before, (number,), token)
        for number in range(len(new.elements)):
            origin: int | None = kept.origins.get(number)
            if origin is None and same_order and number not in taken:
                origin = number
            place = (number, "new") if origin is None else origin
            if not same_order or place != number:
                token = self.tokens.of(("element", before.token, (place,)))
                self.after.values.name_element(after, (number,), token)
                if origin is None and number not in taken:
                    left = self.tokens.of(("element", before.token, (number,)))
                    self.of_one_index[token] = left

    def combine(
        self, members: Sequence[Node | None], whole: Node, grade: Grade, why: Reason
    ) -> None:
        """Make one node the partner of several, whose results are its elements, in order.

        One of them may be its partner already; None stands for an element without an old node.
        """
        if whole.partner is None:
            whole.token = self._new_token()
        self.unlink([link for link in self.links if link.after is whole])
        whole.partner = next(iter(filter(None, members)), None)
        self.name_elements(members, whole)
        for member in members:
            if member is not None:
                member.partner = whole
                link = NodePair(member, whole, grade, why, equal=False, relation=Relation.COMBINED)
                self.links.append(link)

    def unlink(self, links: Sequence[NodePair]) -> None:
        """Remove links for which there is better evidence; the nodes keep their values."""
        parted = set(map(id, links))
        self.links = [link for link in self.links if id(link) not in parted]
        for link in links:
            link.before.partner = link.after.partner = None

    def name_elements(self, members: Sequence[Node | None], whole: Node) -> None:
        """Let the elements of a result after be the results of several nodes before, in order."""
        for place, member in enumerate(members):
            if member is not None:
                self.after.values.name_element(whole, (place,), member.token)

    def copy(self, kept: Node, after: Node, grade: Grade, reason: Reason) -> None:
        """Let a new node continue a line that is kept in a computation without callers."""
        after.partner = kept
        self.links.append(NodePair(kept, after, grade, reason, equal=False))

    def extend(self, before: Node, further: Node) -> None:
        """Let a new node do the work of an old node together with its partner."""
        further.partner, further.token = before, before.token
        self.further.setdefault(before, []).append(further)
        self.unsettled.append((before, further))

    def part(self, before: Node, after: Node, number: int) -> None:
        """Let a new node be one element of an old node's result, in addition to its partner."""
        after.partner, after.token = before, self._new_token()
        self.before.values.name_element(before, (number,), after.token)
        self.further.setdefault(before, []).append(after)
        self.unsettled.append((before, after))

    def _relation(self, link: NodePair) -> Relation:
        """Distinguish an instruction that remains from another that took its name and work."""
        if link.relation is not Relation.SAME:
            return link.relation
        before, after = link.before, link.after
        old, new = before.instruction, after.instruction
        if before in self.further:
            return Relation.ASYNC if new.opcode.endswith("-start") else Relation.SPLIT
        # Of two programs, no pass made one of the other.
        if link.equal or (self.parted is not None and old.opcode == new.opcode):
            return Relation.SAME
        in_place = old.opcode == new.opcode and old.opcode in _CHANGED_IN_PLACE
        if in_place and (old.name == new.name or (_is_result(before) and _is_result(after))):
            return Relation.SAME
        if (old.opcode, new.opcode) in REWRITES:
            return Relation.REWRITTEN
        lives = (
            stem(old.name) == stem(new.name)
            and (old.name == new.name or before.frame.number != after.frame.number)
            and self.forms.of(old) == self.forms.of(new)
            and self._operand_shapes(before) == self._operand_shapes(after)
            and not self._contracted(before)
            and self._reads_on(before, after)
        )
        return Relation.SAME if lives else Relation.REPLACED

    def _contracted(self, before: Node) -> bool:
        """Return whether two moves of the same data became one, which is a new instruction."""
        if before.instruction.opcode not in MOVES:
            return False
        source = self.before.graph.operands(before)[0][0] if before.instruction.operands else None
        free = source is not None and not source.kept and source.partner is None
        return free and source is not None and source.instruction.opcode in MOVES

    def _reads_on(self, before: Node, after: Node) -> bool:
        """Return whether an operand continues; with only new operands the instruction is new."""
        ours, theirs = self.before.graph.operands(before), self.after.graph.operands(after)
        values = zip(ours, theirs, strict=False)
        return len(ours) < 2 or any(node.token == other.token for (node, _), (other, _) in values)

    def _operand_shapes(self, node: Node) -> list[str]:
        """Return the shapes of the operands as written: XLA never changes them in place."""
        lines = node.frame.computation.by_name
        known = (lines.get(name) for name in node.instruction.operand_names)
        return ["" if line is None else self.forms.shape(line.shape) for line in known]

    def done(self) -> bool:
        """Return whether one side has no unpaired nodes left."""
        return not (self.before.has_open() and self.after.has_open())

    def finish(self) -> None:
        """Compute the values a last time, and find links by value."""
        self.evaluate()
        for link in self.links:
            link.relation = self._relation(link)
            self.by_token.setdefault(link.before.token, link)
            number = link.before.frame.number
            self.by_token_in_frame.setdefault((link.before.token, number), link)
        _pair_opened(self)

    def release(self) -> None:
        """Remove the references between nodes, so that the memory is freed at once."""
        for side in (self.before, self.after):
            side.graph.release()

    def itself_after(self, kept: Node) -> Node | None:
        """Return the node after the step of an instruction that the step kept as it is."""
        return self.after.itself(kept)

    def itself_before(self, kept: Node) -> Node | None:
        """Return the node before the step of an instruction that the step kept as it is."""
        return self.before.itself(kept)

    def is_kept(self, computation: str, instruction: str) -> bool:
        """Whether a line of a differing computation is in its partner as well."""
        for side in (self.before, self.after):
            home = side.homes.get(computation)
            line = None if home is None else home.computation.by_name.get(instruction)
            if home is not None and line is not None and line in home.kept:
                return True
        return False

    def same_place_after(self, place: Place) -> tuple[Place, ...]:
        """Return the new place of an unchanged old instruction; empty if there is none."""
        name = place.computation
        if name not in self.computations.left:
            name = self.computations.pairs.get(name, name)
        return _existing(self.after.graph.module, Place(name, place.instruction))

    def same_place_before(self, place: Place) -> tuple[Place, ...]:
        """Return the old place of an unchanged new instruction; empty if there is none."""
        name = self.computations.partners.get(place.computation, place.computation)
        return _existing(self.before.graph.module, Place(name, place.instruction))

    def evaluate(self) -> None:
        """Compute the value numbers of both sides again if there are new links."""
        count = len(self.links) + len(self.further)
        if self.settled != count:
            sides = self.before.values, self.after.values
            changed = [values.evaluate() for values in sides]
            if any(values.renames for values in sides):
                changed += [values.evaluate() for values in sides]
            self.settled = -1 if any(changed) else count


def _has_result_first(node: Node) -> bool:
    """Return whether the first tuple element is the result of a node without a tuple."""
    opcode, elements = node.instruction.opcode, node.instruction.shape.elements
    return bool(elements) and (opcode == _LIBRARY_CALL or len(elements) == 1)


def _is_result(node: Node) -> bool:
    """Whether a node is the tuple of all results of its computation."""
    line = node.instruction
    return line.opcode == "tuple" and line is node.frame.computation.root


def _pair_opened(search: Search) -> None:
    """Pair fused and called computations that only got another name: by their results."""
    known = search.computations
    for frame in search.before.graph.frames:
        root = frame.computation.root
        node = None if root is None else frame.nodes.get(root.name)
        name = frame.computation.name
        if node is None or node.partner is None or name in known.pairs or name not in known.before:
            continue
        other = node.partner.frame.computation
        free = other.name in known.after and other.name not in known.partners
        if free and node.partner.instruction is other.root:
            known.pair(name, other.name)


def _existing(module: HloModule, place: Place) -> tuple[Place, ...]:
    computation = module.by_name.get(place.computation)
    result = computation is not None and place.instruction in computation.by_name
    return (place,) if result else ()
