"""The first page of a module: what it says of a real module, and of one that was not read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named

from xlareport.analysis.module import ModuleAnalysis
from xlareport.pages.module.head import ModuleHead, module_head
from xlareport.pages.module.page import duplicate_page, module_page, module_tables
from xlareport.records.report import ModuleRecord
from xlareport.report import BuildOptions, read_report
from xlareport.runtime.errors import Problem

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def analysis(unpacked: Unpack) -> ModuleAnalysis:
    return analyze_named(unpacked("jax-cpu-train"), "jit_train_step").analysis


@pytest.fixture(scope="module")
def record(unpacked: Unpack) -> ModuleRecord:
    report = read_report(unpacked("jax-cpu-train"), BuildOptions())
    return next(module for module in report.modules if module.name == "jit_train_step")


def head_of(record: ModuleRecord) -> ModuleHead:
    return module_head(record, [], (None, None))


def test_a_module_leads_to_its_steps_and_names_its_heaviest(
    record: ModuleRecord, analysis: ModuleAnalysis
) -> None:
    page = module_page(record, analysis, head_of(record))
    assert (page.head.name, page.has_history) == ("jit_train_step", True)
    assert page.steps_address == f"../m/{record.slug}.html?steps"
    assert page.passes_address == f"../m/{record.slug}.html?passes"
    assert page.texts_address == f"../m/{record.slug}.html?texts"
    assert 0 < len(page.heaviest) <= 5
    assert page.heaviest_words.startswith("Ranked by roofline time")
    assert page.time_heading == "Roofline"
    assert page.chips[0] == "CPU"
    assert (page.problems, page.more_problems) == ((), 0)


def test_the_steps_that_changed_most_come_first(
    record: ModuleRecord, analysis: ModuleAnalysis
) -> None:
    assert analysis.overview is not None
    page = module_page(record, analysis, head_of(record))
    read = [stage for stage in analysis.summary.stages if stage.instructions is not None]
    weights = dict(zip([stage.key for stage in read], analysis.overview.weights, strict=True))
    shown = [weights[snapshot.key] for _, snapshot, _ in page.top_steps]
    assert len(shown) == 3
    assert shown == sorted(weights.values(), reverse=True)[:3]
    assert all(step.changed for _, _, step in page.top_steps)


def test_without_costs_and_steps_the_page_says_why_nothing_is_there(
    record: ModuleRecord, analysis: ModuleAnalysis
) -> None:
    bare = replace(record, stages=(), final=replace(record.final, instructions=None))
    summary = replace(analysis.summary, stages=())
    nothing = replace(analysis, summary=summary, cost=None, code=None, overview=None)
    page = module_page(bare, nothing, head_of(bare))
    assert (page.steps_address, page.passes_address, page.top_steps) == (None, None, ())
    assert page.no_steps == "No steps: no snapshot could be read."
    assert page.no_heaviest == "Nothing to rank: no snapshot of this module could be read."
    assert (page.heaviest, page.fusion) == ((), "")
    assert page.code_address is None
    assert page.code_words.startswith("No kernels of this module in the dump")


def test_problems_are_listed_up_to_a_limit(record: ModuleRecord, analysis: ModuleAnalysis) -> None:
    problems = [Problem(f"{number}.txt", number or None, "unread") for number in range(1000, 1005)]
    problems[0] = replace(problems[0], line=None)
    changed = replace(analysis, summary=replace(analysis.summary, problems=tuple(problems)))
    page = module_page(record, changed, head_of(record))
    assert page.problems == (
        "1000.txt: unread",
        "1001.txt, line 1,001: unread",
        "1002.txt, line 1,002: unread",
    )
    assert page.more_problems == 2


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (None, "ran in the profile, 2.5 ms in total"),
        (3, "ran 3 times in the profile, 2.5 ms in total"),
    ],
)
def test_the_chips_have_what_a_profiler_saw(
    runs: int | None, words: str, record: ModuleRecord, analysis: ModuleAnalysis
) -> None:
    profiled = replace(record, runs=runs, run_microseconds=2500.0, id=7)
    page = module_page(profiled, analysis, head_of(profiled))
    assert page.chips[-2:] == ("module id 7", words)


def test_a_backend_that_is_a_guess_says_so(record: ModuleRecord, analysis: ModuleAnalysis) -> None:
    guessed = replace(record, backend_reason="by its opcodes")
    assert module_page(guessed, analysis, head_of(guessed)).chips[0] == "CPU (guessed)"


def test_arguments_are_a_table_where_there_are_many(analysis: ModuleAnalysis) -> None:
    tables = module_tables(analysis.summary)
    few = replace(analysis.summary.signature, arguments=(), results=())
    assert module_tables(replace(analysis.summary, signature=few)) == {}
    assert set(tables) <= {"arguments"}


@pytest.mark.parametrize(
    ("words", "is_identical"),
    [("are byte-identical", True), ("differ from those of that rank in names", False)],
)
def test_a_module_that_repeats_another_leads_to_it(
    words: str, record: ModuleRecord, analysis: ModuleAnalysis, *, is_identical: bool
) -> None:
    page = duplicate_page(
        record,
        analysis.summary.files,
        head_of(record),
        replace(analysis, is_identical=is_identical),
    )
    assert words in page.sameness
    assert page.original_key == analysis.summary.files.key
    assert page.original_address == f"../m/{analysis.summary.files.slug}.html"
    assert "files" in page.tables
