"""What a sum or a product reads instead, where its terms or factors were grouped otherwise.

Constants of several operations in a row are folded into one of them: its number is another then.
"""

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.reasons import Regrouped
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.operands import compare_operands

_AS_BEFORE = frozenset({Relation.SAME, Relation.REPLACED})


def regrouped_operands(matching: Matching, before: Place, after: Place) -> str:
    """Return what a regrouped operation reads now, and that it gives the same; '' of others."""
    pairing = matching.pairing_after(after)
    if pairing is None or pairing.relation not in _AS_BEFORE:
        return ""
    reason = pairing.known_of(before, after).reason
    old, new = matching.before.find(*before), matching.after.find(*after)
    if not isinstance(reason, Regrouped) or old is None or new is None:
        return ""
    if old.opcode != new.opcode:
        return ""  # the event of the other opcode has the reason
    read = compare_operands(matching, (before, old), (after, new)).get(Kind.OPERANDS)
    return f"{read}: {reason}" if read else ""
