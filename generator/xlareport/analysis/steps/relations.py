"""What kind of change a pairing is, before its lines are compared."""

from xlareport.analysis.matching.search.pairing import (
    ChangeCause,
    PairEvidence,
    Pairing,
    Place,
    Relation,
)
from xlareport.analysis.matching.search.reasons import Past, Reason
from xlareport.analysis.steps.kinds import Kind

_SIMPLE = {
    Relation.REPLACED: Kind.REPLACED,
    Relation.REWRITTEN: Kind.REWRITTEN,
    Relation.COMBINED: Kind.COMBINED,
    Relation.SPLIT: Kind.SPLIT,
    Relation.EXPANDED: Kind.EXPANDED,
    Relation.ASYNC: Kind.ASYNC,
    Relation.SWAPPED: Kind.SWAPPED,
    Relation.MERGED: Kind.MERGED,
    Relation.CLONED: Kind.CLONED,
    Relation.FUSED: Kind.FUSED,
    Relation.ABSORBED: Kind.ABSORBED,
    Relation.INLINED: Kind.INLINED,
    Relation.OUTLINED: Kind.OUTLINED,
    Relation.REMOVED: Kind.REMOVED,
    Relation.ADDED: Kind.ADDED,
}


def kind_of(pairing: Pairing) -> Kind:
    """Return the kind of change of the first pair of a pairing, by its cause if it has one."""
    if pairing.cause is not None:
        return _OF_CAUSE[pairing.cause]
    return _SIMPLE.get(pairing.relation, Kind.CLONED)


def kind_of_further(pairing: Pairing, balance: int) -> Kind:
    """Return the kind of change of a further pair: of a copy made, or of a duplicate that went."""
    kind = kind_of(pairing)
    if kind in {Kind.CLONED, Kind.MERGED} and balance:
        return Kind.CLONED if balance > 0 else Kind.MERGED
    return kind


def kind_of_moved(pairing: Pairing, before: Place | None, after: Place | None) -> Kind:
    """Return the kind of change of a moved instruction, a copy (perhaps moved) or a duplicate."""
    if before not in pairing.before[:1]:
        return Kind.MERGED
    return Kind.SWAPPED if isinstance(pairing.known_of(before, after).reason, Past) else Kind.CLONED


def reason_of(kind: Kind, pairing: Pairing, known: PairEvidence) -> Reason:
    """Return the reason of a change; that of the first pair says nothing of further parts."""
    further = kind is Kind.PART and known.reason == pairing.reason
    if further and pairing.relation is Relation.SPLIT:
        return f"a part of what %{pairing.before[0].instruction} was split into"
    if further and pairing.relation is Relation.COMBINED:
        return f"a member of the combined %{pairing.after[0].instruction}"
    if kind is Kind.SWAPPED and isinstance(known.reason, Past):
        return Past(known.reason.instruction)
    return known.reason


_OF_CAUSE = {
    ChangeCause.ARGUMENT: Kind.ARGUMENT,
    ChangeCause.OPERAND: Kind.ARGUMENT,
    ChangeCause.UNMATCHED: Kind.ARGUMENT,
    ChangeCause.PARAMETER: Kind.PARAMETER,
    ChangeCause.UNCALLED: Kind.UNCALLED,
    ChangeCause.UNREAD: Kind.DEAD,
    ChangeCause.UNUSED: Kind.DEAD,
    ChangeCause.UNTRACED: Kind.UNTRACED,
}
