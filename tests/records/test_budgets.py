"""Budgets say what may grow; what they cannot say is refused, what cannot be checked is told."""

import pytest

from xlareport.analysis.compare.comparison import compare_figure
from xlareport.analysis.compare.verdict import NO_VERDICT
from xlareport.records.budgets import BudgetError, check, parse_budget
from xlareport.records.compare import ComparedRecord, ComparisonRecord, DivergenceRecord
from xlareport.records.report import DumpRecord, GeneratorRecord


def compared(
    name: str, figures: dict[str, tuple[int | None, int | None]], *, main: bool = False
) -> ComparedRecord:
    quantities = [compare_figure(key, base, head) for key, (base, head) in figures.items()]
    return ComparedRecord(
        name=name,
        slug=name,
        base=f"module_1.{name}",
        head=f"module_2.{name}",
        main=main,
        paired="same name",
        grade="exact",
        bare=False,
        identical=False,
        same=False,
        divergence=DivergenceRecord("pass", "", None, None),
        figures=tuple(quantities),
        opcodes=(("all-to-all", 0, 2), ("add", 4, 5)),
        collectives=(),
        options=(),
        ports=(),
        only_base=(),
        only_head=(),
        contrasts=(),
    )


def view(*modules: ComparedRecord) -> ComparisonRecord:
    dump = DumpRecord("dump", 1, 1, (), ())
    maker = GeneratorRecord("xlareport", "0")
    return ComparisonRecord(
        1,
        maker,
        dump,
        dump,
        identical=False,
        verdict=NO_VERDICT,
        causes=(),
        modules=modules,
        breaches=(),
        problems=(),
    )


STEP = compared(
    "jit_step", {"instructions": (100, 111), "occupied_peak_bytes": (1000, 1050)}, main=True
)
EVAL = compared(
    "jit_eval", {"instructions": (10, 10), "allocated_bytes": (3_000_000_000, 3_000_000_001)}
)


def broken(budget: str) -> list[str]:
    return [one.module for one in check(view(STEP, EVAL), [parse_budget(budget)]).breaches]


@pytest.mark.parametrize(
    ("budget", "modules"),
    [
        ("instructions > +10%", ["jit_step"]),
        ("instructions > +11%", []),
        ("instructions[main] > +10", ["jit_step"]),
        ("instructions[main]>+11", []),
        ("instructions[jit_eval] > +0%", []),
        ("instructions[module_2.jit_step] > 110", ["jit_step"]),
        ("instructions > 9", ["jit_step", "jit_eval"]),
        ("peak_bytes > +4.9%", ["jit_step"]),
        ("peak_bytes > +5%", []),
        ("peak_bytes > 1 kB", ["jit_step", "jit_eval"]),
        ("peak_bytes > 2GiB", ["jit_eval"]),
        ("peak_bytes > 3GB", ["jit_eval"]),
        ("new:all-to-all", ["jit_step", "jit_eval"]),
        ("new:all-to-all[main]", ["jit_step"]),
        ("new:add", []),
    ],
)
def test_what_breaks_a_budget(budget: str, modules: list[str]) -> None:
    assert broken(budget) == modules


def test_a_breach_names_module_and_figures() -> None:
    breach = check(view(STEP), [parse_budget("instructions > +10%")]).breaches[0]

    assert breach.sentence == "instructions of jit_step went from 100 to 111 (+11.0%)."


def test_what_no_module_has_is_told() -> None:
    checked = check(view(STEP), [parse_budget("flops > +1%"), parse_budget("temp_bytes > 5")])

    assert checked.breaches == ()
    assert checked.unchecked == ("flops > +1%", "temp_bytes > 5")


@pytest.mark.parametrize(
    "text",
    ["", "speed > +5%", "instructions", "instructions > 5%", "instructions < 4", "new:", "new:A b"],
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(BudgetError, match="is no budget"):
        parse_budget(text)
