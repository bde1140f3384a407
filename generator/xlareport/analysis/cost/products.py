"""Flops by what computes them: matrix products by their precision, everything else by its type."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from xlareport.analysis.cost.operations import arithmetic_type
from xlareport.analysis.cost.precision import PRODUCTS, product_kind
from xlareport.analysis.cost.tally import Local, Tally

_ByKind = Mapping[tuple[bool, str], int]
"""(whether it is a product, kind) -> flops."""


@dataclass(frozen=True, slots=True)
class Products:
    """The arithmetic of a module's computations; each computation is summed up once."""

    tallies: Mapping[str, Tally]
    known: dict[str, Counter[tuple[bool, str]]] = field(default_factory=dict)

    def of(self, local: Local, *, products: bool) -> tuple[tuple[str, int], ...]:
        """Return (kind, flops) of an instruction and what it fuses or applies.

        The kind of a product is as `product_kind` has it, that of other work a type of elements.
        """
        return tuple(
            sorted(
                (kind, flops)
                for (is_product, kind), flops in self._of(local).items()
                if is_product is products
            )
        )

    def add(self, name: str) -> None:
        """Sum up a computation; those that it calls were added before."""
        total: Counter[tuple[bool, str]] = Counter()
        for local in self.tallies[name].locals:
            total.update(self._of(local))
        self.known[name] = total

    def _of(self, local: Local) -> _ByKind:
        if local.instruction.opcode == "fusion":
            name = next((name for _, name in local.instruction.called), "")
            return self.known.get(name, Counter())
        total: Counter[tuple[bool, str]] = Counter()
        work = local.work
        if local.instruction.opcode in PRODUCTS and work is not None and work.flops:
            total[True, product_kind(local.site)] += work.flops
        elif work is not None and work.flops + work.transcendentals:
            total[False, arithmetic_type(local.site)] += work.flops + work.transcendentals
        for name, times in local.applied.items():
            for key, flops in self.known.get(name, Counter()).items():
                total[key] += flops * times
        return total
