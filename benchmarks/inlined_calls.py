"""Calls told as inlined, beside how many calls of their computations are gone."""

from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule

_CALL = "call"


def inlined_failures(matching: Matching) -> Iterator[str]:
    """Yield the computations that still have calls, and lost fewer than are told as inlined."""
    told: Counter[str] = Counter()
    for pairing in matching.pairings:
        if pairing.relation is Relation.INLINED:
            lines = (matching.before.find(*place) for place in pairing.before)
            told.update(
                name for line in lines if line and line.opcode == _CALL for _, name in line.called
            )
    for name, count in told.items():
        before = _count_calls(matching.before, name)
        now = _count_calls(matching.after, matching.computations.get(name, name))
        if now and count > before - now:
            yield f"{count} calls of %{name} are inlined; it has {before} before, {now} after"


def _count_calls(module: HloModule, name: str) -> int:
    return sum(call.instruction.opcode == _CALL for call in module.calls.get(name, ()))
