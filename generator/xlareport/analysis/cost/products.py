"""Flops of matrix products and convolutions by element type: what matrix units can do."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from xlareport.analysis.cost.sizes import UncountableError
from xlareport.analysis.cost.tally import Local, Tally

_PRODUCTS = frozenset({"dot", "convolution", "ragged-dot", "scaled-dot", "custom-call"})
ByType = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Products:
    """The products of a module's computations; each computation is summed up once."""

    tallies: Mapping[str, Tally]
    known: dict[str, dict[str, int]] = field(default_factory=dict)

    def of(self, local: Local) -> tuple[tuple[str, int], ...]:
        """Return (element type of the operands, flops) of an instruction and what it fuses."""
        return tuple(sorted(self._of(local).items()))

    def add(self, name: str) -> None:
        """Sum up a computation; those that it calls were added before."""
        total: dict[str, int] = {}
        for local in self.tallies[name].locals:
            for kind, flops in self._of(local).items():
                total[kind] = total.get(kind, 0) + flops
        self.known[name] = total

    def _of(self, local: Local) -> ByType:
        opcode = local.instruction.opcode
        if opcode == "fusion":
            name = next((name for _, name in local.instruction.called), "")
            return self.known.get(name, {})
        if opcode not in _PRODUCTS or local.work is None or not local.work.flops:
            return {}
        try:
            return {local.site.operand(0).element_type: local.work.flops}
        except UncountableError:
            return {}
