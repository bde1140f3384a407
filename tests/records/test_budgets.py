"""Budgets say what may grow; what they cannot say is refused, what cannot be checked is told."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.compare.comparison import compare_figure
from xlareport.analysis.compare.verdict import NO_VERDICT
from xlareport.records.budgets import BudgetError, check, parse_budget
from xlareport.records.compare import ComparedRecord, ComparisonRecord, DivergenceRecord
from xlareport.records.report import DumpRecord, GeneratorRecord
from xlareport.runtime.errors import UnknownNameError


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
        opcodes=(
            ("all-to-all", 0, 2),
            ("add", 4, 5),
            ("all-reduce-start", 0, 2),
            ("all-gather-start", 0, 1),
        ),
        collectives=(),
        options=(),
        ports=(),
        only_base=(),
        only_head=(),
        contrasts=(),
        counts=(("all-to-all", 0, 2), ("add", 4, 5), ("all-reduce", 1, 2), ("all-gather", 0, 1)),
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
    return [breach.module for breach in check(view(STEP, EVAL), [parse_budget(budget)]).breaches]


@pytest.mark.parametrize(
    ("budget", "modules"),
    [
        ("instructions > +10%", ["jit_step"]),
        ("instructions > +11%", []),
        ("instructions[main] > +10", ["jit_step"]),
        ("instructions[main]>+11", []),
        ("instructions[jit_eval] > +0%", []),
        ("instructions[module_2.jit_step] > 110", ["jit_step"]),
        ("instructions[step] > 110", ["jit_step"]),
        ("new:all-to-all[eval]", ["jit_eval"]),
        ("instructions > 9", ["jit_step", "jit_eval"]),
        ("peak_bytes > +4.9%", ["jit_step"]),
        ("peak_bytes > +5%", []),
        ("peak_bytes > 1 kB", ["jit_step", "jit_eval"]),
        ("peak_bytes > 2GiB", ["jit_eval"]),
        ("peak_bytes > 3GB", ["jit_eval"]),
        ("new:all-to-all", ["jit_step", "jit_eval"]),
        ("new:all-to-all[main]", ["jit_step"]),
        ("new:add", []),
        ("new:all-gather[main]", ["jit_step"]),
        ("new:all-gather-start[main]", ["jit_step"]),
        ("new:all-reduce", []),
        ("new:all-reduce-start[main]", ["jit_step"]),
    ],
)
def test_what_breaks_a_budget(budget: str, modules: list[str]) -> None:
    assert broken(budget) == modules


def test_a_breach_names_module_and_figures() -> None:
    breach = check(view(STEP), [parse_budget("instructions > +10%")]).breaches[0]

    assert breach.sentence == "instructions of jit_step went from 100 to 111 (+11.0%)."


def gaps(view: ComparisonRecord, budget: str) -> list[str]:
    checked = check(view, [parse_budget(budget)])
    assert checked.breaches == ()
    return [gap.reason for gap in checked.unchecked]


def test_what_no_module_has_is_not_checked() -> None:
    assert gaps(view(STEP), "flops > +1%") == ["flops of jit_step is not known on both sides."]
    assert gaps(view(STEP), "temp_bytes > 5") == [
        "temp_bytes of jit_step is not known on the head."
    ]


def test_what_one_module_lost_is_not_checked() -> None:
    lost = compared("jit_eval", {"flops": (7, None)})
    kept = compared("jit_step", {"flops": (7, 7)})

    assert gaps(view(kept, lost), "flops > +1%") == [
        "flops of jit_eval is not known on both sides."
    ]


def test_what_a_module_never_had_is_no_gap_where_another_has_it() -> None:
    assert gaps(view(STEP, compared("jit_eval", {})), "instructions > +50%") == []


def test_a_module_of_the_base_alone_is_not_checked_when_named() -> None:
    gone = replace(EVAL, head=None)

    assert gaps(view(STEP, gone), "instructions > +50%") == []
    assert gaps(view(STEP, gone), "instructions[jit_eval] > +50%") == [
        "The head has no module jit_eval."
    ]


@pytest.mark.parametrize("budget", ["instructions[main] > +1%", "new:all-to-all[main]"])
def test_a_dump_without_the_end_of_the_compilation_is_not_checked(budget: str) -> None:
    (reason,) = gaps(view(replace(STEP, not_optimized=("head",))), budget)

    assert "The head holds no optimized module of jit_step" in reason


def test_a_cached_program_is_named_where_its_memory_is_not_known() -> None:
    lost = compared("jit_step", {"occupied_peak_bytes": (7, None)}, main=True)
    (reason,) = gaps(view(replace(lost, only_optimized=("head",))), "peak_bytes[main] > +5%")

    assert reason == (
        "occupied_peak_bytes of jit_step is not known on both sides. The head holds nothing but "
        "the optimized module, as where a compilation cache answered."
    )


@pytest.mark.parametrize(
    "changes", [{"bare": True}, {"counts": ()}, {"counts": (("add", 1, None),)}]
)
def test_operations_that_are_not_known_are_not_checked(changes: dict[str, object]) -> None:
    unknown = replace(STEP, **changes)  # type: ignore[arg-type]

    assert gaps(view(unknown), "new:all-to-all") == [
        "The operations of jit_step are not known on both sides."
    ]


def test_without_a_main_program_nothing_is_checked() -> None:
    assert gaps(view(EVAL), "instructions[main] > +1%") == ["There is no main program."]
    assert gaps(view(), "instructions > +1%") == ["There is no module."]


def test_a_module_that_no_side_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="'jit_stp'; it could be:\n  jit_step"):
        check(view(STEP, EVAL), [parse_budget("instructions[jit_stp] > +1%")])
    with pytest.raises(UnknownNameError, match="'stepp'; it could be:\n  step"):
        check(view(STEP, EVAL), [parse_budget("instructions[stepp] > +1%")])


@pytest.mark.parametrize(
    "text",
    ["", "speed > +5%", "instructions", "instructions > 5%", "instructions < 4", "new:", "new:A b"],
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(BudgetError, match="is no budget"):
        parse_budget(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("new:alltoall", "new:all-to-all"),
        ("new:all_reduce", None),
        ("new:all-reduced", "new:all-reduce"),
        ("instruction > +5%", "instructions"),
        ("peakbytes > +5%", None),
        ("peek_bytes > +5%", "peak_bytes"),
    ],
)
def test_a_typo_is_refused_with_what_it_may_mean(text: str, meant: str | None) -> None:
    with pytest.raises(BudgetError) as refused:
        parse_budget(text)

    assert meant is None or f"Did you mean `{meant}`?" in str(refused.value)
