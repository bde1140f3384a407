"""The count of a module by XLA's own rules, with which `cost_analysis()` can be verified.

Loop bodies count once, a custom call as -1.
"""

from msgspec import Struct, field

from xlareport.analysis.cost.totals import Composition, OwnCost, Total, total_of
from xlareport.analysis.cost.traffic import XLA
from xlareport.hlo.model import Computation, Instruction


class XlaCount(Struct, frozen=True):
    """XLA's totals of one module, computation by computation."""

    _composition: Composition
    totals: dict[str, Total | None] = field(default_factory=dict)
    """By the names of the computations; None if XLA could not count."""

    def add(self, computation: Computation) -> None:
        """Sum up one computation; those that it calls were added before."""
        tally = self._composition.tallies[computation.name]
        self.totals[computation.name] = _known_sum([self._cost(local) for local in tally.locals])

    def _cost(self, local: OwnCost) -> Total | None:
        instruction = local.instruction
        if instruction.opcode == "fusion":
            return self._fusion(local)
        if local.xla_work is None or local.xla_bytes is None:
            return None
        work = local.xla_work
        total = Total(work.flops, work.transcendentals, local.xla_bytes)
        return self._with_called(instruction, self._with_applied(local, total))

    def _with_called(self, instruction: Instruction, total: Total | None) -> Total | None:
        called = [self.totals.get(name) for _, name in instruction.called]
        match instruction.opcode:
            case "while" | "call" | "async-start":
                return _known_sum([total, *called])
            case "conditional":
                return _highest([total for total in called if total is not None], len(called))
        return total

    def _with_applied(self, local: OwnCost, total: Total) -> Total | None:
        parts: list[Total | None] = [total]
        for name, times in local.applied.items():
            applied = self.totals.get(name)
            parts.append(applied.arithmetic() * times if applied is not None else None)
        return _known_sum(parts)

    def _fusion(self, local: OwnCost) -> Total | None:
        indexed = self._indexed_access(local.instruction)
        if indexed is not None:
            return self._cost(indexed)
        traffic = self._composition.fused_traffic(local, XLA)
        inside = [self.totals.get(name) for _, name in local.instruction.called]
        total = _known_sum(inside)
        if traffic is None or total is None:
            return None
        return Total(total.flops, total.transcendentals, traffic.total)

    def _indexed_access(self, fusion: Instruction) -> OwnCost | None:
        """Return the gather or scatter that XLA takes a custom fusion for."""
        if fusion.attributes.get("kind") != "kCustom":
            return None
        tallies = (self._composition.tallies.get(name) for _, name in fusion.called)
        inside = (local for tally in tallies if tally is not None for local in tally.locals)
        wanted = (local for local in inside if local.instruction.opcode in ("gather", "scatter"))
        return next(wanted, None)


def _known_sum(parts: list[Total | None]) -> Total | None:
    counted = [part for part in parts if part is not None]
    return total_of(counted) if len(counted) == len(parts) else None


def _highest(branches: list[Total], expected: int) -> Total | None:
    """Return the maximum of each figure over the branches, as XLA does."""
    if len(branches) != expected or not branches:
        return None
    return Total(
        max(branch.flops for branch in branches),
        max(branch.transcendentals for branch in branches),
        max(branch.bytes_accessed for branch in branches),
    )
