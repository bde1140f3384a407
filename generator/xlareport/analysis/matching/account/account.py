"""Turns a finished search into pairings; every difference between the modules gets one."""

from collections.abc import Mapping

from msgspec.structs import replace

from xlareport.analysis.matching.account.additions import Additions
from xlareport.analysis.matching.account.called_expansions import explain_new_calls
from xlareport.analysis.matching.account.changed_copies import changed_copies
from xlareport.analysis.matching.account.copies import (
    continues_others,
    copies_merged,
    inlined_copies,
    list_copies,
)
from xlareport.analysis.matching.account.empty_calls import why_empty
from xlareport.analysis.matching.account.expanded import with_expansions
from xlareport.analysis.matching.account.fused import FusionSources
from xlareport.analysis.matching.account.holders import Holders, is_called_again, may_hold
from xlareport.analysis.matching.account.merged_callees import add_merged_callees
from xlareport.analysis.matching.account.mixed_halves import mark_mixed_halves
from xlareport.analysis.matching.account.order import in_order
from xlareport.analysis.matching.account.removals import Removals
from xlareport.analysis.matching.account.repeated_bodies import (
    by_place_after,
    repeated_bodies,
    repeated_from,
)
from xlareport.analysis.matching.account.repeated_holders import add_repeated_holders
from xlareport.analysis.matching.account.untraced import mark_untraced
from xlareport.analysis.matching.rules.loops.bodies import moved_out
from xlareport.analysis.matching.search.nodes import place_of
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import BothBranches, Reason
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Frame, Node, most_nodes
from xlareport.analysis.matching.sides.leftovers import is_left_over
from xlareport.analysis.matching.sides.paired_lines import pair_lines
from xlareport.knowledge.grades import Grade, weakest
from xlareport.runtime import units


def pairings(search: Search) -> list[Pairing]:
    """Return every pairing of a finished search, in the order of the module before."""
    account = _Account(search)
    account.groups()
    account.links()
    if search.parted is None:
        account.copies_of_computations()
    account.leftovers()
    account.fusions()
    result = account.pairings()
    explain_new_calls(search, result)
    modules = search.before.graph.module, search.after.graph.module
    add_repeated_holders(*modules, result)
    add_merged_callees(search, result)
    mark_mixed_halves(search, result)
    mark_untraced(search, result)
    return in_order(search, result)


class _Account:
    """Collects the pairings of each instruction: partners, copies, duplicates, removals."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._removals, self._additions = Removals(search), Additions(search)
        self._holders = Holders(search)
        self._pairings: list[Pairing] = []
        self._new_holders: list[Pairing] = []
        """Pairings of new fusions and calls with the instructions that they contain."""
        self._partner: dict[Place, Pairing] = {}
        """Pairings by the old instruction, its primary partner first; copies are added to them."""
        self._partner_of: dict[Place, Pairing] = {}
        """The same by the place after; duplicates join them."""
        self._accounted: set[Place] = set()
        self._placed_after: set[Place] = set()

    def pairings(self) -> list[Pairing]:
        """Return all pairings collected so far."""
        return [
            *self._new_holders,
            *self._pairings,
            *{id(pairing): pairing for pairing in self._partner.values()}.values(),
        ]

    def links(self) -> None:
        """Return the partners; an instruction of a computation called twice has two."""
        order = sorted(self._search.links, key=_renames)
        for link in order:
            before, after = place_of(link.before), place_of(link.after)
            if link.relation is Relation.COMBINED:
                self._combine(before, after, link)
                continue
            if before == after and self._unchanged(before) and self._unchanged(after):
                continue
            if before in self._partner or self._unchanged(before):
                for node in (link.after, *self._search.further.get(link.before, ())):
                    self._copy(before, place_of(node), link.grade, link.reason)
            elif after in self._partner_of or self._unchanged(after):
                self._duplicate(before, after, link.grade, link.reason)
            else:
                self._pair(before, after, link)

    def _unchanged(self, place: Place) -> bool:
        """Whether a place is in both modules in the same line."""
        correspondence = self._search.computations
        name = place.computation
        shared = name not in correspondence.before and name not in correspondence.after
        return (
            shared or name in correspondence.left or self._search.is_kept(name, place.instruction)
        )

    def _pair(self, before: Place, after: Place, link: NodePair) -> None:
        further = [place_of(node) for node in self._search.further.get(link.before, ())]
        places = (after, *further)
        pairing = Pairing((before,), places, link.grade, link.reason, link.relation)
        self._partner[before] = pairing
        self._partner_of.update(dict.fromkeys(places, pairing))
        self._accounted.add(before)
        self._placed_after.update(places)

    def _combine(self, before: Place, after: Place, link: NodePair) -> None:
        """Record that `before` was merged with others into `after`; called in operand order.

        If `before` also remains in the new module without a caller, add it to the pairing as well.
        """
        pairing = self._partner_of.get(after)
        if pairing is None:
            self._pair(before, after, link)
            pairing = self._partner[before]
        elif before not in self._accounted:
            self._accounted.add(before)
            self._partner[before] = pairing
            pairing.before = (*pairing.before, before)
            pairing.add_evidence((before, after), link.grade, link.reason)
        else:
            return
        for itself in self._search.same_place_after(before) if self._unchanged(before) else ():
            if itself not in self._placed_after:
                self._placed_after.add(itself)
                pairing.after = (*pairing.after, itself)

    def _copy(self, before: Place, after: Place, grade: Grade, reason: Reason) -> None:
        """Record `after` as a further copy of `before`, which may have a partner already."""
        if after in self._placed_after or self._unchanged(after):
            return
        self._placed_after.add(after)
        pairing = self._partner.get(before)
        if pairing is None:
            itself = self._search.same_place_after(before)
            pairing = Pairing((before,), itself, grade, reason, Relation.CLONED)
            self._partner[before] = pairing
        if after in pairing.after:  # a duplicate of nothing else: it continues there
            if len(pairing.before) == 1:
                pairing.relation = Relation.SAME
            return
        pairing.after = (*pairing.after, after)
        pairing.add_evidence((before, after), grade, reason)
        if len(pairing.after) > 1 and is_left_over(
            self._search.after.graph.module, pairing.after[0]
        ):
            pairing.after = (*pairing.after[1:], pairing.after[0])
        if pairing.relation is Relation.SAME:
            pairing.relation = Relation.CLONED

    def _duplicate(self, before: Place, after: Place, grade: Grade, reason: Reason) -> None:
        """Record that `before` became the same instruction as one that `after` continues."""
        if before in self._accounted or self._unchanged(before):
            return
        self._accounted.add(before)
        copied = self._partner.get(before)
        if copied is not None:
            self._join(copied, after)
            copied.add_evidence((before, after), grade, reason)
            return
        pairing = self._partner_of.get(after)
        if pairing is None:
            itself = self._search.same_place_before(after)
            pairing = Pairing(itself, (after,), grade, reason, Relation.MERGED)
            self._partner_of[after] = self._partner[itself[0] if itself else before] = pairing
        pairing.before = (*pairing.before, before)
        pairing.add_evidence((before, after), grade, reason)
        if pairing.relation is Relation.SAME:
            pairing.relation = Relation.MERGED

    def _join(self, copied: Pairing, after: Place) -> None:
        """Add to a pairing with copies that its instruction was merged into `after`."""
        if after not in copied.after:
            copied.after = (*copied.after, after)
        self._placed_after.add(after)
        self._partner_of.setdefault(after, copied)

    def groups(self) -> None:
        """Record the contents of new fusions and calls, and the fate of removed ones."""
        for frame in self._search.after.graph.frames:
            holder = frame.caller
            if not may_hold(holder, self._search):
                continue
            places = self._holders.sources(frame, self._additions.source)
            if places and not is_called_again(self._search, holder, places):
                place, relation = place_of(holder), _HOLDING[holder.instruction.opcode]
                self._placed_after.add(place)
                reason = "its computation holds them"  # until all of it has been told
                self._new_holders.append(Pairing(places, (place,), Grade.MATCHED, reason, relation))
        for frame in self._search.before.graph.frames:
            if may_hold(frame.caller, self._search):
                self._account_for_contents(frame, frame.caller)
        for node in self._search.before.open():
            if node in self._search.inlined:
                self._account_for_inlined(node)
            elif node.instruction.opcode == "while":
                self._account_for_loop(node)

    def _account_for_contents(self, frame: Frame, holder: Node) -> None:
        """Record where the contents of a removed fusion or call are now."""
        contents = self._holders.contents(frame, self._removals.twin)
        place = place_of(holder)
        is_call = holder.instruction.opcode == "call"
        if contents.fusions and (contents.mostly or not is_call):
            grade, reason = contents.grade, contents.reason
            pairing = Pairing((place,), contents.fusions, grade, reason, Relation.ABSORBED)
        elif contents.fusions:
            reason = "no single fusion holds most of it"
            pairing = Pairing((place,), (), Grade.MATCHED, reason, Relation.INLINED)
        elif contents.outside:
            reason = f"into {units.plural(len(contents.outside), 'instruction')}"
            grade, outside = contents.grade, contents.outside
            pairing = Pairing((place,), outside, grade, reason, Relation.INLINED)
        elif is_call and self._removals.cause(holder) is None:
            why = why_empty(self._search, holder)
            if why is None:
                return
            pairing = Pairing((place,), (), Grade.MATCHED, why, Relation.INLINED)
        else:
            return
        self._accounted.add(place)
        self._pairings.append(pairing)

    def _account_for_inlined(self, holder: Node) -> None:
        """Record the instructions that do the work of a removed loop or conditional once."""
        places = tuple(dict.fromkeys(map(place_of, moved_out(self._search, holder))))
        place = place_of(holder)
        self._accounted.add(place)
        selects = self._search.selected.get(holder, 0)
        whole = f"into {units.plural(len(places), 'instruction')}"
        reason: Reason = BothBranches(selects) if selects else whole
        self._pairings.append(Pairing((place,), places, Grade.MATCHED, reason, Relation.INLINED))

    def _account_for_loop(self, loop: Node) -> None:
        """Record where the body of a former loop is now, if in the place of the loop."""
        unrolled = self._holders.unrolled(loop, self._removals.twin)
        if unrolled is not None:
            place = place_of(loop)
            self._accounted.add(place)
            pairing = Pairing((place,), unrolled.outside, unrolled.grade, unrolled.reason)
            pairing.relation = Relation.INLINED
            self._pairings.append(pairing)

    def copies_of_computations(self) -> None:
        """Record further copies of closed computations, and copies that were merged."""
        before = self._search.before.graph.module.by_name
        after = self._search.after.graph.module.by_name
        for new, old, grade in list_copies(self._search):
            root = after[new].root
            elsewhere = root is not None and Place(new, root.name) in self._placed_after
            if not (elsewhere and grade is Grade.GUESSED):
                self._account_for_copy(old, new, grade)
        for old, new, grade in copies_merged(self._search):
            reason = f"%{old} held the same as %{new}"
            for name, other in pair_lines(before[old], after[new]).items():
                self._duplicate(Place(old, name), Place(new, other.name), grade, reason)
        for line in changed_copies(self._search):
            if line.after not in self._placed_after:
                reason = f"%{line.after.computation} is made of %{line.before.computation}"
                self._copy(line.before, line.after, line.grade, reason)

    def _account_for_copy(self, old: str, new: str, grade: Grade) -> None:
        """Record that a new computation, and each new one that it calls, is a copy."""
        before = self._search.before.graph.module.by_name
        after = self._search.after.graph.module.by_name
        waiting = [(old, new)]
        for name, copy in waiting:
            if continues_others(after[copy], self._placed_after):
                continue
            pairs = pair_lines(before[name], after[copy])
            for instruction in before[name].instructions:
                other = pairs.get(instruction.name)
                if other is not None:
                    places = Place(name, instruction.name), Place(copy, other.name)
                    self._copy(*places, grade, f"%{copy} is a copy of %{name}")
                    waiting += inlined_copies(self._search, instruction, other)

    def leftovers(self) -> None:
        """Record a removal or an addition for each instruction that has no pairing yet."""
        for node in self._search.before.open():
            place = place_of(node)
            if place not in self._accounted and not self._unchanged(place):
                self._account_for_gone(node, place)
        repeated, left = repeated_bodies(self._search), list[Node]()
        for node in self._search.after.open():
            place = place_of(node)
            if place in repeated:
                left.append(node)
            elif place not in self._placed_after and not self._unchanged(place):
                self._account_for_new(node, place)
        self._account_for_repeated(left, repeated)
        self._pairings = with_expansions(self._search, self._pairings, self._partner)

    def _account_for_repeated(self, nodes: list[Node], repeated: Mapping[Place, Place]) -> None:
        """Record new lines as copies of what the lines that they repeat come from."""
        known = by_place_after(self.pairings()) if nodes else {}
        for node in nodes:
            place = place_of(node)
            pairing = known.get(repeated[place])
            if place in self._placed_after or self._unchanged(place):
                continue
            if pairing is None or not pairing.before:
                self._account_for_new(node, place)
            elif pairing.relation in _HOLDING.values():
                self._placed_after.add(place)
                self._new_holders.append(replace(pairing, after=(place,)))
            else:
                self._copy(
                    pairing.before[0], place, *repeated_from(pairing, repeated[place], place)
                )

    def fusions(self) -> None:
        """Record the sources of new fusions and calls; called after their contents are recorded."""
        modules = self._search.before.graph.module, self._search.after.graph.module
        budget = most_nodes(self._search.computations.most_lines)
        sources = FusionSources(modules, self._same_before, self.pairings(), budget)
        self._add_holders_of_expanded(sources)
        for pairing in self._new_holders:
            source = sources.of(pairing.after[0], pairing.before)
            verb = "fuses" if pairing.relation is Relation.FUSED else "calls"
            pairing.before, pairing.grade = source.places, source.grade
            pairing.reason = f"{verb} {source.words}"
        self._note_taken_in(sources)

    def _add_holders_of_expanded(self, sources: FusionSources) -> None:
        """Record what the fusions that were told as added hold of expanded instructions."""
        find, rest = self._search.after.graph.module.find, list[Pairing]()
        for pairing in self._pairings:
            added = pairing.relation is Relation.ADDED
            line = find(*pairing.after[0]) if added else None
            if line is not None and line.opcode == "fusion" and sources.holds_expanded(line):
                pairing.relation = Relation.FUSED
                self._new_holders.append(pairing)
            else:
                rest.append(pairing)
        self._pairings = rest

    def _note_taken_in(self, sources: FusionSources) -> None:
        """Record what was fused into existing fusions whose computations changed."""
        absorbed: dict[Place, list[Place]] = {}
        for pairing in self._pairings:
            if pairing.relation is Relation.ABSORBED:
                absorbed.setdefault(pairing.after[0], []).append(pairing.before[0])
        differing = self._search.computations.after
        for link in self._search.links:
            line, place = link.after.instruction, place_of(link.after)
            fusion = line.opcode == "fusion" and any(name in differing for _, name in line.called)
            known = self._partner_of.get(place) if fusion else None
            if known is not None and known.after[0] == place and not known.taken_in:
                former = tuple(absorbed.get(place, ()))
                known.taken_in, grade = sources.taken_in(place, known.before[0], former)
                known.taken_grade = weakest((known.grade, grade))

    def _same_before(self, place: Place) -> tuple[Place, ...] | None:
        """Return the old place of an unchanged new place; None if it changed."""
        return self._search.same_place_before(place) if self._unchanged(place) else None

    def _account_for_gone(self, node: Node, place: Place) -> None:
        verdict = self._removals.verdict(node)
        if verdict.twin is not None:
            self._duplicate(place, place_of(verdict.twin), verdict.grade, verdict.reason)
            return
        self._accounted.add(place)
        relation = Relation.REMOVED
        pairing = Pairing((place,), (), verdict.grade, verdict.reason, relation, verdict.cause)
        self._pairings.append(pairing)

    def _account_for_new(self, node: Node, place: Place) -> None:
        verdict = self._additions.verdict(node)
        if verdict.twin is not None:
            self._copy(place_of(verdict.twin), place, verdict.grade, verdict.reason)
            return
        self._placed_after.add(place)
        relation = Relation.ADDED
        pairing = Pairing((), (place,), verdict.grade, verdict.reason, relation, verdict.cause)
        self._pairings.append(pairing)


_HOLDING = {"fusion": Relation.FUSED, "call": Relation.OUTLINED}


def _renames(link: NodePair) -> bool:
    return link.before.instruction.name != link.after.instruction.name
