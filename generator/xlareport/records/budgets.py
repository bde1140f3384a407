"""Budgets: what a comparison may cost before it counts as a breach.

run_nanoseconds > +10%      a run, as measured, became slower by more than ten percent
peak_bytes > +5%            a figure of any module grew by more than five percent
instructions[main] > +100   that of the main program by more than a hundred
flops[jit_eval] > 3G        that of a module, by its name, function or key, is above a bound
tpu_cycles[main] > +5%      cycles of the TPU programs; static ones where a loop is not known
spills[main] > 0            stores of spilled vector registers of a TPU
new:all-to-all              an operation is there that was not there before, in any form:
                            `new:all-reduce` counts `all-reduce-start` too
"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from msgspec import Struct

from xlareport.analysis.compare.comparison import Quantity
from xlareport.analysis.compare.module_facts import MEMORY
from xlareport.analysis.tpu.compared_programs import CYCLES, SPILLS, STATIC_CYCLES
from xlareport.dump.module_names import explain_module
from xlareport.knowledge.opcodes import all_entries, operation_of
from xlareport.records.compare import (
    RUN,
    BreachRecord,
    ComparedRecord,
    ComparisonRecord,
    UncheckedRecord,
)
from xlareport.runtime import units
from xlareport.runtime.errors import UnknownNameError, XlareportError

_BUDGET = re.compile(
    r"(?P<figure>[a-z_]{1,64})(?:\[(?P<module>[^\]]{1,400})\])?\s{0,9}>\s{0,9}"
    r"(?P<more>\+)?(?P<number>\d{1,18}(?:\.\d{1,9})?)\s?(?P<unit>%|[kKMGT]i?B?|B)?"
)
_NEW = re.compile(r"new:(?P<opcode>[a-z][a-z0-9-]{0,63})(?:\[(?P<module>[^\]]{1,400})\])?")
_FIGURES = {
    CYCLES: (CYCLES, STATIC_CYCLES),
    "peak_bytes": MEMORY,
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
"""Names in budgets, with the figures of the report that they mean; the first known one counts."""


class BudgetError(XlareportError):
    """A budget that cannot be understood."""

    def __init__(self, budget: str, near: Iterable[str] = ()) -> None:
        names = ", ".join(_FIGURES)
        meant = "".join(f" Did you mean `{name}`?" for name in near)
        super().__init__(
            f"{budget!r} is no budget.{meant} Write `FIGURE > LIMIT`, `FIGURE[MODULE] > +5%` or "
            f"`new:OPCODE`; a figure is one of {names}."
        )


class Budget(Struct, frozen=True):
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
        if new["opcode"] not in all_entries():
            raise BudgetError(text, _near(new["opcode"], all_entries(), "new:{}"))
        return Budget(text, new["module"], (), new["opcode"], 0, grown=False, share=False)
    match = _BUDGET.fullmatch(text.strip())
    if match is None:
        raise BudgetError(text)
    if match["figure"] not in _FIGURES:
        raise BudgetError(text, _near(match["figure"], _FIGURES, "{}"))
    share = match["unit"] == "%"
    if share and not match["more"]:
        raise BudgetError(text)
    return Budget(
        text=text,
        module=match["module"],
        figures=_FIGURES[match["figure"]],
        opcode="",
        limit=float(match["number"]) * (0.01 if share else units.unit_scale(match["unit"] or "")),
        grown=bool(match["more"]),
        share=share,
    )


def _near(word: str, names: Iterable[str], form: str) -> Iterator[str]:
    """Yield the name that a word most likely was meant to be, as it would be written."""
    plain = {name.replace("-", "").replace("_", ""): name for name in names}
    for match in get_close_matches(word.replace("-", "").replace("_", ""), plain, n=1):
        yield form.format(plain[match])


class Checked(Struct, frozen=True):
    """The results of checking budgets in a comparison."""

    breaches: tuple[BreachRecord, ...]
    unchecked: tuple[UncheckedRecord, ...]


def check(view: ComparisonRecord, budgets: Iterable[Budget]) -> Checked:
    """Hold a comparison against budgets, module by module.

    Raises UnknownNameError where a budget names a module that neither side has.
    """
    breaches: list[BreachRecord] = []
    unchecked: list[UncheckedRecord] = []
    for budget in budgets:
        members = _members(view, budget)
        breaches += [breach for member in members for breach in _breaches(budget, member)]
        unchecked += [UncheckedRecord(budget.text, reason) for reason in _gaps(budget, members)]
    return Checked(tuple(breaches), tuple(unchecked))


def _members(view: ComparisonRecord, budget: Budget) -> list[ComparedRecord]:
    """Return the modules that a budget is for."""
    members = [module for module in view.modules if _meant(budget, module)]
    if members or budget.module in (None, "main"):
        return members
    names = dict.fromkeys(
        name for module in view.modules for name in (module.name, _function(module))
    )
    near = get_close_matches(str(budget.module), names, n=3, cutoff=0.4)
    raise UnknownNameError(f"No module of the base or head is called {budget.module!r}", near)


def _meant(budget: Budget, compared: ComparedRecord) -> bool:
    if budget.module == "main":
        return compared.main
    names = (compared.name, _function(compared), compared.head, compared.base)
    return budget.module is None or budget.module in names


def _function(compared: ComparedRecord) -> str:
    """Return the function that a module is of: `train_step` of `jit_train_step`."""
    return explain_module(compared.name).display


def _gaps(budget: Budget, members: Iterable[ComparedRecord]) -> Iterator[str]:
    """Yield why a budget could not be checked, once for all modules or for each with its own.

    A module that the base lacks is no gap for a budget on growth, and one that both lack the
    figure of is none where another module has it.
    """
    reasons = [(member, _gap(budget, member)) for member in members]
    if not reasons:
        yield "There is no main program." if budget.module else "There is no module."
    elif all(reason for _, reason in reasons):
        yield reasons[0][1]
    else:
        yield from (reason for member, reason in reasons if reason and _was_known(budget, member))


def _gap(budget: Budget, compared: ComparedRecord) -> str:
    """Return why a budget cannot be checked for a module; empty where it can."""
    if compared.head is None:
        return f"The head has no module {compared.name}."
    if compared.base and len(compared.not_optimized) == 1:
        return (
            f"The {compared.not_optimized[0]} holds no optimized module of {compared.name}: its "
            "dump was cut off, or a compilation cache answered."
        )
    if budget.opcode:
        sure = not compared.bare and bool(compared.counts)
        sure &= all(None not in counts for _, *counts in compared.counts)
        return "" if sure else f"The operations of {compared.name} are not known on both sides."
    if _quantity(budget, compared) is None:
        side = "both sides" if budget.grown else "the head"
        return f"{budget.figures[0]} of {compared.name} is not known on {side}.{_cached(compared)}"
    return ""


def _cached(compared: ComparedRecord) -> str:
    """Return a note on dumps of cached programs, if this may be one; else empty."""
    if not compared.only_optimized:
        return ""
    return (
        f" The {compared.only_optimized[0]} holds nothing but the optimized module, as where a "
        "compilation cache answered."
    )


def _was_known(budget: Budget, compared: ComparedRecord) -> bool:
    """Return whether a figure that the head lacks is known in the base."""
    compared_names = {figure.name for figure in compared.figures if figure.base is not None}
    return bool(compared.base and compared.head) and (
        bool(budget.opcode) or not compared_names.isdisjoint(budget.figures)
    )


def _breaches(budget: Budget, compared: ComparedRecord) -> Iterator[BreachRecord]:
    if compared.head is None or _gap(budget, compared):
        return
    if budget.opcode:
        base, head = _counts(budget, compared)
        if base == 0 < head:
            message = f"{compared.name} has {head:,} {budget.opcode}, which the base had not."
            yield BreachRecord(budget.text, compared.name, message)
        return
    quantity = _quantity(budget, compared)
    if quantity is not None and _breaks(budget, quantity):
        was = "unknown" if quantity.base is None else f"{quantity.base:,}"
        change = "" if quantity.change is None else f" ({units.signed_share(quantity.change)})"
        message = (
            f"{quantity.name} of {compared.name} went from {was} to {quantity.head:,}{change}."
        )
        yield BreachRecord(budget.text, compared.name, message)


def _counts(budget: Budget, compared: ComparedRecord) -> tuple[int, int]:
    """Return how often the base and the head have the operation of a budget.

    One that names a form, such as `all-reduce-start`, is held against that opcode alone.
    """
    exact = operation_of(budget.opcode) != budget.opcode
    for name, base, head in compared.opcodes if exact else compared.counts:
        if name == budget.opcode:
            return base or 0, head or 0
    return 0, 0


def _quantity(budget: Budget, compared: ComparedRecord) -> Quantity | None:
    """Return the first of the figures that is known on all sides that the budget needs."""
    by_name = compared.by_name
    for name in budget.figures:
        quantity = by_name.get(name)
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
