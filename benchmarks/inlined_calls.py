"""Calls told as inlined, beside how many calls of their computations are gone."""

from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule, Instruction

_CALL = "call"


def inlined_failures(matching: Matching) -> Iterator[str]:
    """Yield the computations that still have calls, and lost fewer than are told as inlined."""
    told: Counter[str] = Counter()
    for pairing in matching.pairings:
        if pairing.relation is Relation.INLINED:
            lines = (matching.before.find(*place) for place in pairing.before)
            told.update(_called(line) for line in lines if line and line.opcode == _CALL)
    if not told:
        return
    before, after = _calls(matching.before), _calls(matching.after)
    for name, count in told.items():
        now = after[matching.computations.get(name, name)]
        if now and count > before[name] - now:
            yield f"{count} calls of %{name} are inlined; it has {before[name]} before, {now} after"


def _calls(module: HloModule) -> Counter[str]:
    return Counter(
        _called(line)
        for computation in module.computations
        for line in computation.instructions
        if line.opcode == _CALL
    )


def _called(call: Instruction) -> str:
    return dict(call.called).get("to_apply", "")
