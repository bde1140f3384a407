"""The single changes of a step: pairings, classified by comparing the lines."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.account.fused import outermost
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import Past, Reason
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import holders_of
from xlareport.analysis.matching.sides.families import is_heavy_at
from xlareport.analysis.matching.sides.leftovers import is_idle, unread_heavy
from xlareport.analysis.source.scopes import scope
from xlareport.analysis.steps import destinations
from xlareport.analysis.steps.constants import is_constant
from xlareport.analysis.steps.details import Difference
from xlareport.analysis.steps.differences import by_weight, with_source
from xlareport.analysis.steps.folding import FOLDED_USERS, ConstantFolding, is_literal
from xlareport.analysis.steps.kinds import LOST, Kind
from xlareport.analysis.steps.later_operands import with_later_operands
from xlareport.analysis.steps.numbering import same_but_number
from xlareport.analysis.steps.operands import compare_operands
from xlareport.analysis.steps.promotions import promoted
from xlareport.analysis.steps.rebuilt import ANEW, as_rebuilt, was_rebuilt
from xlareport.analysis.steps.relations import kind_of, kind_of_further, kind_of_moved, reason_of
from xlareport.analysis.steps.replacements import besides_opcode, new_target, operation, target
from xlareport.analysis.steps.sequence import alignments
from xlareport.analysis.steps.staying import list_changing, list_staying
from xlareport.analysis.steps.turned import compare_turned
from xlareport.analysis.steps.unread import left_unread, read_instead
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import PLAIN
from xlareport.knowledge.grades import Grade


class Change(Struct):
    """The change of one instruction; never modified, but not frozen for speed."""

    kind: Kind
    """The weightiest of what happened."""
    before: Place | None
    after: Place | None
    grade: Grade
    reason: Reason
    scope: str
    """Named scopes of the framework op: `layer_3/mlp`; else the computation."""
    opcodes: tuple[str, str]
    """Before and after; '' where there is none."""
    kinds: tuple[Kind, ...]
    """Everything that happened, the weightiest first."""
    details: tuple[Difference, ...] = ()
    """Old and new value for each kind of change; empty if the pairing says everything."""
    numbering: bool = False
    """Nothing changed but numbers at the end of names."""
    members: tuple[Place, ...] = ()
    """Instructions on the other side that a fusion or call took in or released.

    Those that compute come first. For a combined instruction, all its sources; for a split one, all
    its parts.
    """
    copied: tuple[Place, ...] = ()
    """Members of a new fusion or call that stay outside too: it holds a copy of each."""
    balance: int = 0
    """Instructions that the module gains by it: 1, 0 or -1."""
    target: str = ""
    """Of the custom call that is new, was removed, took another's place, or begins its fusion."""

    @property
    def scoped(self) -> bool:
        """Whether the scope is a framework scope and not a computation's name in its place."""
        places = (self.before, self.after)
        return self.scope not in {place.computation for place in places if place is not None}


_TAKES_IN = frozenset({Kind.FUSED, Kind.OUTLINED})
_FROM_SEVERAL = _TAKES_IN | {Kind.COMBINED}
_INTO_SEVERAL = frozenset({Kind.ABSORBED, Kind.ASYNC, Kind.EXPANDED, Kind.INLINED, Kind.SPLIT})
_GONE = frozenset({Kind.REMOVED, Kind.UNTRACED})
_NEW_OPCODE = frozenset({Kind.ADDED, Kind.REPLACED, Kind.REWRITTEN})
_PARTED = frozenset({Relation.ASYNC, Relation.COMBINED, Relation.EXPANDED, Relation.SPLIT})
_KEEPING = _PARTED | {Relation.CLONED}
_HOLDING = frozenset({Relation.FUSED, Relation.OUTLINED})
_GIVEN_UP = frozenset({Relation.INLINED, Relation.ABSORBED})
_LOOP_SCOPE = "while/body"


def changes(matching: Matching) -> Iterator[Change]:
    """Yield every change between the two modules of a matching, in the order of its pairings."""
    reader = _Reader(matching)
    named = set()
    for pairing in list_changing(matching):
        for change in reader.read(pairing):
            named.add((change.kind, change.before))
            yield change
    for left in left_unread(matching):
        if (Kind.LEFT, left.before[0]) not in named:
            instead = read_instead(matching, left.before[0])
            details = (instead,) if instead else ()
            yield reader.change((Kind.LEFT,), left.before[0], left.after[0], left, details)
    yield from _reordered(matching)


class _Ledger:
    """Counts each instruction once, in the first change that names it, on either side.

    So that all changes of a step together say by how many instructions the module grew.
    """

    def __init__(self) -> None:
        self._before: set[Place] = set()
        self._after: set[Place] = set()

    def balance(self, relation: Relation, before: Place | None, after: Place | None) -> int:
        """Return the instructions gained; a fusion or call alone is new, what it holds is not."""
        gained = relation not in _GIVEN_UP and _enter(self._after, after)
        lost = relation not in _HOLDING and _enter(self._before, before)
        return gained - lost


def _enter(seen: set[Place], place: Place | None) -> bool:
    """Enter a place; say whether it is there for the first time."""
    if place is None or place in seen:
        return False
    seen.add(place)
    return True


class _Reader:
    def __init__(self, matching: Matching) -> None:
        self._matching = matching
        self._ledger = _Ledger()
        self._folding = ConstantFolding(matching)

    def read(self, pairing: Pairing) -> Iterator[Change]:
        further = [*_further(pairing)]
        kept = {pair for pair in further if self._is_kept(pairing, *pair)}
        for before, after in kept:
            self._ledger.balance(pairing.relation, before, after)
        if pairing.relation in _PAIRS:
            yield from self._first_pair(pairing)
        moved = pairing.relation is Relation.SWAPPED
        for before, after in further:
            if (before, after) not in kept:
                yield (self._moved if moved else self._further_change)(pairing, before, after)

    def _is_kept(self, pairing: Pairing, before: Place | None, after: Place | None) -> bool:
        """Return whether an instruction that was cloned, combined or split is itself as it was."""
        if pairing.relation not in _KEEPING or before is None or before != after:
            return False
        same = self._matching.before.find(*before) is self._matching.after.find(*before)
        return same and not self._is_left(before)

    def _moved(self, pairing: Pairing, before: Place | None, after: Place | None) -> Change:
        kind = kind_of_moved(pairing, before, after)
        balance = self._ledger.balance(pairing.relation, before, after)
        about = self._matching, before, after
        details = destinations.departure(*about) if kind is Kind.SWAPPED else ()
        return self.change((kind,), before, after, pairing, details, balance=balance)

    def _further_change(
        self, pairing: Pairing, before: Place | None, after: Place | None
    ) -> Change:
        first = before in pairing.before[:1] and after in pairing.after[:1]
        also = pairing.relation is Relation.EXPANDED and after == pairing.after[0]
        whole = first or also or pairing.relation not in _PARTED
        balance = self._ledger.balance(pairing.relation, before, after)
        former = kind = kind_of_further(pairing, balance) if whole else Kind.PART
        change = self.change((kind,), before, after, pairing, balance=balance)
        if also and not first:  # what it became has been told
            change = replace(change, members=())
        if kind is Kind.CLONED and before is not None and after is not None:
            about = before, after, change.opcodes[1], change.reason
            detail = destinations.detail_of_copy(self._matching, *about)
            change = replace(change, details=(detail,)) if detail else change
        if kind in _GONE and before and self._folding.folds(before):
            kind = Kind.FOLDED
        elif kind is Kind.INLINED and before and self._folding.is_value(before, pairing.after):
            return replace(change, kind=Kind.FOLDED, kinds=(Kind.FOLDED,), members=())
        elif kind is Kind.CLONED and before is not None and before == after:
            kind = Kind.LEFT if self._is_left(before) else Kind.PART
        elif kind is Kind.REPLACED and change.opcodes[0] == change.opcodes[1]:
            kind = _of_same_opcode(balance)
        elif kind is Kind.REPLACED and change.opcodes[0].endswith("-done"):
            kind = Kind.PART
        if kind is Kind.FOLDED and before is not None:
            change = replace(change, grade=Grade.MATCHED)
            if is_literal(self._matching.before, before):
                kind, change = Kind.DEAD, replace(change, reason=FOLDED_USERS)
        return change if kind is former else replace(change, kind=kind, kinds=(kind,))

    def _is_left(self, place: Place) -> bool:
        """Return whether an instruction after is without users, in a computation that runs."""
        after = self._matching.after
        home, line = after.by_name.get(place.computation), after.find(*place)
        if home is None or line is None:
            return False
        if not (is_idle(line, home) or line in unread_heavy(home)):
            return False
        return home is after.entry or home.name in holders_of(after)

    def _first_pair(self, pairing: Pairing) -> Iterator[Change]:
        before, after = pairing.before[0], pairing.after[0]
        balance = self._ledger.balance(pairing.relation, before, after)
        change = next(self._compared(pairing, balance), None)
        if balance and (change is None or change.numbering):
            kind = Kind.CLONED if balance > 0 else Kind.MERGED
            change = self.change((kind,), before, after, pairing, balance=balance)
        if change is not None:
            yield change

    def _compared(self, pairing: Pairing, balance: int) -> Iterator[Change]:
        before, after = pairing.before[0], pairing.after[0]
        old, new = self._matching.before.find(*before), self._matching.after.find(*after)
        if old is None or new is None or (old is new and before.computation == after.computation):
            return
        if old.opcode != new.opcode:
            yield self._replaced(pairing, (before, old), (after, new), balance)
            return
        result = compare_turned(self._matching, (before, old), (after, new))
        if old.opcode == "parameter" and not self._is_argument(after):
            result.pop(Kind.ATTRIBUTES, None)  # its number only says how many are before it
        home = self._matching.computations.get(before.computation, before.computation)
        if home != after.computation:
            result |= destinations.destination(self._matching, before, after, new.opcode)
            stands = before in pairing.after or self._matching.after.find(*before) is old
            if Kind.MOVED in result and stands:
                details = destinations.type_of_copy(old, new)
                yield self.change((Kind.CLONED,), before, after, pairing, details, balance=balance)
                return
        else:
            result |= compare_operands(self._matching, (before, old), (after, new))
            result = with_later_operands(self._matching, (before, old), (after, new), result)
        result = with_source(new.opcode, as_rebuilt(pairing, (old, new), result))
        if result:
            kinds = by_weight(result, new.opcode)
            details = tuple(result[kind] for kind in kinds)
            yield self.change(kinds, before, after, pairing, details, balance=balance)

    def _replaced(
        self,
        pairing: Pairing,
        before: tuple[Place, Instruction],
        after: tuple[Place, Instruction],
        balance: int,
    ) -> Change:
        (here, old), (there, new) = before, after
        kind = kind_of(pairing) if pairing.relation is Relation.REWRITTEN else Kind.REPLACED
        folded = new.opcode == "constant" and is_constant(self._matching.before, here)
        kind = Kind.FOLDED if folded else kind
        replaced = kind is Kind.REPLACED
        further = besides_opcode(self._matching, before, after) if replaced else {}
        if isinstance(pairing.reason, Past):  # the convert that it is past has changed no move
            further = {kind: other for kind, other in further.items() if kind is not Kind.TYPE}
        details = (f"{operation(old)} → {operation(new)}", *further.values())
        return self.change((kind, *further), here, there, pairing, details, balance=balance)

    def _is_argument(self, place: Place) -> bool:
        """Return whether a parameter is one of the module, of one program."""
        entry = self._matching.after.entry
        here = entry is not None and entry.name == place.computation
        return here and self._matching.same_program

    def _is_outside(self, place: Place, scope: str) -> bool:
        """Return whether a fusion or call of what a loop did is in no loop: in the entry."""
        entry = self._matching.after.entry
        return _LOOP_SCOPE in scope and entry is not None and entry.name == place.computation

    def _members(self, kind: Kind, pairing: Pairing) -> tuple[Place, ...]:
        if kind in _FROM_SEVERAL:
            module, members = (
                self._matching.before,
                outermost(self._matching.before, pairing.before),
            )
        elif kind in _INTO_SEVERAL:
            module, members = self._matching.after, pairing.after
        else:
            return ()
        ordered = sorted(members, key=lambda place: _is_plain(module, place))
        if kind is Kind.EXPANDED:  # what gives the result is named beside them
            result = pairing.after[0]
            ordered.sort(key=lambda place: (place == result, not is_heavy_at(module, place)))
        elif kind is Kind.SPLIT:  # the product before its sum
            ordered.sort(key=lambda place: not _is_multiply(module, place))
        return tuple(ordered)

    def change(
        self,
        kinds: tuple[Kind, ...],
        before: Place | None,
        after: Place | None,
        pairing: Pairing,
        details: tuple[Difference, ...] = (),
        *,
        balance: int = 0,
    ) -> Change:
        old = None if before is None else self._matching.before.find(*before)
        new = None if after is None else self._matching.after.find(*after)
        is_new = kinds[0] in _FROM_SEVERAL and new is not None
        place, line = (after, new) if is_new else (before or after, old or new)
        message = "" if line is None else scope(line)
        if is_new and place is not None and self._is_outside(place, message):
            message = ""
        old_opcode, new_opcode = (line.opcode if line else "" for line in (old, new))
        known = pairing.known_of(before, after)
        reason, members = reason_of(kinds[0], pairing, known), self._members(kinds[0], pairing)
        copied = tuple(list_staying(self._matching, members if kinds[0] in _TAKES_IN else ()))
        if kinds[0] is Kind.COMBINED and (other := promoted(self._matching, pairing.before, after)):
            details = (other,)
        return Change(
            kind=kinds[0],
            before=before,
            after=after,
            grade=known.grade,
            reason=f"{reason}, {len(copied):,} of them copied" if copied else reason,
            kinds=kinds,
            scope=message or (place.computation if place else ""),
            opcodes=(
                "" if kinds[0] in _TAKES_IN else old_opcode,
                "" if kinds[0] is Kind.INLINED else new_opcode,
            ),
            details=details,
            numbering=kinds[0] is Kind.RENAMED and same_but_number(before, after),
            members=members,
            copied=copied,
            balance=balance,
            target=new_target(self._matching.after, after, old)
            if old_opcode != new_opcode and kinds[0] in _NEW_OPCODE
            else target(old)
            if kinds[0] in LOST and old is not None
            else "",
        )


def _of_same_opcode(balance: int) -> Kind:
    """Return the kind of a further place of what was rebuilt: once more, or once less.

    Of one that is counted with another pairing, it is a part of what is told there.
    """
    if balance:
        return Kind.CLONED if balance > 0 else Kind.MERGED
    return Kind.PART


def _is_plain(module: HloModule, place: Place) -> bool:
    """Return whether an instruction makes or passes on values without computing any."""
    line = module.find(*place)
    return line is None or line.opcode in PLAIN


def _is_multiply(module: HloModule, place: Place) -> bool:
    line = module.find(*place)
    return line is not None and line.opcode == "multiply"


_PAIRS = ANEW | {Relation.SAME, Relation.MERGED, Relation.CLONED}


def _further(pairing: Pairing) -> Iterator[tuple[Place | None, Place | None]]:
    """Yield the places beyond the first pair: copies, duplicates, what has no partner."""
    before, after = pairing.before, pairing.after
    if pairing.relation in _PAIRS:
        yield from ((place, after[0]) for place in before[1:])
        yield from ((before[0], place) for place in after[1:])
    else:
        yield (before[0] if before else None, after[0] if after else None)
        if pairing.relation in _PARTED or pairing.relation is Relation.SWAPPED:
            yield from ((place, after[0]) for place in before[1:])
            yield from ((before[0], place) for place in after[1:])


def _reordered(matching: Matching) -> Iterator[Change]:
    """Yield instructions that run earlier or later, if both modules are scheduled."""
    if not (matching.before.is_scheduled and matching.after.is_scheduled):
        return
    for alignment in alignments(matching):
        for here, there in alignment.moved:
            line = alignment.before.instructions[here]
            place = Place(alignment.before.name, line.name)
            pairing = matching.pairing_before(place)
            now = alignment.after.instructions[there]
            if pairing is not None and was_rebuilt(pairing, line, now):
                continue  # it was not moved
            yield Change(
                kind=Kind.REORDERED,
                before=place,
                after=Place(alignment.after.name, now.name),
                grade=Grade.EXACT,
                reason="stands at another place in the schedule",
                details=(alignment.describe_move(here, there),),
                scope=scope(line) or alignment.before.name,
                opcodes=(line.opcode, line.opcode),
                kinds=(Kind.REORDERED,),
            )
