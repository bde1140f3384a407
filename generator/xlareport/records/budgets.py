"""Budgets: what a comparison may cost before it counts as a breach.

run_nanoseconds > +10%      a run, as measured, became slower by more than ten percent
peak_bytes > +5%            a figure of any module grew by more than five percent
instructions[main] > +100   that of the main program by more than a hundred
flops[jit_eval] > 3G        that of a module, by its name or key, is above a bound
tpu_cycles[main] > +5%      cycles of the TPU programs; static ones where a loop is not known
spills[main] > 0            stores of spilled vector registers of a TPU
new:all-to-all              an operation is there that was not there before
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xlareport.analysis.compare.comparison import Quantity
from xlareport.analysis.tpu.changes import CYCLES, SPILLS, STATIC_CYCLES
from xlareport.records.compare import RUN, BreachRecord, ComparedRecord, ComparisonRecord
from xlareport.runtime.errors import XlareportError

_BUDGET = re.compile(
    r"(?P<figure>[a-z_]{1,64})(?:\[(?P<module>[^\]]{1,400})\])?\s{0,9}>\s{0,9}"
    r"(?P<more>\+)?(?P<number>\d{1,18}(?:\.\d{1,9})?)\s?(?P<unit>%|[kMGT]i?B?|B)?"
)
_NEW = re.compile(r"new:(?P<opcode>[a-z][a-z0-9-]{0,63})(?:\[(?P<module>[^\]]{1,400})\])?")
_FIGURES = {
    CYCLES: (CYCLES, STATIC_CYCLES),
    "peak_bytes": ("occupied_peak_bytes", "allocated_bytes"),
    **{
        name: (name,)
        for name in (
            "instructions",
            "computations",
            "flops",
            "bytes_accessed",
            "xla_flops",
            "xla_bytes_accessed",
            "allocated_bytes",
            "live_peak_bytes",
            "occupied_peak_bytes",
            "temp_bytes",
            SPILLS,
            RUN,
        )
    },
}
"""What a budget may name, and the figures of the report it stands for, the first that is known."""
_SCALES = {"k": 1, "M": 2, "G": 3, "T": 4}


class BudgetError(XlareportError):
    """A budget that cannot be understood."""

    def __init__(self, budget: str) -> None:
        names = ", ".join(_FIGURES)
        super().__init__(
            f"{budget!r} is no budget. Write `FIGURE > LIMIT`, `FIGURE[MODULE] > +5%` or "
            f"`new:OPCODE`; a figure is one of {names}."
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """One budget; `figures` is empty for an operation that must not be new."""

    text: str
    module: str | None
    figures: tuple[str, ...]
    opcode: str
    limit: float
    """A share for `%`, else in the figure's own unit."""
    grown: bool
    """The limit is on the growth, not on the figure."""
    share: bool


def parse_budget(text: str) -> Budget:
    """Understand a budget; raises BudgetError."""
    if new := _NEW.fullmatch(text.strip()):
        return Budget(text, new["module"], (), new["opcode"], 0, grown=False, share=False)
    match = _BUDGET.fullmatch(text.strip())
    if match is None or match["figure"] not in _FIGURES:
        raise BudgetError(text)
    share = match["unit"] == "%"
    if share and not match["more"]:
        raise BudgetError(text)
    return Budget(
        text=text,
        module=match["module"],
        figures=_FIGURES[match["figure"]],
        opcode="",
        limit=float(match["number"]) * _scale(match["unit"] or ""),
        grown=bool(match["more"]),
        share=share,
    )


def _scale(unit: str) -> float:
    if unit == "%":
        return 0.01
    base = 1024 if "i" in unit else 1000
    return float(base ** _SCALES.get(unit[:1], 0))


@dataclass(frozen=True, slots=True)
class Checked:
    """What the budgets say of a comparison."""

    breaches: tuple[BreachRecord, ...]
    unchecked: tuple[str, ...]
    """Budgets for which no module has the figures."""


def check(view: ComparisonRecord, budgets: Iterable[Budget]) -> Checked:
    """Hold a comparison against budgets, module by module."""
    breaches: list[BreachRecord] = []
    unchecked: list[str] = []
    for budget in budgets:
        members = [module for module in view.modules if module.head and _meant(budget, module)]
        breaches += [breach for member in members for breach in _breaches(budget, member)]
        if not budget.opcode and not any(_quantity(budget, member) for member in members):
            unchecked.append(budget.text)
    return Checked(tuple(breaches), tuple(unchecked))


def _meant(budget: Budget, compared: ComparedRecord) -> bool:
    if budget.module == "main":
        return compared.main
    return budget.module in (None, compared.name, compared.head, compared.base)


def _breaches(budget: Budget, compared: ComparedRecord) -> Iterator[BreachRecord]:
    if budget.opcode:
        for name, base, head in compared.opcodes:
            if name == budget.opcode and base == 0 < head:
                message = f"{compared.name} has {head:,} {name}, which the base had not."
                yield BreachRecord(budget.text, compared.name, message)
        return
    quantity = _quantity(budget, compared)
    if quantity is not None and _breaks(budget, quantity):
        was = "unknown" if quantity.base is None else f"{quantity.base:,}"
        change = "" if quantity.change is None else f" ({quantity.change:+.1%})"
        message = (
            f"{quantity.name} of {compared.name} went from {was} to {quantity.head:,}{change}."
        )
        yield BreachRecord(budget.text, compared.name, message)


def _quantity(budget: Budget, compared: ComparedRecord) -> Quantity | None:
    """Return the first of the figures that is known on all sides that the budget needs."""
    known = {each.name: each for each in compared.figures}
    for name in budget.figures:
        quantity = known.get(name)
        if (
            quantity
            and quantity.head is not None
            and (quantity.base is not None or not budget.grown)
        ):
            return quantity
    return None


def _breaks(budget: Budget, quantity: Quantity) -> bool:
    head, base = quantity.head or 0, quantity.base or 0
    if not budget.grown:
        return head > budget.limit
    if budget.share:
        return head > base * (1 + budget.limit)
    return head - base > budget.limit
